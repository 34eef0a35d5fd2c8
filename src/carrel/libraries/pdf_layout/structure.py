"""The structure of a PDF: headings, paragraphs, notes, figures and references, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.libraries.pdf_layout.blocks import Block, cut_blocks
from carrel.libraries.pdf_layout.content import Line, PdfContent
from carrel.libraries.pdf_layout.figures import PrintedFigure, find_figures
from carrel.libraries.pdf_layout.heading_words import squash
from carrel.libraries.pdf_layout.headings import (
    PrintedHeading,
    find_contents_rows,
    find_headings,
    heading_rows,
)
from carrel.libraries.pdf_layout.hyphens import DocumentWords, join_rows
from carrel.libraries.pdf_layout.markdown_writer import write_markdown
from carrel.libraries.pdf_layout.paragraphs import join_paragraphs
from carrel.libraries.pdf_layout.reading_order import ReadingOrder, order_pages
from carrel.libraries.pdf_layout.rows import Row
from carrel.libraries.text.passages import is_reference_heading

_SHORTEST_TITLE_ROW = 8
# Contents pages are left out where more headings than these were found.
_FEWEST_HEADINGS = 2

LeftOutReason = Literal["running_head", "turned", "front", "title", "contents", "figure"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A line that is not in the Markdown, and why.

    It is a running head or page number, turned, of the title and authors (which are fields), of a
    contents page (whose headings follow), or a label inside a figure.
    """

    line: Line
    reason: LeftOutReason


@dataclass(frozen=True)
class DocumentStructure:
    """What the layout of a document tells.

    `markdown` is the text below the title with marks of pages. `reference_lines` are the lines of
    the reference list in reading order, empty where there is none. Every line of the pages is in
    the Markdown or in `left_out`.
    """

    order: ReadingOrder
    headings: tuple[PrintedHeading, ...]
    markdown: str
    figures: tuple[PrintedFigure, ...]
    reference_lines: tuple[Line, ...]
    left_out: tuple[LeftOut, ...] = ()


def read_structure(
    content: PdfContent, title: str | None = None, front_lines: Iterable[Line] = ()
) -> DocumentStructure:
    """The structure of a document; `front_lines` are of its title and authors, no part of it."""
    order = order_pages(content)
    words = DocumentWords(content)
    contents = find_contents_rows(order)
    front = {id(line) for line in front_lines}
    headings = [
        _mend(heading, order, words)
        for heading in find_headings(content, order, title)
        if not _is_front(heading, order, front)
    ]
    blocks = cut_blocks(order, heading_rows(headings), contents)
    left_out = _edge_lines(order)
    blocks = _take_front(blocks, front, squash(title or ""), left_out)
    figures, blocks, labels = find_figures(order, blocks, words)
    _note(left_out, "figure", labels)
    has_headings = len(headings) > _FEWEST_HEADINGS
    if has_headings:
        # Contents pages say again what the headings say.
        for block in blocks:
            _note(left_out, "contents", block.rows if block.kind == "contents" else ())
        blocks = [block for block in blocks if block.kind != "contents"]
    return DocumentStructure(
        order,
        tuple(headings),
        write_markdown(order, join_paragraphs(blocks), words),
        tuple(figures),
        tuple(_reference_lines(blocks)),
        tuple(left_out),
    )


def _edge_lines(order: ReadingOrder) -> list[LeftOut]:
    """Running heads, page numbers and turned lines."""
    found: list[LeftOut] = []
    for page in order.pages:
        found += [LeftOut(line, "running_head") for line in page.heads]
        found += [LeftOut(line, "turned") for line in page.turned]
    return found


def _take_front(
    blocks: Sequence[Block], front: set[int], title: str, left_out: list[LeftOut]
) -> list[Block]:
    """The blocks without the rows of the title page that are fields of the record."""
    kept: list[Block] = []
    for block in blocks:
        own = [row for row in block.rows if all(id(line) in front for line in row.lines)]
        _note(left_out, "front", own)
        taken = {id(row) for row in own}
        block.rows = [row for row in block.rows if id(row) not in taken]
        if block.rows and _is_title(block, title):
            _note(left_out, "title", block.rows)
        elif block.rows:
            kept.append(block)
    return kept


def _note(left_out: list[LeftOut], reason: LeftOutReason, rows: Iterable[Row]) -> None:
    left_out += [LeftOut(line, reason) for row in rows for line in row.lines]


def _is_front(heading: PrintedHeading, order: ReadingOrder, front: set[int]) -> bool:
    page, flow, row = heading.place
    return all(id(line) in front for line in order.pages[page].flows[flow].rows[row].lines)


def _is_title(block: Block, title: str) -> bool:
    """Whether a block on the first pages is the title, or a row of it."""
    if block.page > 2 or block.kind not in {"paragraph", "cells"} or not title:
        return False
    words = squash(" ".join(row.text for row in block.rows))
    return len(words) >= _SHORTEST_TITLE_ROW and words in title


def _mend(heading: PrintedHeading, order: ReadingOrder, words: DocumentWords) -> PrintedHeading:
    """The heading with words mended that were cut at the end of its rows."""
    if heading.row_count == 1:
        return heading
    page, flow, first = heading.place
    rows = order.pages[page].flows[flow].rows[first : first + heading.row_count]
    text = join_rows([row.text for row in rows], [row.has_hyphen for row in rows], words)
    return PrintedHeading(heading.level, text, heading.page, heading.place, heading.row_count)


def _reference_lines(blocks: Sequence[Block]) -> list[Line]:
    """The lines below the last heading of references, up to the next heading."""
    start = max(
        (
            at
            for at, block in enumerate(blocks)
            if block.heading is not None and is_reference_heading(block.heading.text)
        ),
        default=None,
    )
    if start is None:
        return []
    lines: list[Line] = []
    for block in blocks[start + 1 :]:
        if block.kind == "heading":
            break
        if block.kind != "caption":
            lines += [line for row in block.rows for line in row.lines]
    return lines
