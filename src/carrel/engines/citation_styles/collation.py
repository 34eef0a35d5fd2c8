"""Comparing text as a reader would: accents and case only decide between words that are otherwise alike."""

import re
import unicodedata
from functools import lru_cache

_order = "_-–—,;:!?.'‘’\"“”()[]{}@*/\\&#%`^+<=>|~$"
_rank = {sign: index for index, sign in enumerate(_order)}
_foreign = {"ß": "ss", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ł": "l", "Ł": "L", "œ": "oe", "Œ": "OE", "ı": "i", "þ": "th", "Þ": "TH", "ð": "d"}  # fmt: skip
_leading = re.compile(r"^[\[\]'\"‘’“”]+")

SortText = tuple[tuple[tuple[int, int], ...], str, str]


@lru_cache(maxsize=16384)
def sort_text(text: str) -> SortText:
    text = _leading.sub("", text)
    if text.isascii():
        bare = text
        marks = ""
    else:
        spread = unicodedata.normalize("NFKD", "".join(_foreign.get(letter, letter) for letter in text))
        bare = "".join(letter for letter in spread if not unicodedata.combining(letter))
        marks = "".join(letter for letter in spread if unicodedata.combining(letter))
    return tuple([_weight(letter) for letter in bare.lower()]), marks, bare.swapcase()


def _weight(letter: str) -> tuple[int, int]:
    if letter.isalpha():
        return (4, ord(letter))
    if letter.isdigit():
        return (3, ord(letter))
    if letter.isspace():
        return (0, 0)
    return (1, _rank[letter]) if letter in _rank else (2, ord(letter))
