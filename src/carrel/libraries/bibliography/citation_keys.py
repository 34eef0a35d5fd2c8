"""Citation keys made from a record, and kept apart from keys that are taken already."""

import re
import unicodedata
from collections.abc import Container

from anyascii import anyascii

MAX_KEY_LENGTH = 32
_NOT_IN_KEYS = re.compile(r"[^a-z0-9_]+")
_SPACES = re.compile(r"\s+")
_MARKUP = re.compile(r"<[^>]{1,200}>")
TITLE_WORDS_LEFT_OUT = frozenset({
    "a", "an", "the", "on", "of", "in", "and", "for", "to", "with", "der", "die", "das", "le", "la",
    "el",
})  # fmt: skip
_TITLE_WORDS_USED = 3


def transliterate(text: str) -> str:
    """Plain lower-case Latin for text in any script, so that no name is lost."""
    if text.isascii():
        return text.lower()
    composed = unicodedata.normalize("NFC", text)
    bare = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", composed)
        if not unicodedata.combining(letter)
    )
    return (bare if bare.isascii() else anyascii(composed)).lower()


def slug(text: str) -> str:
    """The letters, digits and underscores of a text that a key may have."""
    return _NOT_IN_KEYS.sub(
        "", _SPACES.sub("_", transliterate(_MARKUP.sub("", text)).strip())
    ).strip("_")


def make_key(family: str | None, year: int | None, title: str | None) -> str:
    """`family-year`, with `anon` and `nd` for what is missing, then words of the title if taken."""
    name = slug(family or "")
    parts = [name or "anon", str(year) if year is not None else "nd"]
    if not name or year is None:
        parts.append(_title_slug(title or ""))
    return "-".join(part for part in parts if part)[:MAX_KEY_LENGTH].rstrip("-_")


def make_paper_key(family: str | None, year: int | None, title: str | None) -> str:
    """`family-year-word`, with the first word of the title that says something."""
    word = _title_slug(title or "").split("_")[0]
    parts = [slug(family or "") or "anon", str(year) if year is not None else "nd", word]
    return "-".join(part for part in parts if part)[:MAX_KEY_LENGTH].rstrip("-_")


def _title_slug(title: str) -> str:
    words = [slug(word) for word in _MARKUP.sub("", title).split()]
    telling = [word for word in words if word and word not in TITLE_WORDS_LEFT_OUT]
    return "_".join(telling[:_TITLE_WORDS_USED])


def distinct_key(key: str, taken: Container[str], longest: int = MAX_KEY_LENGTH) -> str:
    """The key, with a, b, … z, aa, … behind it when taken; `taken` holds keys in lower case."""
    if key.lower() not in taken:
        return key
    number = 1
    while True:
        suffix = _suffix(number)
        candidate = key[: longest - len(suffix)] + suffix
        if candidate.lower() not in taken:
            return candidate
        number += 1


def _suffix(number: int) -> str:
    letters = ""
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("a") + place) + letters
    return letters
