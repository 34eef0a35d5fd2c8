"""Words of any script, CJK one character at a time, as the snapshots of other tools index them."""

from __future__ import annotations

import re
from dataclasses import dataclass

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"

# Vowel signs and accents that stand behind a letter and belong to its word.
WORD_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963"
    "\u0970-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84"
    "\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0"
)
_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}](?:[^\W_{CJK}]|[{WORD_MARKS}])*")
_CJK_CHARACTER = re.compile(rf"[{CJK}]")
_CJK_OR_SIGN = f"[{CJK}，。、；：？！（）《》「」]"
_SPACE_INSIDE_CJK = re.compile(rf"(?<={_CJK_OR_SIGN}) +(?={_CJK_OR_SIGN})")

_STOP_WORDS = """
a about above after again against all also although am an and any are as at be because been before
being below between both but by can could did do does doing down during each few for from further
had has have having he her here hers him his how i if in into is it its itself just may me might
more most must my no nor not now of off on once only or other our ours out over own same shall she
should so some such than that the their theirs them then there these they this those through to too
under until up upon us very was we were what when where which while who whom whose why will with
within without would you your yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class Phrase:
    """Neighbouring words in this order, or a single word; `is_exact` rules out stemming."""

    words: tuple[str, ...]
    is_prefix: bool = False
    in_title: bool = False
    is_exact: bool = False


def split_words(text: str) -> list[str]:
    """The words of a text as written, each CJK character one of them."""
    return _WORD.findall(text)


def find_word(text: str, start: int) -> re.Match[str] | None:
    """The first word at or after a position."""
    return _WORD.search(text, start)


def match_word(text: str, start: int) -> re.Match[str] | None:
    """The rest of a word from a position in it."""
    return _WORD.match(text, start)


def is_inside_word(text: str, position: int) -> bool:
    """Whether the word at a position began before it; each CJK character is a word of its own."""
    before = text[position - 1]
    return before.isalnum() and not is_cjk(before) and not is_cjk(text[position])


def is_cjk(word: str) -> bool:
    """Whether a word begins with a CJK character."""
    return word[0] >= "\u3040" and _CJK_CHARACTER.match(word) is not None


def has_cjk(text: str) -> bool:
    return _CJK_CHARACTER.search(text) is not None


def split_cjk(text: str) -> str:
    """A text with spaces around each CJK character, as snapshots index it."""
    return " ".join(_CJK_CHARACTER.sub(lambda found: f" {found.group()} ", text).split())


def join_cjk(text: str) -> str:
    """A text without the spaces that indexing put between CJK characters."""
    return _SPACE_INSIDE_CJK.sub("", text)
