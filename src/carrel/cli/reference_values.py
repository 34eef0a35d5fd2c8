"""The values of a reference's fields as a person reads them: names, dates, tags and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from carrel.rooms.references.attachments import list_named_files
from carrel.rooms.references.items import (
    Item,
    collections_of,
    custom,
    former_ids,
    read_state_of,
    tags,
)

# Kept for programs; a change of them says nothing to a reader.
_FOR_PROGRAMS = frozenset({"uuid", "created_at", "timestamp", "read_state_at"})
_SHOWN_BY_NAME = frozenset({"tags", "collections", "read_state", "attachments", "former_ids"})
_NAME_PARTS = ("family", "suffix")
_GIVEN_PARTS = ("given", "dropping-particle")


def readable_fields(item: Item) -> dict[str, str]:
    """Each field with its value in words; what `custom` holds stands under its own names."""
    found = {name: readable_value(value) for name, value in item.items() if name != "custom"}
    state = read_state_of(item)
    found |= {
        "tags": ", ".join(tags(item)),
        "collections": ", ".join(collections_of(item)),
        "read": "" if state == "unread" else state,
        "files": ", ".join(f"{file.name} ({file.role})" for file in list_named_files(item)),
        "former keys": ", ".join(former_ids(item)),
    }
    for name, value in custom(item).items():
        if name == "fields" and isinstance(value, Mapping):
            found |= {f"{name}.{each}": readable_value(text) for each, text in value.items()}
        elif name not in _FOR_PROGRAMS | _SHOWN_BY_NAME:
            found[name] = readable_value(value)
    return {name: text for name, text in found.items() if text}


def readable_value(value: object) -> str:
    """A CSL value in words: `Kuhn, Thomas S.; Popper, Karl`, `1962-03`; else as JSON."""
    match value:
        case None:
            return ""
        case str():
            return value
        case [dict(), *_] if names := _names(value):
            return names
        case {"date-parts": [*dates]} if written := _dates(dates):
            return written
        case {"literal": str(text)} | {"raw": str(text)}:
            return text
        case _:
            return orjson.dumps(value).decode()


def _names(people: Sequence[object]) -> str:
    """Empty where one of them is no name."""
    told = [_name(person) if isinstance(person, dict) else "" for person in people]
    return "; ".join(told) if all(told) else ""


def _name(person: Mapping[str, Any]) -> str:
    if isinstance(literal := person.get("literal"), str):
        return literal
    particle = [str(person[name]) for name in ("non-dropping-particle",) if person.get(name)]
    family = [str(person[name]) for name in _NAME_PARTS if person.get(name)]
    given = [str(person[name]) for name in _GIVEN_PARTS if person.get(name)]
    return ", ".join(" ".join(words) for words in (particle + family, given) if words)


def _dates(dates: list[Any]) -> str:
    told = [
        "-".join(str(part).zfill(2) for part in date) for date in dates if isinstance(date, list)
    ]
    return "/".join(told) if len(told) == len(dates) and all(told) else ""
