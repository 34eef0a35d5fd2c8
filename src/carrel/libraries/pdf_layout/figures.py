"""Figures and tables of a document: captions, what they belong to, and where it is drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.libraries.pdf_layout.blocks import Block, count_cells
from carrel.libraries.pdf_layout.content import Box, PageContent
from carrel.libraries.pdf_layout.hyphens import DocumentWords, join_rows
from carrel.libraries.pdf_layout.reading_order import CAPTION, ReadingOrder
from carrel.libraries.pdf_layout.rows import Row
from carrel.libraries.pdf_layout.tables import make_table

_TABLE_NAMES = ("tab", "cuadro", "табл", "表", "표")
_LONGEST_CAPTION = 4_000
_MOST_FIGURES = 500
# Points: how far a figure may lie from its caption, and the margin around what is drawn.
_FARTHEST = 60.0
_MARGIN = 6.0
_SMALLEST_SIDE = 30.0
_MOST_TABLE_BLOCKS = 30
# Pages: a label that comes again so near is a mention or a continuation, no count begun anew.
_SAME_LABEL = 3
# Rows this long, or of code, are text; a figure of mostly such rows (a listing, a questionnaire in
# a frame) is read with the text. Looked at in the gold PDFs that `benchmarks.pdf.left_out` names.
_LONG_ROW = 30
_TEXT_SHARE = 0.5


@dataclass(frozen=True)
class PrintedFigure:
    """A figure or table; `region` is where it is drawn on its page, if that is known."""

    kind: Literal["figure", "table"]
    label: str
    caption: str
    page: int
    region: Box | None = None
    markdown: str | None = None


def find_figures(
    order: ReadingOrder, blocks: Sequence[Block], words: DocumentWords
) -> tuple[list[PrintedFigure], list[Block], list[Row]]:
    """The figures and tables with captions, the blocks without words inside drawings, and these."""
    figures: list[PrintedFigure] = []
    kept = list(blocks)
    inner: dict[int, Row] = {}
    by_page: dict[int, list[Block]] = defaultdict(list)
    for block in kept:
        by_page[block.page].append(block)
    for at, block in enumerate(kept):
        if block.kind != "caption" or len(figures) >= _MOST_FIGURES:
            continue
        text = join_rows(
            [row.text for row in block.rows], [row.has_hyphen for row in block.rows], words
        )[:_LONGEST_CAPTION]
        found = CAPTION.match(text)
        if found is None:
            continue
        label = f"{found['name']} {found['number']}"
        caption = text[found.end() :].strip()
        if found["name"].casefold().startswith(_TABLE_NAMES):
            used = _table_blocks(kept, at)
            rows = [row for place in used for row in kept[place].rows]
            markdown = make_table(rows) if rows else None
            if used:
                kept[used[0]].kind, kept[used[0]].is_table = "cells", True
                kept[used[0]].rows = rows
                for place in used[1:]:
                    kept[place].rows = []
            figures.append(
                PrintedFigure("table", label, caption, block.page, _around(rows, block), markdown)
            )
            continue
        page = order.pages[block.page - 1].page
        region = _find_drawing(page, block)
        if region is not None:
            inner |= _labels_inside(by_page[block.page], block.page, region)
        figures.append(PrintedFigure("figure", label, caption, block.page, region))
    figures = _choose_figures(figures)
    for block in kept:
        if block.kind != "caption":
            block.rows = [row for row in block.rows if id(row) not in inner]
    return figures, [block for block in kept if block.rows], list(inner.values())


def _choose_figures(figures: Sequence[PrintedFigure]) -> list[PrintedFigure]:
    """Without empty captions, and without those whose label has a drawing some pages on."""
    found = [each for each in figures if each.region or any(map(str.isalnum, each.caption))]
    pages: dict[str, list[int]] = defaultdict(list)
    for each in found:
        if each.region and any(map(str.isalnum, each.caption)):
            pages[each.label.casefold()].append(each.page)
    return [
        each
        for each in found
        if (each.region and any(map(str.isalnum, each.caption)))
        or not any(abs(page - each.page) <= _SAME_LABEL for page in pages[each.label.casefold()])
    ]


def _table_blocks(blocks: Sequence[Block], at: int) -> list[int]:
    """The blocks of cells beside a caption: below it, else above."""
    below = _run_of_cells(blocks, range(at + 1, min(len(blocks), at + _MOST_TABLE_BLOCKS)), at)
    return below or _run_of_cells(blocks, range(at - 1, max(-1, at - _MOST_TABLE_BLOCKS), -1), at)


def _run_of_cells(blocks: Sequence[Block], places: range, caption: int) -> list[int]:
    found: list[int] = []
    edge = blocks[caption].rows[-1] if places.step > 0 else blocks[caption].rows[0]
    for place in places:
        block = blocks[place]
        if not block.rows or block.page != edge.page or block.flow is not blocks[caption].flow:
            break
        near = block.rows[0] if places.step > 0 else block.rows[-1]
        is_near = abs(near.baseline - edge.baseline) < 3.5 * max(edge.size, near.size)
        several = sum(count_cells(row) > 1 for row in block.rows)
        is_cells = block.kind == "cells" or (
            block.kind in {"paragraph", "code"} and several * 2 > len(block.rows)
        )
        if not (is_near and is_cells):
            break
        found.append(place)
        edge = block.rows[-1] if places.step > 0 else block.rows[0]
    return sorted(found)


def _around(rows: Sequence[Row], caption: Block) -> Box | None:
    """The place of a table's rows; None where none were found."""
    if not rows:
        return None
    return Box(
        min(row.box.x0 for row in rows) - _MARGIN,
        min(row.box.y0 for row in rows) - _MARGIN,
        max(row.box.x1 for row in rows) + _MARGIN,
        max(row.box.y1 for row in rows) + _MARGIN,
    )


def _find_drawing(page: PageContent, caption: Block) -> Box | None:
    """The pictures that end just above a caption, or begin just below it, as one box."""
    top, bottom = caption.rows[0].box.y0, caption.rows[-1].box.y1
    left, right = caption.flow.left, caption.flow.right
    usable = [
        picture.box
        for picture in page.pictures
        if min(picture.box.width, picture.box.height) >= _SMALLEST_SIDE
        and picture.box.x0 < right
        and picture.box.x1 > left
        and picture.box.width * picture.box.height < 0.9 * page.width * page.height
    ]
    above = [box for box in usable if box.y1 <= top + 8 and top - box.y1 < _FARTHEST]
    below = [box for box in usable if box.y0 >= bottom - 8 and box.y0 - bottom < _FARTHEST]
    near = above or below
    if not near:
        return None
    region = near[0]
    # Neighbours of the nearest picture, as of a figure in several parts.
    for box in near[1:] + [box for box in usable if box not in near]:
        beside = box.y0 < region.y1 + 4 and region.y0 - 4 < box.y1
        if beside and (box.y1 <= top + 8 if above else box.y0 >= bottom - 8):
            region = Box(
                min(region.x0, box.x0),
                min(region.y0, box.y0),
                max(region.x1, box.x1),
                max(region.y1, box.y1),
            )
    return Box(
        max(0.0, region.x0 - _MARGIN),
        max(0.0, region.y0 - _MARGIN),
        min(page.width, region.x1 + _MARGIN),
        min(page.height, region.y1 + _MARGIN),
    )


def _labels_inside(blocks: Sequence[Block], page: int, region: Box) -> dict[int, Row]:
    """Rows that lie in a drawing, by their ids: labels of axes and parts, but no running text."""
    rows = [
        row
        for block in blocks
        if block.rows and block.page == page and block.kind not in {"caption", "heading"}
        for row in block.rows
        if row.page == page
        and region.x0 <= (row.box.x0 + row.box.x1) / 2 <= region.x1
        and region.y0 <= (row.box.y0 + row.box.y1) / 2 <= region.y1
    ]
    signs = sum(len(row.text) for row in rows)
    text = sum(len(row.text) for row in rows if _is_text(row))
    return {} if text > _TEXT_SHARE * signs else {id(row): row for row in rows}


def _is_text(row: Row) -> bool:
    return row.is_monospaced or (len(row.text) >= _LONG_ROW and count_cells(row) == 1)
