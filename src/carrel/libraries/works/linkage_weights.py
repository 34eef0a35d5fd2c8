"""The numbers of record linkage.

The weights are those of the facts sheet of pdf-reading (section 5). The labelled sets have too few
near misses to fit better ones (`python -m benchmarks.linkage.fit_weights` prints what they would
give, some with another sign). `make judge-linkage` measures, `HALF=held-out` one half of the works;
rules were made with all of them in view.
"""

from __future__ import annotations

TITLE_EQUAL = "equal"
TITLE_VERY_ALIKE = "very alike"
TITLE_ALIKE = "alike"
TITLE_BEGINS = "one begins with the other"
TITLE_OTHER = "other"

MIN_VERY_ALIKE = 0.95
MIN_ALIKE = 0.9

PEOPLE_ALL = "all"
PEOPLE_MOST = "most"
PEOPLE_SOME = "some"
PEOPLE_NONE = "none"
PEOPLE_UNKNOWN = "unknown"

MIN_SHARE_ALL = 0.8
MIN_SHARE_MOST = 0.5

WEIGHTS: dict[tuple[str, str], float] = {
    ("title", TITLE_EQUAL): 9.0,
    ("title", TITLE_VERY_ALIKE): 6.0,
    ("title", TITLE_ALIKE): 3.0,
    ("title", TITLE_BEGINS): 4.0,
    ("title", TITLE_OTHER): -20.0,
    ("people", PEOPLE_ALL): 6.0,
    ("people", PEOPLE_MOST): 3.0,
    ("people", PEOPLE_SOME): -2.0,
    ("people", PEOPLE_NONE): -6.0,
    ("people", PEOPLE_UNKNOWN): 0.0,
    ("year", "same"): 2.0,
    ("year", "1 apart"): 1.0,
    ("year", "2 apart"): 0.0,
    ("year", "further apart"): -4.0,
    ("year", "unknown"): 0.0,
    ("volume", "same"): 2.0,
    ("volume", "other"): -4.0,
    ("volume", "unknown"): 0.0,
    ("first page", "same"): 4.0,
    ("first page", "other"): -4.0,
    ("first page", "unknown"): 0.0,
    ("venue", "same"): 1.0,
    ("venue", "other"): 0.0,
    ("venue", "unknown"): 0.0,
}
# Joined from here on, listed for review from there on.
MIN_JOIN_SCORE = 12.0
MIN_REVIEW_SCORE = 8.0
# A beginning of a title that is a title of its own (the subtitle is left out elsewhere).
MIN_LETTERS_OF_BEGINNING = 20
# Authors on both sides that make up for a short title ("Deep learning", three authors).
MIN_PEOPLE_OF_SHORT_TITLE = 2
# More of them make up for an unknown year as well.
MIN_PEOPLE_WITHOUT_YEAR = 3
# Words and letters of a title that is enough where a text names nobody and an entry of a list does
# (chosen on PDFs and noisy .bib files of seeds 11 and 12 of `make judge-linkage`).
MIN_WORDS_OF_LONG_TITLE = 3
MIN_LETTERS_OF_LONG_TITLE = 18
# Words of a title that is enough where neither names anybody. Two lists must agree on venue and
# year as well: of 455 such Crossref records of the dump sample no two do, with four words 9 of 484.
MIN_WORDS_WITHOUT_PEOPLE = 5
# Years of one work in different lists (print, on line, preprint).
MAX_YEARS_APART = 2
# A work that is as like to two others that are not one is left to a person.
TIE_MARGIN = 1.5
# Blocks with more works are passed over: so many works have that title that it says nothing.
MAX_BLOCK_WORKS = 40
# Words in common of two titles below which the same identifier or label is not believed.
MIN_LIKENESS_FOR_LABEL = 0.5
MIN_LIKENESS_FOR_IDENTIFIER = 0.25
