"""What the words of a phrase tell it cannot be: adjectives, people, places, meetings, symbols.

Such phrases are neither ends nor bridges, in whatever field. What a person types is not judged.
"""

import lzma
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from carrel.libraries.discovery.concepts.words import (
    NAMES,
    NO_TERM_ALONE,
    PAPER_AND_MEETING_HEADS,
    PEOPLE,
    PLACES,
    UNITS,
)

_LISTS = Path(__file__).parent / "data" / "word_kinds.txt.xz"
# `2016The` and `2005a`: a year with what a lost space or a citation added; `2009` alone is a date.
_YEAR = re.compile(r"(1[89]|20)\d\d[a-z]*|[a-z]{3,}(1[89]|20)\d\d|\d{2,}(st|nd|rd|th|[a-z]{4,})")
_LONGEST_SYMBOL = 2
_BODY_OF = ("department of ", "institute of ", "university of ", "ministry of ", "faculty of ")


@cache
def word_kinds() -> Mapping[str, frozenset[str]]:
    """Words that are no nouns, people, places and names; `benchmarks/word_kinds.py` makes them."""
    lines = lzma.decompress(_LISTS.read_bytes()).decode("ascii").splitlines()
    return {
        name: frozenset(words.split(",")) for name, words in (line.split("\t") for line in lines)
    }


@lru_cache(maxsize=200_000)
def names_no_subject(key: str, *, is_short_form: bool = False) -> bool:
    """Whether a phrase names people, a place, a part of a paper, a meeting, a time or a symbol.

    A short form (`FRET`, `VIP`) is not read as the word it looks like.
    """
    if is_short_form and " " not in key:
        return key in UNITS or _YEAR.fullmatch(key) is not None
    words = key.lower().split(" ")
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    if key.startswith(_BODY_OF):
        return True
    head, kinds = words[-1], word_kinds()
    if head in PEOPLE or head in kinds["people"] or head in PAPER_AND_MEETING_HEADS:
        return True
    if head in PLACES or any(" ".join(words[-n:]) in kinds["places"] for n in range(1, 4)):
        return True
    if " ".join(words) in kinds["names"] or " ".join(words[-2:]) in NAMES:
        return True
    if len(words) == 1 and (head in NO_TERM_ALONE or head in UNITS or is_no_noun(head)):
        return True
    if any(_YEAR.fullmatch(word) for word in words):
        return True
    return " " in key and all(
        len(word) <= _LONGEST_SYMBOL or word in UNITS for word in key.split(" ")
    )


def is_no_noun(word: str) -> bool:
    """Whether a word is an adjective, adverb or verb that is hardly ever used as a noun."""
    return word in word_kinds()["no_nouns"]
