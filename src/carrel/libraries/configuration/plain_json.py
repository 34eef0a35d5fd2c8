"""JSON without comments, for programs that cannot read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.libraries.configuration import Path, jsonc
from carrel.libraries.configuration.jsonc import render

__all__ = ["parse", "put_entry", "render", "take"]


def parse(text: str) -> dict[str, Any]:
    """The values of a text, an empty one for an empty text; raises UnreadableTextError."""
    return jsonc.parse(text, comments=False)


def put_entry(text: str, path: Path, entry: Mapping[str, Any]) -> str:
    """The text with the entry added or replaced."""
    return jsonc.put_entry(text, path, entry, comments=False)


def take(text: str, path: Path, *, keep_empty: bool) -> str:
    """The text without the entry; tables it leaves empty go too, unless `keep_empty`."""
    return jsonc.take(text, path, keep_empty=keep_empty, comments=False)
