"""Which items a library file can hold: what is plain JSON of bounded depth in valid Unicode, under
a key that can be asked for.
"""

from __future__ import annotations

import math
import unicodedata
from typing import Any

from carrel.core.errors import InvalidInputError
from carrel.rooms.references.records import Item

MAX_DEPTH = 200
MAX_KEY_CHARS = 500
# What every JSON reader takes for a whole number.
_LARGEST_INTEGER = 2**63 - 1


class NotStorableError(InvalidInputError):
    """The item cannot be kept as it is; says what in it is wrong."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"The entry cannot be kept: {problem}", next_step="Correct the entry and add it again."
        )


def check_storable(item: Item) -> None:
    """Raises NotStorableError for an item that no library file can hold. Walks without recursion:
    input may be hostile.
    """
    waiting: list[tuple[Any, str, int]] = [(item, "", 0)]
    while waiting:
        value, place, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise NotStorableError(
                f"{place.partition('.')[0] or 'it'} is nested more than {MAX_DEPTH} deep"
            )
        match value:
            case None | bool():
                continue
            case str():
                _check_text(value, place)
            case int():
                if abs(value) > _LARGEST_INTEGER:
                    raise NotStorableError(f"{place or 'it'} holds a number of more than 18 digits")
            case float():
                if not math.isfinite(value):
                    raise NotStorableError(f"{place or 'it'} holds a number that is not finite")
            case dict():
                for name, inner in value.items():
                    _check_text(str(name), "a field's name")
                    waiting.append((inner, f"{place}.{name}" if place else str(name), depth + 1))
            case list():
                waiting.extend((inner, place, depth + 1) for inner in value)
            case _:
                raise NotStorableError(f"{place or 'it'} holds a {type(value).__name__}")


def is_usable_key(key: str) -> bool:
    """Whether a reference can be asked for by this key: not blank, not too long, of characters that
    are seen.
    """
    return (
        bool(key.strip())
        and len(key) <= MAX_KEY_CHARS
        and not any(unicodedata.category(sign) == "Cc" for sign in key)
    )


def _check_text(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotStorableError(
            f"{_printable(place) or 'it'} holds a lone surrogate, which is no Unicode text"
        ) from None


def _printable(place: str) -> str:
    return place.encode(errors="replace").decode()[:200]
