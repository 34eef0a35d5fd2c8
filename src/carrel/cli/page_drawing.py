"""Draws pages on a terminal with rich: wrapped to its width, in colour where it has one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Literal, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from carrel.cli.markdown_page import parse_markdown
from carrel.cli.page import (
    Column,
    Fields,
    Heading,
    Inline,
    Item,
    Line,
    Markdown,
    Note,
    Page,
    Paragraph,
    Part,
    Span,
    Style,
    Table,
    Verbatim,
    column_of,
    is_apart,
    plain_text,
)
from carrel.libraries.text.control_characters import escape_controls

# Running text is hard to read on longer lines, however wide the terminal is.
_WIDEST_PARAGRAPH = 100
# A table column of words is never narrower than this; a table that needs more becomes a list.
_NARROWEST_COLUMN = 14
_GAP = 2
_LONGEST_LABEL = 24
_ANY_HEIGHT = 25

_STYLES: dict[Style, str] = {
    "strong": "bold",
    "dim": "dim",
    "mark": "bold yellow",
    "good": "green",
    "bad": "red",
    "doubt": "yellow",
}
_SPACES = re.compile(r"[ \t\r\n]+")
# A joiner between letters: rich measures the two as one cell, terminals show two.
_LETTER_JOINERS = re.compile("\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])")


def draw_page(page: Page, stream: TextIO, width: int, *, has_colour: bool) -> None:
    """Draw on a terminal of that width; only verbatim text may be wider."""
    console = Console(
        file=stream,
        width=width,
        # Without a height rich takes 80 columns for a dumb terminal, whatever its width.
        height=_ANY_HEIGHT,
        force_terminal=True,
        color_system=_colour_system() if has_colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )
    before: Part | None = None
    for part in _with_markdown_parsed(page.parts):
        if before is not None and is_apart(before, part):
            console.print()
        before = part
        if isinstance(part, Verbatim):
            # Not through rich, which breaks lines.
            stream.write(f"{_escape(part.text.removesuffix(chr(10)))}\n")
        else:
            console.print(_drawing(part, width, _marker_width(page.parts)), overflow="fold")
    stream.flush()


def _colour_system() -> Literal["auto", "standard"]:
    return "auto" if os.name == "nt" else "standard"


def _with_markdown_parsed(parts: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Markdown):
            yield from parse_markdown(part.text)
        else:
            yield part


def _marker_width(parts: Sequence[Part]) -> int:
    """The width of the longest marker of a list, so that all its items stand below each other."""
    return max((cell_len(part.marker) for part in parts if isinstance(part, Item)), default=0)


def _drawing(part: Part, width: int, marker_width: int = 0) -> RenderableType:
    match part:
        case Heading(text):
            return _text(text, base="bold")
        case Note(text):
            return _text(text, base="dim")
        case Line(text, indent):
            return _indented(_text(text), indent)
        case Paragraph(text, indent):
            drawn = _indented(_text(text, keeps_lines=True), indent)
            return Constrain(drawn, min(width, _WIDEST_PARAGRAPH))
        case Fields():
            return _indented(_fields(part, width - part.indent), part.indent)
        case Table():
            return _table(part, width)
        case Verbatim(text) | Markdown(text):
            return _text(text, keeps_lines=True)
        case Item():
            return _item(part, width, marker_width)


def _indented(content: RenderableType, indent: int) -> RenderableType:
    return Padding(content, (0, 0, 0, indent), expand=False) if indent else content


def _fields(fields: Fields, width: int) -> RenderableType:
    rows = [(label, value) for label, value in fields.rows if plain_text(value)]
    longest = max((cell_len(label) for label, _ in rows), default=0)
    if longest > _LONGEST_LABEL or longest + _GAP + _NARROWEST_COLUMN > width:
        return Group(
            *(
                piece
                for label, value in rows
                for piece in (
                    _text(label, base="dim"),
                    Padding(_text(value, keeps_lines=True), (0, 0, 0, _GAP)),
                )
            )
        )
    grid = RichTable.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold", max_width=_WIDEST_PARAGRAPH)
    for label, value in rows:
        grid.add_row(_text(label), _text(value, keeps_lines=True))
    return grid


def _table(table: Table, width: int) -> RenderableType:
    columns = [column_of(column) for column in table.columns]
    rows = [[_text(cell) for cell in row] for row in table.rows]
    if _narrowest(columns, rows) > width:
        return _stacked(columns, table)
    drawn = RichTable(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold", padding=(0, 1)
    )
    for column in columns:
        drawn.add_column(
            _text(column.name), justify=column.align, no_wrap=column.whole, overflow="fold"
        )
    for row in rows:
        drawn.add_row(*row)
    return drawn


def _narrowest(columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> int:
    """The least width at which a table is still readable."""
    total = 2 * max(0, len(columns) - 1)
    for place, column in enumerate(columns):
        natural = max(cell_len(column.name), *(row[place].cell_len for row in rows), 0)
        is_fixed = column.whole or column.align == "right"
        total += natural if is_fixed else min(natural, _NARROWEST_COLUMN)
    return total


def _stacked(columns: Sequence[Column], table: Table) -> RenderableType:
    """A table that does not fit, as one list of labels and values for each row."""
    labels = [column.name for column in columns]
    pieces: list[RenderableType] = []
    for row in table.rows:
        if pieces:
            pieces.append(Text())
        for label, value in zip(labels, row, strict=True):
            if plain_text(value):
                pieces.append(Text.assemble((f"{label}: ", "dim"), _text(value)))
    return Group(*pieces)


def _item(item: Item, width: int, marker_width: int) -> RenderableType:
    indent = marker_width + 1 if marker_width else 0
    grid = RichTable.grid(padding=0)
    grid.add_column(no_wrap=True, justify="right", width=marker_width)
    grid.add_column(no_wrap=True, width=1 if marker_width else 0)
    grid.add_column(overflow="fold")
    content = Group(*(_drawing(part, width - indent) for part in item.parts))
    grid.add_row(_text(item.marker, base="dim"), Text(" "), content)
    return grid


def _text(inline: Inline, base: str = "", *, keeps_lines: bool = False) -> Text:
    """Text of others as text: no markup, control characters by their numbers."""
    text = Text(style=base, overflow="fold", end="\n")
    for piece in [inline] if isinstance(inline, str) else inline:
        words, style = (
            (piece.text, _STYLES[piece.style]) if isinstance(piece, Span) else (piece, "")
        )
        shown = _LETTER_JOINERS.sub("", _escape(words))
        text.append(shown.replace("\t", " ") if keeps_lines else _SPACES.sub(" ", shown), style)
    return text


def _escape(text: str) -> str:
    return escape_controls(text.replace("\r\n", "\n"))
