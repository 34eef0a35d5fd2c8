"""One element of a library file: its text, and its value once somebody asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from json.decoder import WHITESPACE, scanstring  # type: ignore[attr-defined]
from typing import Any

_DECODER = json.JSONDecoder()


class _NotParsed:
    """Stands for a value that was not parsed yet."""


_NOT_PARSED = _NotParsed()


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One element of the array: the white space before it, and its text."""

    lead: str
    raw: str
    # Parsed when first asked for: a library that is only added to needs few of its values.
    _value: Any = field(init=False, default=_NOT_PARSED, compare=False, repr=False)
    _id: str | _NotParsed | None = field(init=False, default=_NOT_PARSED, compare=False, repr=False)
    _derived: dict[str, Any] | None = field(init=False, default=None, compare=False, repr=False)

    @property
    def value(self) -> Any:
        """The JSON value, the same object at every call."""
        if self._value is _NOT_PARSED:
            object.__setattr__(self, "_value", json.loads(self.raw))
        return self._value

    def parse_value(self) -> Any:
        """The JSON value, which is not kept: for a look at every element of a large library."""
        return json.loads(self.raw) if self._value is _NOT_PARSED else self._value

    @property
    def item_id(self) -> str | None:
        if isinstance(self._id, _NotParsed):
            self.know_id(self.parse_value())
        return self._id  # type: ignore[return-value]

    def know_id(self, value: Any) -> None:
        """Take the id from a value that was just parsed."""
        found = value.get("id") if isinstance(value, dict) else None
        is_id = isinstance(found, (str, int)) and not isinstance(found, bool)
        object.__setattr__(self, "_id", str(found) if is_id else None)

    def with_derived_id(self, derived: str) -> dict[str, Any]:
        """The item under an id that its text does not have, the same object at every call."""
        if self._derived is None or self._derived["id"] != derived:
            rest = {name: value for name, value in self.value.items() if name != "id"}
            object.__setattr__(self, "_derived", {"id": derived, **rest})
        return self._derived  # type: ignore[return-value]

    def with_changes(
        self, changes: Mapping[str, object], removed: Iterable[str] = ()
    ) -> LibraryEntry:
        """The same item with some fields changed; the text of all others stays as it was."""
        fields = object_fields(self.raw)
        for name in removed:
            fields.pop(name, None)
        for name, value in changes.items():
            fields[name] = dump_value(value, indent="    ")
        return replace(self, raw=object_text(fields, "    ", "  "))


def dump_value(value: object, indent: str) -> str:
    """JSON as the file has it: two spaces, characters as they are, continued at `indent`."""
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + indent)


def object_fields(raw: str) -> dict[str, str]:
    """The fields of an object with the text of their values; the last of equal names wins."""
    fields: dict[str, str] = {}
    at = skip_white_space(raw, 1)
    while raw[at] != "}":
        name, at = scanstring(raw, at + 1)
        at = skip_white_space(raw, skip_white_space(raw, at) + 1)
        _, end = _DECODER.raw_decode(raw, at)
        fields[name] = raw[at:end]
        at = skip_white_space(raw, end)
        if raw[at] == ",":
            at = skip_white_space(raw, at + 1)
    return fields


def object_text(fields: Mapping[str, str], indent: str, closing: str) -> str:
    if not fields:
        return "{}"
    rows = ",\n".join(
        f"{indent}{json.dumps(name, ensure_ascii=False)}: {text}" for name, text in fields.items()
    )
    return f"{{\n{rows}\n{closing}}}"


def skip_white_space(text: str, at: int) -> int:
    found = WHITESPACE.match(text, at)
    return int(found.end()) if found else at
