"""Lists of identifiers, as people paste or keep them: one on each line, or parted by signs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrel.libraries import bibliography

# A longer text is no list that somebody collected; each part costs a look at every kind.
_LONGEST_LIST = 1_000_000
_BETWEEN = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class ListedPart:
    """One part of a list and the line it stands on; not every part need be an identifier."""

    line: int
    text: str


def split_identifiers(text: str) -> list[ListedPart]:
    """The parts of a text that lists identifiers; none where it is anything else.

    A line counts when all of its parts are identifiers, and a text is a list when half of its lines
    do: numbers stand in other texts as well. Its other lines are then parts that say nothing.
    """
    if len(text) > _LONGEST_LIST or bibliography.is_bibliography(text):
        return []
    lines = [
        (number, line.strip("\ufeff \t\r,;"))
        for number, line in enumerate(text.splitlines(), start=1)
    ]
    found: list[ListedPart] = []
    told = 0
    for number, line in lines:
        parts = _split_line(line) if line else []
        told += 1 if parts else -1 if line else 0
        found += [ListedPart(number, part) for part in parts or [line] if part]
    return found if told >= 0 else []


def _split_line(line: str) -> list[str]:
    """The identifiers of a line that holds nothing else."""
    if bibliography.identifier_of(line) is not None:
        return [line]
    parts = [part for part in _BETWEEN.split(line) if part]
    if len(parts) > 1 and all(bibliography.identifier_of(part) is not None for part in parts):
        return parts
    return []
