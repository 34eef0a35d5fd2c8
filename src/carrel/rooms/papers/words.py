"""How text becomes words: any script, accents folded, CJK one character at a time, as the snapshots
of others have it.
"""

from __future__ import annotations

import re
import unicodedata

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"

# Vowel signs and accents that stand behind a letter and belong to its word.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0970-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc"
    "\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0"
)
_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}](?:[^\W_{CJK}]|[{_MARKS}])*")
_CJK_CHARACTER = re.compile(rf"[{CJK}]")
_SPACE_INSIDE_CJK = re.compile(
    rf"(?<=[{CJK}，。、；：？！（）《》「」]) +(?=[{CJK}，。、；：？！（）《》「」])"
)
_COMBINING = re.compile("[\u0300-\u036f]+")

# Letters that Unicode does not take apart, though readers do.
_LETTERS = {
    "ø": "o",
    "đ": "d",
    "ł": "l",
    "ı": "i",
    "ħ": "h",
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "ð": "d",
}
_LETTER_TABLE = str.maketrans(_LETTERS)

_STOP_WORDS = """
a about above after again against all also although am an and any are as at be because been before
being below between both
but by can could did do does doing down during each few for from further had has have having he her
here hers him his how i
if in into is it its itself just may me might more most must my no nor not now of off on once only
or other our ours out over
own same shall she should so some such than that the their theirs them then there these they this
those through to too under
until up upon us very was we were what when where which while who whom whose why will with within
without would you your
yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def words(text: str) -> list[str]:
    """The words of a text as they stand in it, each CJK character one of them."""
    return _WORD.findall(text)


def next_word(text: str, start: int) -> re.Match[str] | None:
    """The first word at or after a place."""
    return _WORD.search(text, start)


def word_at(text: str, start: int) -> re.Match[str] | None:
    """The rest of a word from a place in it."""
    return _WORD.match(text, start)


def is_inside_word(text: str, place: int) -> bool:
    """Whether the word at a place has begun before it. CJK characters are words of their own."""
    before = text[place - 1]
    return before.isalnum() and not is_cjk(before) and not is_cjk(text[place])


def is_cjk(word: str) -> bool:
    """Whether a word begins with a CJK character."""
    return word[0] >= "\u3040" and _CJK_CHARACTER.match(word) is not None


def has_cjk(text: str) -> bool:
    return _CJK_CHARACTER.search(text) is not None


def fold(text: str) -> str:
    """Case, accents and width taken away: what two spellings of one word have in common."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFKC", _COMBINING.sub("", apart)).translate(_LETTER_TABLE)


def key(text: str) -> str:
    """A text without case, accents, punctuation and spaces, to compare whole titles and values."""
    return "".join(words(fold(text)))


def split_cjk(text: str) -> str:
    """CJK characters set apart by spaces, which is how the snapshots index them."""
    return " ".join(_CJK_CHARACTER.sub(lambda found: f" {found.group()} ", text).split())


def join_cjk(text: str) -> str:
    """The spaces that indexing put between CJK characters taken out again."""
    return _SPACE_INSIDE_CJK.sub("", text)


class _SameLength(dict[int, int]):
    """A translation table that folds each character to exactly one, so that positions stay true."""

    def __missing__(self, code: int) -> int:
        folded = fold(chr(code))
        folded_code = ord(folded) if len(folded) == 1 else code
        self[code] = folded_code
        return folded_code


_SAME_LENGTH = _SameLength()


def fold_in_place(text: str) -> str:
    """Folded as far as every character keeps its position."""
    return text.lower() if text.isascii() else text.translate(_SAME_LENGTH)
