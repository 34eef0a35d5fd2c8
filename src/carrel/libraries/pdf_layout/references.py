"""The reference list of a PDF: its lines in reading order, read as cited works."""

from __future__ import annotations

from collections.abc import Iterable

from carrel.libraries.pdf_layout.content import Line
from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.reference_lists import ReferenceLine, read_reference_list


def read_references(lines: Iterable[Line]) -> tuple[CitedWork, ...]:
    """The works of the last reference list; running heads and page numbers are already out."""
    return read_reference_list([to_reference_line(line) for line in lines if line.angle == 0])


def to_reference_line(line: Line) -> ReferenceLine:
    """The line as rules of reference lists see it."""
    return ReferenceLine(
        text=line.text,
        x=line.box.x0,
        y=line.box.y0,
        page=line.page,
        size=line.size,
        is_bold=line.is_bold,
        has_hyphen=line.has_hyphen,
    )
