"""Texts of sources without control characters, and single values as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LONGEST_NAME = 2_000


def clean(text: str | None) -> str | None:
    """The text without control characters; None when nothing is left."""
    return (_UNPRINTABLE.sub("", text).strip() or None) if text else None


def one_line(text: str | None) -> str | None:
    return (" ".join(_UNPRINTABLE.sub("", text).split())[:_LONGEST_NAME] or None) if text else None


def join_article(title: str, abstract: str | None, body: str) -> str:
    """An article as Markdown; parts that are empty are left out."""
    parts = (
        f"# {title}" if title else "",
        f"## Abstract\n\n{abstract}" if abstract else "",
        body,
    )
    return "\n\n".join(part for part in parts if part)


def plain_value(value: object) -> str | None:
    """A text, number or date as text, of a list the first; None for anything else."""
    match value:
        case str():
            return value.strip() or None
        case bool() | None:
            return None
        case int() | float():
            return str(value)
        case date():
            return value.isoformat()
        case [first, *_]:
            return plain_value(first) if isinstance(first, str | int) else None
        case _:
            return None


def first_text(fields: Mapping[str, object], names: Iterable[str]) -> str | None:
    """The first of these fields that has a plain value."""
    return next((text for name in names if (text := plain_value(fields.get(name)))), None)
