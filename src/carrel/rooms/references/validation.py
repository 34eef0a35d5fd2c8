"""CSL-JSON in libraries: normalises imports, refuses invalid edits."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.core.errors import InvalidInputError
from carrel.libraries.bibliography import read_edtf
from carrel.libraries.csl.name_lists import ET_AL_KEY, ends_in_et_al, move_et_al
from carrel.libraries.csl.schema import (
    DATE_VARIABLES,
    NAME_PARTS,
    NAME_VARIABLES,
    TEXT_VARIABLES,
    VARIABLES,
    FieldProblem,
    check_calendar,
    check_field,
    check_item,
)
from carrel.rooms.references.items import Item, custom
from carrel.rooms.references.ports import Change

_NOT_EDITABLE = frozenset({"id", "custom"})
_MOST_SHOWN = 5


class FieldsNotValidError(InvalidInputError):
    """Fields that CSL-JSON does not allow; each is named with what is expected there."""

    def __init__(self, problems: list[FieldProblem]) -> None:
        super().__init__(
            "; ".join(problem.sentence() for problem in problems[:_MOST_SHOWN]),
            next_step="Send the field as CSL-JSON describes it, or null to remove it; nothing was "
            "changed.",
            details={
                "field": problems[0].field,
                "fields": [
                    {"field": problem.field, "expected": problem.expected, "found": problem.found}
                    for problem in problems
                ],
            },
        )


@dataclass(frozen=True, slots=True)
class ConformedItem:
    """An item in valid form, the fields moved for that, and the remaining problems."""

    item: Item
    notices: tuple[str, ...] = ()
    problems: tuple[FieldProblem, ...] = ()


def conform_item(item: Item) -> ConformedItem:
    """An imported item in CSL-JSON's shape; what CSL has no variable for is in `custom.fields`."""
    shaped: Item = {}
    others: Item = {}
    notices: list[str] = []
    for name, value in item.items():
        if value is None:
            continue
        if name not in VARIABLES:
            others[name] = value
        elif (
            name in TEXT_VARIABLES
            and isinstance(value, int | float)
            and not isinstance(value, bool)
        ):
            shaped[name] = str(value)
        elif name == "keyword" and isinstance(value, list):
            shaped[name] = "; ".join(str(word).strip() for word in value if str(word).strip())
        elif name in NAME_VARIABLES and isinstance(value, list):
            shaped[name] = [
                _plain_name(person, name, others) for person in value if person not in ({}, "")
            ]
        else:
            shaped[name] = value
    if others:
        own = dict(custom(shaped))
        known = own.get("fields")
        own["fields"] = (known if isinstance(known, dict) else {}) | others
        shaped["custom"] = own
        names = ", ".join(sorted(others)[:_MOST_SHOWN])
        notices.append(
            f"Not CSL variables, kept under custom.fields: "
            f"{names}{' …' if len(others) > _MOST_SHOWN else ''}"
        )
    move_et_al(shaped)
    return ConformedItem(shaped, tuple(notices), tuple(check_item(shaped)))


def _plain_name(person: object, variable: str, others: Item) -> object:
    """A name with CSL's parts; others of a person, such as an ORCID, go to `others`."""
    if not isinstance(person, dict):
        return person
    further = {
        part: content
        for part, content in person.items()
        if part not in NAME_PARTS and content not in (None, "", [], {})
    }
    if further:
        named = {part: person[part] for part in ("family", "given", "literal") if part in person}
        others.setdefault(f"{variable}-details", []).append(named | further)
    return {
        part: content
        for part, content in person.items()
        if part in NAME_PARTS and content is not None
    }


def check_changes(changes: Mapping[str, object]) -> Callable[[Item], Change]:
    """The change of an edit; raises FieldsNotValidError if CSL-JSON does not allow it."""
    protected = sorted(_NOT_EDITABLE & set(changes))
    if protected:
        raise InvalidInputError(
            f"{', '.join(protected)} cannot be edited",
            next_step="Change other fields.",
            details={"field": protected[0]},
        )
    removed = tuple(name for name, value in changes.items() if value is None)
    if "type" in removed:
        raise FieldsNotValidError(list(check_field("type", None)))
    values: Item = {}
    for name, value in changes.items():
        if value is not None:
            date = read_edtf(value) if name in DATE_VARIABLES and isinstance(value, str) else None
            values[name] = value if date is None else date
    problems = check_item(values) or check_calendar(values)
    if problems:
        raise FieldsNotValidError(problems)
    return lambda present: _with_et_al(present, values, removed)


def _with_et_al(present: Item, values: Item, removed: tuple[str, ...]) -> Change:
    """Mark new name lists that end in a name such as `others` as incomplete, in `custom`."""
    touched = NAME_VARIABLES & {*values, *removed}
    marked = custom(present).get(ET_AL_KEY)
    known = (
        {name for name in marked if isinstance(name, str)} if isinstance(marked, list) else set()
    )
    going_on = {name for name in touched if ends_in_et_al(values.get(name))}
    if not going_on and not known & touched:
        return Change(values, removed)
    shaped = dict(values)
    move_et_al(shaped)
    shaped.pop("custom", None)
    emptied = tuple(name for name in going_on if name not in shaped)
    marks = sorted((known - touched) | going_on)
    own = {name: value for name, value in custom(present).items() if name != ET_AL_KEY} | (
        {ET_AL_KEY: marks} if marks else {}
    )
    return Change(
        shaped | ({"custom": own} if own else {}),
        (*removed, *emptied, *(() if own else ("custom",))),
    )


MAX_DEPTH = 200
MAX_KEY_CHARS = 500
# What every JSON reader takes for a whole number.
_LARGEST_INTEGER = 2**63 - 1


class NotStorableError(InvalidInputError):
    """The item cannot be kept as it is; says what in it is wrong."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"The entry cannot be kept: {problem}", next_step="Correct the entry and add it again."
        )


def check_storable(item: Item) -> None:
    """Raises NotStorableError for an item that no library file can hold."""
    waiting: list[tuple[Any, str, int]] = [(item, "", 0)]
    while waiting:
        value, place, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise NotStorableError(
                f"{place.partition('.')[0] or 'it'} is nested more than {MAX_DEPTH} deep"
            )
        match value:
            case None | bool():
                continue
            case str():
                _check_text(value, place)
            case int():
                if abs(value) > _LARGEST_INTEGER:
                    raise NotStorableError(f"{place or 'it'} holds a number of more than 18 digits")
            case float():
                if not math.isfinite(value):
                    raise NotStorableError(f"{place or 'it'} holds a number that is not finite")
            case dict():
                for name, inner in value.items():
                    _check_text(str(name), "a field's name")
                    waiting.append((inner, f"{place}.{name}" if place else str(name), depth + 1))
            case list():
                waiting.extend((inner, place, depth + 1) for inner in value)
            case _:
                raise NotStorableError(f"{place or 'it'} holds a {type(value).__name__}")


def is_usable_key(key: str) -> bool:
    """Whether a reference can be asked for by this key: visible and not too long."""
    return (
        bool(key.strip())
        and len(key) <= MAX_KEY_CHARS
        and not any(unicodedata.category(sign) == "Cc" for sign in key)
    )


def _check_text(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotStorableError(
            f"{_printable(place) or 'it'} holds a lone surrogate, which is no Unicode text"
        ) from None


def _printable(place: str) -> str:
    return place.encode(errors="replace").decode()[:200]
