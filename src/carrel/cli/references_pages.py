"""Formats answers of the references room for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from carrel.rooms.references.models import Citations


def _citations(citations: Citations) -> str:
    return "\n".join([citations.text, *(f"notice: {notice}" for notice in citations.notices)])


PAGES: Mapping[str, Callable[[Any], str]] = {"cite_references": _citations}
