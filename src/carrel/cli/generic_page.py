"""The page of an answer whose operation has none of its own, made from the answer's JSON value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from carrel.cli.page import (
    Column,
    Fields,
    Heading,
    Inline,
    Item,
    Line,
    Note,
    Page,
    Paragraph,
    Part,
    Span,
    Table,
)

_MEANING_OF_MARK = "? marks what no source states: carrel papers review says more."
_INFERRED = "inferred"
# What is longer is text to read, not the value of a field or a table's cell.
_LONGEST_VALUE = 160
_LONGEST_CELL = 60
_MOST_COLUMNS = 7


def make_generic_page(value: Any) -> Page:
    """Records as a table or a list, a record as fields, text as paragraphs."""
    parts = list(_value_parts(value))
    if _has_guesses(value):
        parts.append(Note(_MEANING_OF_MARK))
    return Page(tuple(parts))


def _value_parts(value: Any) -> Iterable[Part]:
    if isinstance(value, Mapping):
        return _record_parts(value)
    if isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
        return _records_parts(value)
    if isinstance(value, list):
        return [Line(_value_text(item)) for item in value]
    return [Paragraph(str(value))] if not _is_empty(value) else []


def _records_parts(rows: Sequence[Mapping[str, Any]]) -> Iterable[Part]:
    names = [name for name in _names(rows) if name != _INFERRED]
    if len(names) <= _MOST_COLUMNS and all(_fits_cell(row.get(n)) for row in rows for n in names):
        columns = [_column(name, rows) for name in names]
        return [Table(columns, [[_cell(row, name) for name in names] for row in rows])]
    return [
        Item(f"{number}.", tuple(_record_parts(row, is_in_list=True)))
        for number, row in enumerate(rows, start=1)
    ]


def _record_parts(row: Mapping[str, Any], *, is_in_list: bool = False) -> Iterable[Part]:
    """Short values first as fields, then what is long, each below its name."""
    filled = {name: value for name, value in row.items() if not _is_empty(value)}
    filled.pop(_INFERRED, None)
    long = {} if is_in_list else {n: v for n, v in filled.items() if _is_long(v)}
    short = [(_label(n), _cell(row, n)) for n in filled if n not in long]
    parts: list[Part] = [Fields(short)] if short else []
    for name, value in long.items():
        parts += [Heading(_label(name)), *_value_parts(value)]
    return parts


def _names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Every field that some row has a value for, in the order of the rows."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(name for name, value in row.items() if not _is_empty(value)))
    return list(names)


def _column(name: str, rows: Iterable[Mapping[str, Any]]) -> Column:
    values = [row.get(name) for row in rows if not _is_empty(row.get(name))]
    is_number = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    is_id = name == "id" or name.endswith("_id")
    return Column(_label(name), "right" if is_number else "left", is_id)


def _cell(row: Mapping[str, Any], name: str) -> Inline:
    value = row.get(name)
    text = "" if _is_empty(value) else _value_text(value)
    return (text, " ", Span("?", "doubt")) if text and name in _guesses(row) else text


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(_value_text(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(
            f"{_label(name)} {_value_text(item)}"
            for name, item in value.items()
            if not _is_empty(item)
        )
    return str(value)


def _is_long(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > _LONGEST_VALUE or "\n" in value.strip()
    return isinstance(value, list) and any(isinstance(item, Mapping) for item in value)


def _fits_cell(value: Any) -> bool:
    if isinstance(value, Mapping) or (isinstance(value, list) and len(value) > 3):
        return False
    text = _value_text(value)
    return len(text) <= _LONGEST_CELL and "\n" not in text


def _has_guesses(value: Any) -> bool:
    rows = value if isinstance(value, list) else [value]
    return any(isinstance(row, Mapping) and _guesses(row) for row in rows)


def _guesses(row: Mapping[str, Any]) -> Sequence[str]:
    found = row.get(_INFERRED)
    return found if isinstance(found, list) else ()


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


def _label(name: str) -> str:
    return name.replace("_", " ")
