"""Draws pages on a terminal with rich: wrapped to its width, in colour where it has one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType, detect_legacy_windows
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
from carrel.libraries.text.surrogates import whole_text

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
    "mark": "bold",
    "good": "green",
    "bad": "red",
    "doubt": "yellow",
}
# Of cells that are padded to the width of their column.
_TRAILING_SPACES = re.compile(r" +(?=(?:\x1b\[[0-9;]*m)*\n)")
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
    lines = _lines(console, tuple(_with_markdown_parsed(page.parts)), width)
    stream.write(whole_text("".join(f"{line}\n" for line in lines)))
    stream.flush()


def _colour_system() -> Literal["standard"] | None:
    return None if detect_legacy_windows() else "standard"


def _with_markdown_parsed(parts: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Markdown):
            yield from parse_markdown(part.text)
        else:
            yield part


def _lines(console: Console, parts: Sequence[Part], width: int) -> Iterator[str]:
    """The lines of some parts, with a blank one between those that stand apart."""
    marker_width = max(
        (cell_len(each.marker) for each in parts if isinstance(each, Item)), default=0
    )
    before: Part | None = None
    for part in parts:
        if before is not None and is_apart(before, part):
            yield ""
        before = part
        if isinstance(part, Item):
            yield from _item_lines(console, part, width, marker_width)
        else:
            yield from _part_lines(console, part, width)


def _part_lines(console: Console, part: Part, width: int) -> Iterator[str]:
    if isinstance(part, Verbatim):
        # Not through rich, which breaks lines.
        yield from _escape(part.text.removesuffix("\n")).split("\n")
        return
    indent = part.indent if isinstance(part, Line | Paragraph | Fields) else 0
    room = max(_NARROWEST_COLUMN, width - indent)
    if isinstance(part, Paragraph):
        room = min(room, _WIDEST_PARAGRAPH)
    with console.capture() as drawn:
        console.print(_drawing(part, room), width=room, overflow="fold")
    for line in _TRAILING_SPACES.sub("", drawn.get()).removesuffix("\n").split("\n"):
        yield f"{' ' * indent}{line}" if line else ""


def _item_lines(console: Console, item: Item, width: int, marker_width: int) -> Iterator[str]:
    """The parts of an item below each other, beside its marker; numbers stand right."""
    is_number = item.marker.strip()[:1].isdecimal()
    marker_width = marker_width if is_number else cell_len(item.marker)
    indent = marker_width + 1 if marker_width else 0
    room = max(_NARROWEST_COLUMN, width - indent)
    inner = (line for part in item.parts for line in _part_lines(console, part, room))
    for number, line in enumerate(inner):
        if number or not marker_width:
            yield f"{' ' * indent}{line}" if line else ""
        else:
            with console.capture() as marker:
                console.print(
                    _text(item.marker.rjust(marker_width), base="dim", keeps_lines=True), end=""
                )
            yield f"{marker.get()} {line}"


def _drawing(part: Part, width: int) -> RenderableType:
    match part:
        case Heading(text):
            return _text(text, base="bold")
        case Note(text):
            return _text(text, base="dim")
        case Line(text):
            return _text(text)
        case Fields():
            return _fields(part, width)
        case Table():
            return _table(part, width)
        case Paragraph(text) | Verbatim(text) | Markdown(text):
            return _text(text, keeps_lines=True)
        case Item():
            raise AssertionError("an item is drawn line by line")


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
        kept = [place for place, column in enumerate(columns) if not column.drawn_only]
        columns = [columns[place] for place in kept]
        rows = [[row[place] for place in kept] for row in rows]
    if _narrowest(columns, rows) > width:
        return _stacked(columns, rows)
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


def _stacked(columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> RenderableType:
    """A table that does not fit, as one list of labels and values for each row."""
    pieces: list[RenderableType] = []
    for row in rows:
        if pieces:
            pieces.append(Text())
        for column, value in zip(columns, row, strict=True):
            if value.plain:
                pieces.append(Text.assemble((f"{column.name}: ", "dim"), value))
    return Group(*pieces)


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
