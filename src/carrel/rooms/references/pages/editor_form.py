"""The form of the editor: a reference as typed texts, and what was typed as changes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from carrel.core.errors import InvalidInputError
from carrel.core.pages import FieldValues
from carrel.libraries.bibliography import read_edtf
from carrel.libraries.csl.schema import DATE_VARIABLES, NAME_VARIABLES
from carrel.rooms.references.items import Item
from carrel.rooms.references.pages.csl_fields import FORM_FIELDS, fields_of_type
from carrel.rooms.references.pages.record_view import describe_date

_NAME_FIELD = re.compile(r"n\.([a-z-]+)\.(\d{1,4})\.(family|given|literal|rest)")
_MOST_NAMES = 1000
_LONGEST_NUMBER = 6
_DATE_PARTS = ("year", "month", "day", "text")


@dataclass(frozen=True, slots=True)
class NameRow:
    """A person or a body as typed; `rest` keeps the parts that the form does not show, as JSON."""

    family: str = ""
    given: str = ""
    literal: str = ""
    rest: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.family or self.given or self.literal)

    def value(self) -> dict[str, Any]:
        told = {"family": self.family, "given": self.given, "literal": self.literal}
        kept = _read_object(self.rest) or {}
        return {**kept, **{part: text for part, text in told.items() if text}}


@dataclass(frozen=True, slots=True)
class DateRow:
    """A date as typed: its parts, or a text for a range or what is no date."""

    year: str = ""
    month: str = ""
    day: str = ""
    text: str = ""

    @property
    def is_empty(self) -> bool:
        return self == DateRow()


FieldText = str | DateRow | tuple[NameRow, ...]


class DateNotReadError(ValueError):
    """A date whose parts are no numbers, or that has a month and no year."""


@dataclass(slots=True)
class EditorState:
    """What the form shows: the record it began with, and the texts as typed."""

    base: Item
    type: str
    texts: dict[str, FieldText]
    key: str = ""
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def visible_fields(self) -> list[str]:
        """The fields of the type first, then the others that there are."""
        usual = [name for name in fields_of_type(self.type) if name in FORM_FIELDS]
        others = sorted(name for name in self.texts if name not in usual)
        return [*usual, *others]

    def text(self, name: str) -> FieldText:
        return self.texts.get(name, _empty(name))


def open_state(item: Item) -> EditorState:
    """The form of a record, with every field that it can show."""
    kind = item.get("type")
    texts = {name: text for name in item if (text := read_text(item, name)) is not None}
    return EditorState(dict(item), kind if isinstance(kind, str) else "document", texts)


def read_text(item: Mapping[str, Any], name: str) -> FieldText | None:
    """A field as the form shows it; None where only the view of the whole record can."""
    if name not in FORM_FIELDS:
        return None
    value = item.get(name)
    if name in NAME_VARIABLES:
        return _read_names(value)
    if name in DATE_VARIABLES:
        return _read_date(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return "" if value is None else None
    return str(value).replace("\r\n", "\n").strip()


def _empty(name: str) -> FieldText:
    if name in NAME_VARIABLES:
        return ()
    return DateRow() if name in DATE_VARIABLES else ""


def _read_names(value: object) -> tuple[NameRow, ...] | None:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return None
    return tuple(_read_name(each) for each in value)


def _read_name(person: Mapping[str, Any]) -> NameRow:
    told = {part: str(person.get(part) or "") for part in ("family", "given", "literal")}
    rest = {part: content for part, content in person.items() if part not in told}
    return NameRow(**told, rest=json.dumps(rest, sort_keys=True) if rest else "")


def _read_date(value: object) -> DateRow | None:
    if value is None:
        return DateRow()
    if not isinstance(value, dict):
        return None
    match value:
        case {"date-parts": [[_] | [_, _] | [_, _, _] as parts]} if len(value) == 1:
            return DateRow(*(str(part) for part in parts))
    return DateRow(text=describe_date(value))


def read_form(form: FieldValues, base: Item) -> EditorState:
    """What was typed, exactly; rows of names without any text are left out."""
    texts: dict[str, FieldText] = {}
    for name in form.names():
        if name.startswith("f.") and name[2:] in FORM_FIELDS:
            texts[name[2:]] = form.whole_text(name).strip()
        elif name.startswith("d.") and name.rpartition(".")[0][2:] in DATE_VARIABLES:
            variable = name.rpartition(".")[0][2:]
            texts[variable] = DateRow(*(form.text(f"d.{variable}.{part}") for part in _DATE_PARTS))
    texts.update(_gather_names(form))
    return EditorState(base, form.text("type")[:60] or "document", texts, form.text("key"))


def _gather_names(form: FieldValues) -> dict[str, tuple[NameRow, ...]]:
    found: dict[str, dict[int, dict[str, str]]] = {}
    for name in form.names():
        matched = _NAME_FIELD.fullmatch(name)
        if matched is not None and matched[1] in NAME_VARIABLES:
            rows = found.setdefault(matched[1], {})
            rows.setdefault(int(matched[2]), {})[matched[3]] = form.text(name)
    return {
        variable: tuple(
            row for at in sorted(rows)[:_MOST_NAMES] if not (row := NameRow(**rows[at])).is_empty
        )
        for variable, rows in found.items()
    }


def make_changes(state: EditorState) -> dict[str, Any]:
    """The fields that differ from the record the form began with; puts errors into the state."""
    changes: dict[str, Any] = {}
    if state.type != state.base.get("type"):
        changes["type"] = state.type
    for name, text in state.texts.items():
        before = read_text(state.base, name)
        if text == before or (before is None and text == _empty(name)):
            continue
        try:
            value = make_value(text)
        except DateNotReadError as error:
            state.errors[name] = str(error)
            continue
        if value is not None or name in state.base:
            changes[name] = value
    return changes


def make_value(text: FieldText) -> Any:
    """The CSL-JSON value of a field as typed; None for an empty one. Raises DateNotReadError."""
    match text:
        case str():
            return text or None
        case DateRow():
            return _make_date(text)
        case _:
            return [row.value() for row in text if not row.is_empty] or None


def _make_date(date: DateRow) -> Any:
    if date.is_empty:
        return None
    parts = [date.year, date.month, date.day]
    while parts and not parts[-1]:
        parts.pop()
    if not parts:
        found = read_edtf(date.text)
        return {"literal": date.text} if found is None else found
    if not all(
        part.removeprefix("-").isdecimal() and len(part) <= _LONGEST_NUMBER for part in parts
    ):
        raise DateNotReadError("date")
    return {"date-parts": [[int(part) for part in parts]]}


def make_item(state: EditorState, *, is_lenient: bool = False) -> Item:
    """The whole record as the form has it; with `is_lenient` without dates that cannot be read."""
    item: Item = {name: value for name, value in state.base.items() if name not in state.texts}
    item["type"] = state.type
    for name, text in state.texts.items():
        try:
            value = make_value(text)
        except DateNotReadError as error:
            if not is_lenient:
                state.errors[name] = str(error)
            continue
        if value is not None:
            item[name] = value
    return item


def merge_states(state: EditorState, present: Item) -> tuple[EditorState, list[str]]:
    """What was typed, on the record as it is now; and the fields that both sides changed.

    A field that the person did not touch says what it says now.
    """
    merged = open_state(present)
    merged.type = state.type if state.type != state.base.get("type") else merged.type
    both: list[str] = []
    for name, text in state.texts.items():
        before, now = read_text(state.base, name), read_text(present, name)
        if text in (before, now) or (before is None and text == _empty(name)):
            continue
        merged.texts[name] = text
        if before != now:
            both.append(name)
    return merged, both


def read_base(form: FieldValues) -> Item:
    """The record that the form began with. Raises InvalidInputError."""
    found = _read_object(form.whole_text("base"))
    if found is None:
        raise InvalidInputError(
            "The form does not say which record it began with",
            next_step="Open the editor again; what you typed is still in the page before.",
        )
    return found


def _read_object(text: str) -> dict[str, Any] | None:
    if not text:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def first_part(problem: str) -> str:
    """The variable of a problem's place, such as `author` of `author[0].given`."""
    return re.split(r"[\[.]", problem, maxsplit=1)[0]


def list_new_fields(shown: Iterable[str]) -> list[str]:
    """The variables that can still be added to the form."""
    return sorted(FORM_FIELDS - set(shown), key=str.lower)
