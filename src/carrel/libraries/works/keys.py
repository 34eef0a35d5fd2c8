"""Keys under which two descriptions of a work meet: identifiers, and title with year and person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrel.libraries.identifiers import ArxivId, Doi, Pmid, identifier_keys, parse_or_none
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.scripts import UNSPACED
from carrel.libraries.text.words import split_words
from carrel.libraries.works.cited_works import CitedWork

# Facts sheet of issue 16, section 6: the first 40 letters, year and first author found 172 of 174
# references of 25 JATS articles and none wrongly.
TITLE_KEY_LETTERS = 40
# Section 5: shorter titles (Editorial, Index) name many works. Han and kana say more per letter.
MIN_TITLE_LETTERS = 16
MIN_UNSPACED_LETTERS = 6
# What a title must have to name a work without its year, as "Introduction to statistics" does not.
# Caution, not fitted: of the title keys of 19,442 eLife records 15 name two works, all longer.
TELLING_TITLE_LETTERS = 25
TELLING_UNSPACED_LETTERS = 10
# Longer than any title or name; what stands behind is not looked at.
_LONGEST_TITLE = 2_000
_LONGEST_NAME = 300
_UNSPACED = re.compile(f"[{UNSPACED}]")
_NUMERAL = re.compile(r"[0-9]+|i{2,3}|iv|vi{0,3}|ix|xi{0,3}")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,40}>")
_INITIALS = re.compile(r"(?:[^\W\d_]\.?-?){1,4}")
_PARTICLES = frozenset(
    re.findall(
        r"\w+",
        "von van der den de del della di da do dos das du la le les el al bin ibn ben ter ten zu "
        "zur zum af av und y e st",
    )
)
_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "phd", "md", "esq"})


@dataclass(frozen=True, slots=True)
class WorkKeys:
    """`identifiers` are `doi:…`, `arxiv:…`, `pmid:…` and `openalex:…`: one in common is enough.

    `title` in common counts only where the years are at most one apart and `person` (the folded
    last part of the first author's family name) is the same; None where the title is too short.
    """

    identifiers: tuple[str, ...] = ()
    title: str | None = None
    year: int | None = None
    person: str | None = None


def work_keys(cited: CitedWork) -> WorkKeys:
    """The keys of an entry of a reference list."""
    return make_work_keys(
        title=cited.title,
        authors=cited.authors,
        year=cited.year,
        doi=cited.doi,
        arxiv_id=cited.arxiv_id,
        pmid=cited.pmid,
        openalex_id=cited.openalex_id,
    )


def make_work_keys(
    *,
    title: str | None = None,
    authors: Sequence[str] = (),
    year: int | None = None,
    doi: str | None = None,
    arxiv_id: str | None = None,
    pmid: str | None = None,
    openalex_id: str | None = None,
) -> WorkKeys:
    """The keys of a work; what is no valid identifier gives no key."""
    return WorkKeys(
        tuple(dict.fromkeys(_identifier_keys(doi, arxiv_id, pmid, openalex_id))),
        title_key(title) if title else None,
        year,
        family_key(authors[0]) if authors else None,
    )


def _identifier_keys(
    doi: str | None, arxiv_id: str | None, pmid: str | None, openalex_id: str | None
) -> Iterable[str]:
    identifiers = (
        parse_or_none(Doi, doi),
        parse_or_none(ArxivId, arxiv_id),
        parse_or_none(Pmid, pmid),
    )
    for identifier in identifiers:
        if identifier is not None:
            yield from identifier_keys(identifier)
    if openalex_id:
        yield f"openalex:{openalex_id.lower()}"


def title_key(title: str) -> str | None:
    """The first letters of a title, squashed, and the numerals behind them; None if too short.

    The numerals keep "… Part I" and "… Part II" apart.
    """
    words = split_words(fold_text(_MARKUP.sub("", title[:_LONGEST_TITLE])))
    squashed = "".join(words)
    is_unspaced = _UNSPACED.search(squashed) is not None
    if len(squashed) < (MIN_UNSPACED_LETTERS if is_unspaced else MIN_TITLE_LETTERS):
        return None
    place = 0
    numerals = []
    for word in words:
        place += len(word)
        if place > TITLE_KEY_LETTERS and _NUMERAL.fullmatch(word):
            numerals.append(word)
    return "#".join([squashed[:TITLE_KEY_LETTERS], *numerals])


def is_telling_title(key: str) -> bool:
    """Whether a title key is long enough to name a work without its year."""
    letters = key.partition("#")[0]
    is_unspaced = _UNSPACED.search(letters) is not None
    return len(letters) >= (TELLING_UNSPACED_LETTERS if is_unspaced else TELLING_TITLE_LETTERS)


def family_key(name: str) -> str | None:
    """The last part of a family name, folded: `berg` for "van den Berg, P." and "P van den Berg".

    None for a text without letters.
    """
    name = name[:_LONGEST_NAME].strip().rstrip(",;")
    family, comma, _ = name.partition(",")
    words = _split_name(family)
    if not comma:
        words = _family_words(words)
    words = [word for word in words if fold_text(word).strip(".") not in _SUFFIXES] or words
    for word in reversed(words):
        key = "".join(split_words(fold_text(word)))
        if key and key not in _PARTICLES:
            return key
    return "".join(split_words(fold_text(family))) or None


def _split_name(text: str) -> list[str]:
    return text.replace("\u00a0", " ").replace("~", " ").split()


def _family_words(words: list[str]) -> list[str]:
    """The words of a name without its initials, where they stand behind the family name."""
    end = len(words)
    while end > 1 and _is_initials(words[end - 1]):
        end -= 1
    return words[:end]


def _is_initials(word: str) -> bool:
    """`J.`, `JA`, `J.-P.`: capitals only, at most four."""
    return (
        word.isupper()
        and _INITIALS.fullmatch(word) is not None
        and _UNSPACED.search(word) is None
        and ("." in word or len(word) <= 3)
    )
