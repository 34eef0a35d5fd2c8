"""Writes the blocks of a document as Markdown with marks of pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from carrel.libraries.pdf_layout.blocks import Block
from carrel.libraries.pdf_layout.hyphens import DocumentWords, join_rows
from carrel.libraries.pdf_layout.reading_order import ReadingOrder
from carrel.libraries.pdf_layout.rows import Row
from carrel.libraries.pdf_layout.tables import make_table
from carrel.libraries.text.sentences import sentence_ends

# A sentence that a page cuts stays whole if it ends within so many characters of the next page.
_LONGEST_REST = 400
_MARK = re.compile(r"[\d*∗†‡§¶‖#]{1,3}|[a-z](?=\s)")
# What would be Markdown at the beginning of a paragraph.
_MARKDOWN = re.compile(r"(?:#{1,6}(?:\s|$)|>|\||`{3}|~{3}|(?:=+|-{3,})\s*$|<!--)")


def write_markdown(order: ReadingOrder, blocks: Sequence[Block], words: DocumentWords) -> str:
    """The text of a document."""
    return _Writer(order, words).write(blocks)


class _Writer:
    """One pass over the blocks. Notes of a page follow the block that ends on it."""

    def __init__(self, order: ReadingOrder, words: DocumentWords) -> None:
        self._words = words
        self._notes = {
            page.page.number: list(_split_notes(page.notes)) for page in order.pages if page.notes
        }
        self._marks: dict[int, frozenset[str]] = defaultdict(frozenset)
        for number, notes in self._notes.items():
            self._marks[number] = frozenset(mark for mark, _ in notes if mark)
        self._page = 0
        self._pages = [page.page.number for page in order.pages]
        self._parts: list[str] = []

    def write(self, blocks: Sequence[Block]) -> str:
        for block in blocks:
            if block.page > self._page:
                self._turn_to(block.page)
            self._write_block(block)
        self._turn_to(self._pages[-1] + 1 if self._pages else 1, is_end=True)
        return "\n\n".join(part for part in self._parts if part)

    def _turn_to(self, page: int, *, is_end: bool = False) -> None:
        """Write the notes of pages that are done, and the mark of the next."""
        self._write_notes(page)
        if not is_end:
            self._parts.append(f"<!-- page {page} -->")
            self._page = page

    def _write_notes(self, page: int) -> None:
        """Write the notes of all pages before a page."""
        for number in sorted(each for each in self._notes if each < page):
            for mark, rows in self._notes.pop(number):
                if number > self._page:
                    self._parts.append(f"<!-- page {number} -->")
                    self._page = number
                text = self._join(rows)
                self._parts.append(f"[^{mark}]: {text}" if mark else _escape(text))

    def _write_block(self, block: Block) -> None:
        match block.kind:
            case "heading":
                level = block.heading.level if block.heading else 1
                text = block.heading.text if block.heading else self._join(block.rows)
                self._parts.append("#" * min(level + 1, 6) + " " + " ".join(text.split()))
            case "code":
                self._parts.append(_fence(block.rows))
            case "cells":
                table = make_table(block.rows) if block.is_table else None
                self._parts.append(table or "\n".join(_escape(row.text) for row in block.rows))
            case "contents":
                self._parts.append("\n".join(_escape(row.text) for row in block.rows))
            case _:
                self._write_paragraph(block)

    def _write_paragraph(self, block: Block) -> None:
        """A paragraph, with the marks of pages that begin in it."""
        text = ""
        rows: list[Row] = []
        for row in [*block.rows, None]:
            if row is not None and (not rows or row.page == rows[-1].page):
                rows.append(row)
                continue
            text = self._go_on(text, rows)
            if row is not None:
                rows = [row]
        self._parts.append(_escape(text))

    def _go_on(self, text: str, rows: Sequence[Row]) -> str:
        """The text with the part of a paragraph that stands on the next page."""
        more = self._join(rows)
        if not text:
            return more
        page = rows[0].page
        if text.endswith(("-", "\u2010", "\u00ad")):
            word, _, more = more.partition(" ")
            text = self._words.join(text, word)
        end = next(sentence_ends(more, 0, len(more)), len(more))
        end = end if end <= _LONGEST_REST else 0
        if more[:end]:
            text = f"{text} {more[:end].strip()}"
        rest = more[end:].strip()
        self._parts.append(_escape(text))
        self._turn_to(page)
        return rest

    def _join(self, rows: Sequence[Row]) -> str:
        marks = self._marks[rows[0].page] if rows else frozenset()
        return join_rows(
            [_row_text(row, marks) for row in rows], [row.has_hyphen for row in rows], self._words
        )


def _row_text(row: Row, marks: frozenset[str]) -> str:
    """The text of a row, with marks of footnotes as Markdown writes them."""
    if not marks:
        return row.text
    parts: list[str] = []
    for line in row.lines:
        for at, span in enumerate(line.spans):
            bare = span.text.strip()
            if at and span.rise > 0 and bare in marks:
                parts.append(span.text.replace(bare, f"[^{bare}]"))
            else:
                parts.append(span.text)
        parts.append(" ")
    return "".join(parts).strip()


def _split_notes(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The footnotes of a page: mark and rows, the mark taken off."""
    mark, own = "", list[Row]()
    for row in rows:
        first = row.lines[0].spans[0]
        found = _MARK.match(first.text.strip() if first.rise > 0 else row.text.strip())
        is_new = found is not None and (first.rise > 0 or len(row.text) > len(found[0]) + 1)
        if is_new and own:
            yield mark, own
            own = []
        if is_new and found is not None and not own:
            mark = found[0]
            own = [_without(row, mark)]
        else:
            own.append(row)
    if own:
        yield mark, own


def _without(row: Row, mark: str) -> Row:
    """A row without the mark at its beginning."""
    line = row.lines[0]
    first = line.spans[0]
    text = first.text.lstrip()
    rest = text[len(mark) :] if text.startswith(mark) else first.text
    spans = line.spans[1:]
    if rest.strip():
        spans = (type(first)(rest.lstrip(), first.box, first.size, first.font), *spans)
    if not spans and len(row.lines) == 1:
        return row
    new = type(line)(spans, line.box, line.page, line.baseline, line.angle, line.has_hyphen)
    return Row((new, *row.lines[1:]), row.box, row.baseline, row.page)


def _escape(text: str) -> str:
    """A paragraph that Markdown takes for one."""
    return "\\" + text if _MARKDOWN.match(text) else text


def _fence(rows: Sequence[Row]) -> str:
    """Rows of code with their indents and empty lines."""
    left = min(row.box.x0 for row in rows)
    steps = [below.baseline - above.baseline for above, below in pairwise(rows)]
    usual = min((step for step in steps if step > 0), default=0.0)
    lines: list[str] = []
    for at, row in enumerate(rows):
        if at and usual and steps[at - 1] > 1.6 * usual:
            lines.append("")
        width = max((row.box.width) / max(1, len(row.text)), 1.0)
        indent = min(60, round((row.box.x0 - left) / width))
        lines.append(" " * indent + row.text)
    text = "\n".join(lines)
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
