"""Paragraphs of a title page: the lines above and below a line that belong to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from carrel.libraries.pdf_layout.content import Line
from carrel.libraries.pdf_layout.title_zone import FrontPage, join_spaces

_PARAGRAPH_STEP = 1.7
MOST_PARAGRAPH_LINES = 12
_LONGEST_LABEL = 40
_REFERENCES = re.compile(
    r"^\W{0,3}(?:\d{1,2}\.?\s+)?(?:references?(?:\s+and\s+notes)?|bibliography|literature(?:\s+cited)?"
    r"|literatur|works\s+cited|notes|r[ée]f[ée]rences|referencias)\W{0,3}$",
    re.IGNORECASE,
)


def take_paragraph(lines: Sequence[Line], at: int) -> list[Line]:
    """The lines above that belong to the same paragraph, from top to bottom."""
    taken: list[Line] = []
    current = lines[at]
    for other in reversed(lines[max(0, at - 60) : at]):
        step = current.baseline - other.baseline
        if step > 3 * current.size or len(taken) >= MOST_PARAGRAPH_LINES:
            break
        is_same_column = other.box.x0 < current.box.x1 and current.box.x0 < other.box.x1
        is_near = 0.4 * current.size < step < _PARAGRAPH_STEP * max(current.size, other.size)
        if is_near and is_same_column and abs(other.size - current.size) < 0.6:
            taken.append(other)
            current = other
    return taken[::-1]


def find_next_below(lines: Sequence[Line], at: int) -> Line | None:
    """The next line of the same column, where it is near."""
    line = lines[at]
    for other in lines[at + 1 : at + 8]:
        step = other.baseline - line.baseline
        is_same_column = abs(other.box.x0 - line.box.x0) < 25
        if 0.5 * line.size < step < _PARAGRAPH_STEP * line.size and is_same_column:
            return other
    return None


def find_label(lines: Sequence[Line], at: int) -> str:
    """The short line right above in any size, which may say what a DOI is of: "Data"."""
    line = lines[at]
    for other in reversed(lines[max(0, at - 20) : at]):
        step = line.baseline - other.baseline
        is_same_column = other.box.x0 < line.box.x1 and line.box.x0 < other.box.x1
        if is_same_column and step > 0.4 * line.size:
            text = join_spaces(other.text)
            return text if len(text) < _LONGEST_LABEL and step < 2.5 * line.size else ""
    return ""


def find_references(front: FrontPage) -> float:
    """Where a list of references begins; below the page where there is none."""
    heads = (line for line in front.lines if _REFERENCES.match(join_spaces(line.text)))
    return min((line.baseline for line in heads), default=float("inf"))
