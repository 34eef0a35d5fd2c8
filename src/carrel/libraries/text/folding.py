"""One fold for comparing and searching text, and one key for titles and names, in every room."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from carrel.libraries.text.words import split_words

# Accents of Latin, Greek and Cyrillic, points of Hebrew, Arabic and Syriac. Vowel signs of Indic
# scripts, Thai tone marks and the voicing marks of kana are letters to their readers and stay.
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]+"
)
# Letters that Unicode does not decompose, though readers do, and the signs people type for others.
_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "ı": "i", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
    | dict.fromkeys("‘’‛′", "'")
    | dict.fromkeys("‐‑‒–—―−", "-")
)


def fold_text(text: str) -> str:
    """The form in which texts are compared: no case, accents, width, kinds of dash or extra spaces.

    `Ørsted’s  Straße` becomes `orsted's strasse`. Folding twice changes nothing.
    """
    return " ".join((text.lower() if text.isascii() else _fold_letters(text)).split())


def fold_keeping_case(text: str) -> str:
    """Folded like `fold_text`, but with capitals as they are."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    folded = composed if composed.isascii() else "".join(map(_fold_character, composed))
    return " ".join(folded.split())


@lru_cache(4096)
def _fold_character(character: str) -> str:
    if character.isspace():
        return character
    folded = fold_text(character)
    return folded.upper() if character.isupper() else folded


def fold_in_place(text: str) -> str:
    """A text folded as far as every character keeps its position."""
    return text.lower() if text.isascii() else text.translate(_SAME_LENGTH)


def text_key(text: str) -> str:
    """The key under which two spellings are one title or name: folded letters and digits only.

    A text without any is its own key. Where signs matter (`C++`, `C#`), compare with `fold_text`.
    """
    folded = fold_text(text)
    return "".join(split_words(folded)) or folded


def _fold_letters(text: str) -> str:
    # A spacing acute is typed as an apostrophe, and NFKD would make a space of it.
    apart = unicodedata.normalize("NFKD", text.replace("´", "'")).casefold()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", apart))
    return unicodedata.normalize("NFKC", bare).translate(_LETTERS)


class _SameLengthTable(dict[int, int]):
    """A translation table that folds one character to exactly one, filled as characters are met."""

    def __missing__(self, code: int) -> int:
        folded = _fold_letters(chr(code))
        self[code] = ord(folded) if len(folded) == 1 else code
        return self[code]


_SAME_LENGTH = _SameLengthTable()
