"""Joins paragraphs that a column, a page or a figure cuts in two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from carrel.libraries.pdf_layout.blocks import ITEM, SENTENCE_END, Block

# Blocks that stand between two halves of a paragraph: what floats.
_FLOATS = frozenset({"caption", "cells"})
_MOST_FLOATS = 12


def join_paragraphs(blocks: Sequence[Block]) -> list[Block]:
    """The blocks with halves joined; what floats between them follows the paragraph."""
    joined: list[Block] = []
    for block in blocks:
        before = _open_paragraph(joined)
        if block.kind == "paragraph" and before is not None and _goes_on(before, block):
            before.rows += block.rows
        else:
            joined.append(replace(block, rows=list(block.rows)))
    return joined


def _open_paragraph(blocks: Sequence[Block]) -> Block | None:
    """The last paragraph, unless more than floats stands behind it."""
    for block in reversed(blocks[-_MOST_FLOATS:]):
        if block.kind == "paragraph":
            return block
        if block.kind not in _FLOATS:
            return None
    return None


def _goes_on(before: Block, block: Block) -> bool:
    """Whether a block is the second half of a paragraph."""
    last, first = before.rows[-1], block.rows[0]
    if last.page == first.page and before.flow is block.flow and last.box.y1 < first.box.y0:
        is_apart = first.baseline - last.baseline > 4 * last.size
        if not is_apart:
            return False
    if abs(last.size - first.size) > 0.12 * last.size or ITEM.match(first.text):
        return False
    ends, begins = last.text.rstrip(), first.text.lstrip()
    if last.has_hyphen and begins[:1].isalpha():
        return True
    if ends.endswith(SENTENCE_END) or len(ends) < 3:
        return False
    if begins[:1].islower():
        return True
    return _fills(before) and _is_level(block)


def _fills(block: Block) -> bool:
    """Whether the last row reaches the right edge, as that of a whole paragraph seldom does."""
    width = block.flow.right - block.flow.left
    return block.rows[-1].page == block.flow.page and (
        block.rows[-1].box.x1 > block.flow.right - 0.03 * width and len(block.rows) > 1
    )


def _is_level(block: Block) -> bool:
    """Whether the first row is not indented."""
    return block.rows[0].box.x0 - block.flow.left < 0.5 * block.rows[0].size
