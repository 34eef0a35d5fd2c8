"""Pages as plain text, for pipes and files: no colour, no wrapping, tables with tabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from carrel.cli.page import (
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
    Table,
    Verbatim,
    column_of,
    is_apart,
    plain_text,
)

_SEPARATORS = re.compile(r"[\t\r\n]+")


def write_page_text(page: Page) -> str:
    """Everything but the notes, which `list_notes` gives."""
    lines: list[str] = []
    before: Part | None = None
    for part in page.parts:
        if isinstance(part, Note):
            continue
        if before is not None and is_apart(before, part):
            lines.append("")
        lines.extend(_part_lines(part))
        before = part
    return "\n".join(lines)


def list_notes(parts: Iterable[Part]) -> list[str]:
    """The notes of a page, and of its lists."""
    notes: list[str] = []
    for part in parts:
        if isinstance(part, Note):
            notes.append(plain_text(part.text))
        elif isinstance(part, Item):
            notes.extend(list_notes(part.parts))
    return notes


def _part_lines(part: Part) -> Sequence[str]:
    match part:
        case Heading(text) | Note(text):
            return [plain_text(text)]
        case Line(text, indent) | Paragraph(text, indent):
            return _indent(plain_text(text).split("\n"), indent)
        case Fields(rows, indent):
            return _indent(_field_lines(rows), indent)
        case Table():
            return _table_lines(part)
        case Verbatim(text) | Markdown(text):
            return text.removesuffix("\n").split("\n")
        case Item():
            return _item_lines(part)


def _table_lines(table: Table) -> list[str]:
    kept = [place for place, each in enumerate(table.columns) if not column_of(each).drawn_only]
    return ["\t".join(_cell(row[place]) for place in kept) for row in table.rows]


def _field_lines(rows: Sequence[tuple[str, Inline]]) -> list[str]:
    filled = [(label, plain_text(value)) for label, value in rows if plain_text(value)]
    return [f"{label}: {value}" for label, value in filled]


def _item_lines(item: Item) -> list[str]:
    lines = [
        line for part in item.parts if not isinstance(part, Note) for line in _part_lines(part)
    ]
    width = len(item.marker) + 1 if item.marker else 0
    shown = _indent(lines, width)
    if shown and item.marker:
        shown[0] = f"{item.marker} {lines[0]}"
    return shown


def _indent(lines: Sequence[str], width: int) -> list[str]:
    return [f"{' ' * width}{line}" if line else line for line in lines]


def _cell(cell: Inline) -> str:
    """A cell's text without the characters that separate cells and rows."""
    return _SEPARATORS.sub(" ", plain_text(cell))
