"""Answers made comparable: spaces, quotation marks, dashes, accents, numbers and their words."""

from __future__ import annotations

import re
import unicodedata

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
_QUOTES = dict.fromkeys(map(ord, "‘’ʼ"), "'") | dict.fromkeys(map(ord, "“”„«»"), '"')
_LETTERS = str.maketrans({"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae"})
_SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_SMALL += [
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
]
_SMALL += ["nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})+(?:\.\d+)?(?!\d)|(?<![\w.])-?\d+(?:[.,]\d+)?")
_MARKUP = re.compile(r"[*_`]+|</?[a-zA-Z]+>")


def tidy_text(text: str) -> str:
    """One kind of space, dash and quotation mark, without Markdown's emphasis or HTML tags."""
    plain = _MARKUP.sub("", text).translate(_DASHES).translate(_QUOTES)
    return " ".join(plain.split())


def fold_words(text: str) -> str:
    """Lower case without accents and punctuation, words separated by one space."""
    lowered = unicodedata.normalize("NFKD", tidy_text(text).lower().translate(_LETTERS))
    kept = "".join(letter for letter in lowered if not unicodedata.combining(letter))
    return " ".join(re.findall(r"\w+", kept))


def has_words(folded: str, wanted: str) -> bool:
    """Whether folded text has the words of `wanted` in a row."""
    return f" {fold_words(wanted)} " in f" {folded} "


def find_numbers(text: str) -> list[str]:
    """The numbers of a text in order, in one spelling: 1,850 and 1850.0 are 1850."""
    return [spell_number(found) for found in _NUMBER.findall(_words_to_digits(tidy_text(text)))]


def spell_number(text: str) -> str:
    """A number without thousands separators and idle zeros."""
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        text = text.replace(",", "")
    text = text.replace(",", ".")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _words_to_digits(text: str) -> str:
    values = {word: value for value, word in enumerate(_SMALL)}
    values |= {word: 10 * value for value, word in enumerate(_TENS, start=2)}
    pairs = "|".join(_TENS)

    def replace_pair(match: re.Match[str]) -> str:
        return str(values[match[1].lower()] + values[match[2].lower()])

    ones = "|".join(_SMALL[1:10])
    text = re.sub(rf"\b({pairs})[- ]({ones})\b", replace_pair, text, flags=re.IGNORECASE)
    names = "|".join(sorted(values, key=len, reverse=True))
    return re.sub(
        rf"\b({names})\b", lambda match: str(values[match[1].lower()]), text, flags=re.IGNORECASE
    )
