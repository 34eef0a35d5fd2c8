"""The reference list of a PDF: its lines in reading order, read as cited works."""

from __future__ import annotations

from collections.abc import Iterable

from carrel.libraries.pdf_layout.content import Box, Line
from carrel.libraries.pdf_layout.figures import PrintedFigure
from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.reference_lists import ReferenceLine, read_reference_list


def read_references(
    lines: Iterable[Line], figures: Iterable[PrintedFigure] = ()
) -> tuple[CitedWork, ...]:
    """The works of the last reference list; words inside of figures are not read.

    Running heads and page numbers are already out.
    """
    regions: dict[int, list[Box]] = {}
    for figure in figures:
        if figure.region is not None:
            regions.setdefault(figure.page, []).append(figure.region)
    return read_reference_list(
        [
            to_reference_line(line)
            for line in lines
            if line.angle == 0
            and not any(_is_inside(line.box, region) for region in regions.get(line.page, ()))
        ]
    )


def _is_inside(box: Box, region: Box) -> bool:
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    return region.x0 <= x <= region.x1 and region.y0 <= y <= region.y1


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
