"""Cuts the flows of a document into blocks: headings, paragraphs, lists, code, captions, rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.libraries.pdf_layout.headings import Place, PrintedHeading
from carrel.libraries.pdf_layout.reading_order import CAPTION, Flow, ReadingOrder
from carrel.libraries.pdf_layout.rows import Row

BlockKind = Literal["heading", "paragraph", "code", "caption", "cells", "contents"]

# In usual distances of two baselines, sizes of the text, and shares of the column's width.
# Looked at in the Markdown of the PDFs of two columns and some twenty others.
_PARAGRAPH_GAP = 1.35
_INDENT = 0.6
_LARGEST_INDENT = 6.0
_SHORT_ROW = 0.85
_CELL_GAP = 1.0
SENTENCE_END = (".", "!", "?", ":", "。", "！", "？", "”", "»")
ITEM = re.compile(
    r"(?:[•▪◦‣●○■□➢✓∙·]|[–—*-]\s|\(?(?:\d{1,3}|[a-z]|[ivx]{2,4})[.)]\s|\[\d{1,3}\]|\[[A-Z]\w{1,12}\])\s*\S"
)
# An address alone on a row is no code.
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+")
# "Figure 15 shows": a sentence; "Fig. 1 a Map of" is a caption.
_LOWER_WORD = re.compile(r"\s{0,3}[a-zß-ÿ]{2,40}\b")


@dataclass(slots=True)
class Block:
    """Rows that belong together; `is_table` says that a caption calls them a table."""

    kind: BlockKind
    rows: list[Row]
    flow: Flow
    heading: PrintedHeading | None = None
    is_table: bool = False

    @property
    def page(self) -> int:
        return self.rows[0].page


def cut_blocks(
    order: ReadingOrder,
    headings: dict[Place, PrintedHeading | None],
    contents: frozenset[Place],
) -> list[Block]:
    """The blocks of all pages in reading order; paragraphs are not yet joined over columns."""
    blocks: list[Block] = []
    for page_at, page in enumerate(order.pages):
        for flow_at, flow in enumerate(page.flows):
            cutter = _FlowCutter(order, flow)
            for row_at, row in enumerate(flow.rows):
                place = (page_at, flow_at, row_at)
                if place in headings:
                    cutter.add_heading(row, headings[place])
                else:
                    cutter.add(row, place in contents)
            blocks += cutter.close()
    return blocks


class _FlowCutter:
    """The blocks of one flow, row by row."""

    def __init__(self, order: ReadingOrder, flow: Flow) -> None:
        self._flow = flow
        self._body = order.body_size or 10.0
        self._leading = order.leading or 12.0
        self._blocks: list[Block] = []

    def close(self) -> list[Block]:
        return list(_mend_code(self._blocks))

    def add_heading(self, row: Row, heading: PrintedHeading | None) -> None:
        if heading is None and self._blocks and self._blocks[-1].kind == "heading":
            self._blocks[-1].rows.append(row)
        else:
            self._blocks.append(Block("heading", [row], self._flow, heading))

    def add(self, row: Row, is_contents: bool) -> None:
        kind = "contents" if is_contents else self._kind(row)
        last = self._blocks[-1] if self._blocks else None
        if kind == "caption" and last is not None and self._is_in_sentence(last, row):
            kind = "paragraph"
        if last is not None and self._extends(last, row, kind):
            last.rows.append(row)
        else:
            self._blocks.append(Block(kind, [row], self._flow))

    def _kind(self, row: Row) -> BlockKind:
        if row.is_monospaced and not _ADDRESS.fullmatch(row.text.strip()):
            return "code"
        if _is_caption(row):
            return "caption"
        return "cells" if count_cells(row) >= 3 else "paragraph"

    def _is_in_sentence(self, last: Block, row: Row) -> bool:
        """Whether a row such as "Figure 15. For all" goes on with the paragraph above it."""
        above = last.rows[-1]
        return (
            last.kind == "paragraph"
            and not above.text.rstrip().endswith(SENTENCE_END)
            and self._is_full(above)
            and row.baseline - above.baseline < _PARAGRAPH_GAP * self._leading
            and abs(row.size - above.size) < 0.05 * row.size
            and abs(row.box.x0 - self._flow.left) < _LARGEST_INDENT * row.size
        )

    def _extends(self, last: Block, row: Row, kind: BlockKind) -> bool:
        above = last.rows[-1]
        gap = row.baseline - above.baseline
        if kind == "contents" or last.kind == "contents":
            return kind == last.kind
        if kind == "code" or last.kind == "code":
            return kind == last.kind and gap < 3.5 * self._leading
        if kind == "cells" or last.kind == "cells":
            return kind == last.kind and gap < 2.5 * self._leading
        if last.kind == "heading" or kind == "caption":
            return False
        return not self._starts_paragraph(last, above, row, gap)

    def _starts_paragraph(self, last: Block, above: Row, row: Row, gap: float) -> bool:
        usual = (
            max(self._leading, 1.15 * row.size) if row.size > 0.9 * self._body else 1.2 * row.size
        )
        if gap > _PARAGRAPH_GAP * usual or gap < 0.2 * row.size:
            return True
        if abs(row.size - above.size) > 0.15 * max(row.size, above.size):
            return len(row.text) > 3 and len(above.text) > 3
        if above.has_hyphen and row.text[:1].islower():
            return False
        if ITEM.match(row.text):
            return True
        step = row.box.x0 - above.box.x0
        is_item = bool(ITEM.match(last.rows[0].text))
        if _INDENT * row.size < step < _LARGEST_INDENT * row.size:
            # The second row of an item or of an entry of a list hangs below the first.
            is_hanging = len(last.rows) == 1 and (is_item or self._is_full(above))
            return not (is_hanging and not self._is_indented_start(above, row))
        if step < -_INDENT * row.size and len(last.rows) > 1:
            return True
        is_end = above.text.rstrip().endswith(SENTENCE_END)
        return is_end and not self._is_full(above) and row.text[:1].isupper()

    def _is_full(self, row: Row) -> bool:
        width = self._flow.right - self._flow.left
        return row.box.x1 > self._flow.left + _SHORT_ROW * width

    def _is_indented_start(self, above: Row, row: Row) -> bool:
        """Whether a row begins a paragraph by its indent, the one above having ended a sentence."""
        is_end = above.text.rstrip().endswith(SENTENCE_END)
        return is_end and row.text[:1].isupper() and not ITEM.match(above.text)


def _is_caption(row: Row) -> bool:
    found = CAPTION.match(row.text)
    if found is None:
        return False
    sign = found["sign"].strip()
    if not sign and _LOWER_WORD.match(row.text[found.end() :]):
        return False
    first = row.lines[0].spans[0]
    return (
        sign in {".", ":", "|", "。", "：", "—", "–"}
        or (first.is_bold and not row.is_bold)
        or (len(row.text) < 12)
    )


def count_cells(row: Row) -> int:
    """How many pieces of a row stand apart."""
    return len(row_cells(row))


def row_cells(row: Row) -> list[tuple[float, float, str]]:
    """The pieces of a row between wide gaps: left edge, right edge, text."""
    cells: list[tuple[float, float, str]] = []
    for line in row.lines:
        is_first = True
        for span in line.spans:
            text = span.text
            if not is_first and span.gap_before <= _CELL_GAP * line.size:
                left, _, before = cells[-1]
                cells[-1] = (left, span.box.x1, before + text)
            elif text.strip():
                cells.append((span.box.x0, span.box.x1, text))
            else:
                continue
            is_first = False
    return [(left, right, text.strip()) for left, right, text in cells]


def _mend_code(blocks: Sequence[Block]) -> Iterator[Block]:
    """A lone row of code within a paragraph (an address, a name) belongs to that paragraph."""
    kept: list[Block] = []
    for block in blocks:
        before = kept[-1] if kept else None
        if before is not None and _is_within(before, block):
            before.rows += block.rows
        else:
            kept.append(block)
    yield from kept


def _is_within(before: Block, block: Block) -> bool:
    """Whether a block goes on with the paragraph before, one of both being a row of code."""
    pair = {before.kind, block.kind}
    if pair != {"paragraph", "code"}:
        return False
    code = block if block.kind == "code" else before
    above, below = before.rows[-1], block.rows[0]
    is_near = below.baseline - above.baseline < 1.3 * max(above.size, below.size)
    is_open = not above.text.rstrip().endswith(SENTENCE_END)
    is_level = abs(above.box.x0 - below.box.x0) < above.size
    return len(code.rows) == 1 and is_near and is_open and is_level and before.kind == "paragraph"
