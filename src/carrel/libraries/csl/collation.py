"""Comparing text as a reader would: no accents, case or punctuation; spaces, symbols, numbers,
letters in that order.
"""

import re
import unicodedata
from functools import lru_cache

_foreign = {
    "ß": "ss",
    "æ": "ae",
    "ø": "o",
    "đ": "d",
    "ł": "l",
    "œ": "oe",
    "ı": "i",
    "þ": "th",
    "ð": "d",
    "ħ": "h",
    "ŋ": "n",
}
_foreign_letter = re.compile("|".join(_foreign))
# Taken out first, so that what stands on both sides is one word.
_joined = re.compile(r"[^\w\s$¢£¤¥€+<=>|~^`]|_")
_chunks = re.compile(r"\d+|[^\W\d_]+|\s+|[$¢£¤¥€+<=>|~^`]")

SortText = tuple[tuple[int, int, str], ...]


# What stands behind this many characters decides no order that anybody looks at.
_longest_compared = 2_000


def sort_text(text: str) -> SortText:
    """A key for `sorted`; runs of digits go by their size."""
    return _sort_text(text[:_longest_compared])


@lru_cache(maxsize=16384)
def _sort_text(text: str) -> SortText:
    text = text.lower()
    if not text.isascii():
        spread = unicodedata.normalize(
            "NFKD", _foreign_letter.sub(lambda found: _foreign[found[0]], text)
        )
        text = "".join([letter for letter in spread if not unicodedata.combining(letter)])
    return tuple([_weight(chunk) for chunk in _chunks.findall(_joined.sub("", text))])


def _weight(chunk: str) -> tuple[int, int, str]:
    first = chunk[0]
    if first.isalpha():
        return (3, 0, chunk)
    if first.isdecimal():
        return (2, int(chunk[:400]), "")
    if first.isspace():
        return (0, 0, "")
    return (1, 0, first)
