"""Comparing text as a reader would: accents, case and punctuation do not count, and numbers go by their size."""

import re
import unicodedata
from functools import lru_cache

_foreign = {"ß": "ss", "æ": "ae", "ø": "o", "đ": "d", "ł": "l", "œ": "oe", "ı": "i", "þ": "th", "ð": "d", "ħ": "h", "ŋ": "n"}
_foreign_letter = re.compile("|".join(_foreign))
_signs = re.compile(r"[^\w]|_")
_chunks = re.compile(r"\d+|[^\W\d_]+")

SortText = tuple[tuple[int, int, str], ...]


@lru_cache(maxsize=16384)
def sort_text(text: str) -> SortText:
    """A key for `sorted`: runs of digits as numbers, before letters."""
    text = text.lower()
    if not text.isascii():
        spread = unicodedata.normalize("NFKD", _foreign_letter.sub(lambda found: _foreign[found[0]], text))
        text = "".join([letter for letter in spread if not unicodedata.combining(letter)])
    return tuple([_weight(chunk) for word in text.split() for chunk in _chunks.findall(_signs.sub("", word))])


def _weight(chunk: str) -> tuple[int, int, str]:
    return (0, int(chunk[:400]), "") if chunk[0].isdecimal() else (1, 0, chunk)
