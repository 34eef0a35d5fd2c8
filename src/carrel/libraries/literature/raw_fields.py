"""Fields of decoded JSON as strangers send it: a value of another shape counts as absent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from carrel.libraries.identifiers import Identifier, identifier_value
from carrel.libraries.text.control_characters import remove_controls

_ISSN = re.compile(r"\d{4}-?\d{3}[\dxX]")
_MOST_DIGITS = 15


def text_of(value: object) -> str:
    """A string with single blanks and no control characters; a number as its digits."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        # A longer number is no field of a work, and Python refuses to write the longest ones.
        return str(value) if abs(value) < 10**_MOST_DIGITS else ""
    if not isinstance(value, str):
        return ""
    plain = " ".join(value.split())
    if plain.isascii() and plain.isprintable():
        return plain
    return " ".join(remove_controls(plain).split())


def map_of(value: object) -> Mapping[str, Any]:
    # `dict` first: the test for any mapping is slow, and dumps have millions.
    return value if isinstance(value, dict | Mapping) else {}


def list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def maps_of(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; nothing for any other value."""
    return (each for each in list_of(value) if isinstance(each, dict | Mapping))


def texts_of(value: object) -> tuple[str, ...]:
    """The texts of a list, or the one text that stands in its place, each once."""
    values = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(text for each in values if (text := text_of(each))))


def first_text(value: object) -> str:
    return next(iter(texts_of(value)), "")


def count_of(value: object) -> int | None:
    """A number of things that is not negative, also where it is written as text."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) <= _MOST_DIGITS:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 10**_MOST_DIGITS else None


def id_of(kind: type[Identifier], value: object) -> str | None:
    """The normal form of an identifier; None where the value is no identifier of this kind."""
    return identifier_value(kind, text_of(value))


def issns_of(value: object) -> tuple[str, ...]:
    """ISSNs with their hyphen, each once, in the order given."""
    found = (text.upper() for text in texts_of(value) if _ISSN.fullmatch(text))
    return tuple(dict.fromkeys(f"{text[:4]}-{text[-4:]}" for text in found))


def url_of(value: object) -> str:
    """An address of the web, else an empty text."""
    text = text_of(value)
    is_web = text.lower().startswith(("https://", "http://")) and " " not in text
    return text if is_web and len(text) > len("https://") else ""
