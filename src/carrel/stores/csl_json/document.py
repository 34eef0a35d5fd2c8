"""The library file as text: items and fields keep their own bytes until they are changed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from json.decoder import WHITESPACE, scanstring  # type: ignore[attr-defined]
from typing import Any

from carrel.libraries.bibliography.citation_keys import distinct_key, make_key
from carrel.rooms.references.items import first_family, text_of, year_of

BYTE_ORDER_MARK = "\ufeff"
_DECODER = json.JSONDecoder()


class UnreadableLibraryError(ValueError):
    """The file is not a CSL-JSON array, at least not now."""


@dataclass(frozen=True)
class LibraryEntry:
    """One element of the array: the white space before it, and its text."""

    lead: str
    raw: str

    @cached_property
    def value(self) -> Any:
        return json.loads(self.raw)

    @property
    def item_id(self) -> str | None:
        value = self.value
        found = value.get("id") if isinstance(value, dict) else None
        return str(found) if isinstance(found, (str, int)) and not isinstance(found, bool) else None

    def with_derived_id(self, derived: str) -> dict[str, Any]:
        """The item under an id that its text does not have, the same object at every call."""
        made: dict[str, dict[str, Any]] = self.__dict__.setdefault("_with_derived_id", {})
        if derived not in made:
            rest = {name: value for name, value in self.value.items() if name != "id"}
            made[derived] = {"id": derived, **rest}
        return made[derived]

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


@dataclass(frozen=True)
class LibraryDocument:
    """The whole file. `tail` is what stands between the last element and the end."""

    entries: tuple[LibraryEntry, ...] = ()
    head: str = "["
    tail: str = "]\n"
    _index: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    # Ids for the items that have none in the file, by their position.
    _derived_ids: dict[int, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        unnamed = []
        for at, entry in enumerate(self.entries):
            found = entry.item_id
            if found:
                self._index.setdefault(found, at)
            elif isinstance(entry.value, dict) and entry.value:
                unnamed.append(at)
        if unnamed:
            self._derive_ids(unnamed)

    def _derive_ids(self, unnamed: Iterable[int]) -> None:
        """Give items without an id the key that they would get if they were added here.

        It depends on the file alone, so every process derives the same.
        """
        taken = {item_id.lower() for item_id in self._index}
        for at in unnamed:
            value = self.entries[at].value
            key = make_key(first_family(value), year_of(value), text_of(value, "title"))
            self._derived_ids[at] = derived = distinct_key(key, taken)
            self._index[derived] = at
            taken.add(derived.lower())

    @classmethod
    def parse(cls, data: bytes) -> LibraryDocument:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnreadableLibraryError(f"it is not UTF-8 at byte {error.start}") from None
        try:
            return _parse_document(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise UnreadableLibraryError(f"it is not JSON: {error}") from None

    @cached_property
    def text(self) -> str:
        if not self.entries:
            return self.head.rstrip() + self.tail.lstrip()
        return self.head + ",".join(entry.lead + entry.raw for entry in self.entries) + self.tail

    @property
    def data(self) -> bytes:
        return self.text.encode("utf-8")

    def get(self, item_id: str) -> LibraryEntry | None:
        at = self._index.get(item_id)
        return None if at is None else self.entries[at]

    def find(self, item_id: str) -> dict[str, Any] | None:
        """The item of that id, or None."""
        at = self._index.get(item_id)
        return None if at is None else self._item(at)

    def items(self) -> list[dict[str, Any]]:
        """Every item, the same object as long as its text is the same."""
        if not self._derived_ids:
            return [entry.value for entry in self.entries if entry.item_id]
        return [
            self._item(at)
            for at, entry in enumerate(self.entries)
            if at in self._derived_ids or entry.item_id
        ]

    def texts(self) -> list[tuple[str, dict[str, Any]]]:
        """Every item with its text in the file, in order."""
        return [
            (entry.raw, self._item(at))
            for at, entry in enumerate(self.entries)
            if at in self._derived_ids or entry.item_id
        ]

    def _item(self, at: int) -> dict[str, Any]:
        derived = self._derived_ids.get(at)
        entry = self.entries[at]
        return entry.value if derived is None else entry.with_derived_id(derived)

    def reuse_entries(self, before: LibraryDocument) -> LibraryDocument:
        """The same document, with the entries of an earlier one where their texts are the same."""
        known = {entry.raw: entry for entry in before.entries}
        same = (known.get(entry.raw, entry) for entry in self.entries)
        entries = tuple(
            old if old.lead == entry.lead else entry
            for old, entry in zip(same, self.entries, strict=True)
        )
        return LibraryDocument(entries, self.head, self.tail)

    def with_added(self, items: Iterable[Mapping[str, object]]) -> LibraryDocument:
        added = tuple(LibraryEntry("\n  ", dump_value(dict(item), indent="  ")) for item in items)
        tail = (
            self.tail
            if self.entries and "\n" in self.tail.partition("]")[0]
            else "\n" + self.tail.lstrip()
        )
        return LibraryDocument((*self.entries, *added), self.head, tail if added else self.tail)

    def with_entry(self, item_id: str, entry: LibraryEntry) -> LibraryDocument:
        at = self._index[item_id]
        return LibraryDocument(
            (*self.entries[:at], entry, *self.entries[at + 1 :]), self.head, self.tail
        )

    def without(self, item_id: str) -> LibraryDocument:
        at = self._index[item_id]
        return LibraryDocument((*self.entries[:at], *self.entries[at + 1 :]), self.head, self.tail)

    def without_all(self, item_ids: Iterable[str]) -> LibraryDocument:
        """The document without the items of these ids; each must be there."""
        places = {self._index[item_id] for item_id in item_ids}
        entries = tuple(entry for at, entry in enumerate(self.entries) if at not in places)
        return LibraryDocument(entries, self.head, self.tail)


def dump_value(value: object, indent: str) -> str:
    """JSON as the file has it: two spaces, characters as they are, continued at `indent`."""
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + indent)


def object_fields(raw: str) -> dict[str, str]:
    """The fields of an object with the text of their values; the last of equal names wins."""
    fields: dict[str, str] = {}
    at = _skip(raw, 1)
    while raw[at] != "}":
        name, at = scanstring(raw, at + 1)
        at = _skip(raw, _skip(raw, at) + 1)
        _, end = _DECODER.raw_decode(raw, at)
        fields[name] = raw[at:end]
        at = _skip(raw, end)
        if raw[at] == ",":
            at = _skip(raw, at + 1)
    return fields


def object_text(fields: Mapping[str, str], indent: str, closing: str) -> str:
    if not fields:
        return "{}"
    rows = ",\n".join(
        f"{indent}{json.dumps(name, ensure_ascii=False)}: {text}" for name, text in fields.items()
    )
    return f"{{\n{rows}\n{closing}}}"


def _skip(text: str, at: int) -> int:
    found = WHITESPACE.match(text, at)
    return int(found.end()) if found else at


def _parse_document(text: str) -> LibraryDocument:
    start = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    at = _skip(text, start)
    if not text[at:]:
        return LibraryDocument((), text[:start] + "[", "]\n")
    if text[at] != "[":
        raise UnreadableLibraryError("it does not hold an array of references")
    head = text[: at + 1]
    entries: list[LibraryEntry] = []
    at += 1
    while True:
        begins = _skip(text, at)
        if not entries and text[begins : begins + 1] == "]":
            break
        value, end = _DECODER.raw_decode(text, begins)
        entry = LibraryEntry(text[at:begins], text[begins:end])
        # It is parsed already: what `value` would do again.
        entry.__dict__["value"] = value
        entries.append(entry)
        at = end
        follows = _skip(text, end)
        if text[follows : follows + 1] == ",":
            at = follows + 1
        elif text[follows : follows + 1] == "]":
            begins = follows
            break
        else:
            raise json.JSONDecodeError("expected ',' or ']'", text, follows)
    tail = text[at:] if entries else text[begins:]
    if text[begins + 1 :].strip():
        raise json.JSONDecodeError("something follows the array", text, begins + 1)
    return LibraryDocument(tuple(entries), head, tail)


# An element by its id and how many of that id came before; what has no id goes by its content.
ElementKey = tuple[str, int]
_DIGEST_BYTES = 10


def content_digest(value: object) -> str:
    """A digest of the JSON value, independent of white space, escapes and field order."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def field_digests(value: object) -> dict[str, str]:
    """The fields of an item by name; an element that is no object has none."""
    return (
        {name: content_digest(found) for name, found in value.items()}
        if isinstance(value, dict)
        else {}
    )


def digest_without_id(value: object) -> str | None:
    """The digest of an item without its id, or None where it has nothing but a type besides."""
    if not isinstance(value, dict):
        return None
    rest = {name: found for name, found in value.items() if name != "id"}
    return content_digest(rest) if set(rest) - {"type"} else None


def uuid_of(value: object) -> str | None:
    """The identity that Carrel and others give an item, under `custom.uuid`."""
    custom = value.get("custom") if isinstance(value, dict) else None
    found = custom.get("uuid") if isinstance(custom, dict) else None
    return found if isinstance(found, str) and found else None


def name_of(entry: LibraryEntry) -> str:
    return (
        f"id:{entry.item_id}" if entry.item_id is not None else f"raw:{content_digest(entry.value)}"
    )


def element_label(key: ElementKey) -> str:
    """The id of an element, or the digest of one that has none."""
    return key[0].partition(":")[2]


def entries_by_key(entries: Sequence[LibraryEntry]) -> dict[ElementKey, LibraryEntry]:
    seen: Counter[str] = Counter()
    keyed: dict[ElementKey, LibraryEntry] = {}
    for entry in entries:
        name = name_of(entry)
        keyed[name, seen[name]] = entry
        seen[name] += 1
    return keyed


def changed_entries(
    before: LibraryDocument, after: LibraryDocument
) -> tuple[dict[ElementKey, LibraryEntry], dict[ElementKey, LibraryEntry]]:
    """Elements that only `before` has, and those that only `after` has."""
    if before is after:
        return {}, {}
    old, new = {id(entry) for entry in before.entries}, {id(entry) for entry in after.entries}
    former, present = (
        [entry for entry in before.entries if id(entry) not in new],
        [each for each in after.entries if id(each) not in old],
    )
    left, right = _keys_in(before, former), _keys_in(after, present)
    same = {key for key, entry in left.items() if key in right and is_same(entry, right[key])}
    return (
        {key: entry for key, entry in left.items() if key not in same},
        {key: entry for key, entry in right.items() if key not in same},
    )


def is_same(one: LibraryEntry, other: LibraryEntry) -> bool:
    """Whether two entries say the same."""
    return one.raw == other.raw or content_digest(one.value) == content_digest(other.value)


def _keys_in(
    document: LibraryDocument, entries: Sequence[LibraryEntry]
) -> dict[ElementKey, LibraryEntry]:
    keys: dict[ElementKey, LibraryEntry] = {}
    for entry in entries:
        item_id = entry.item_id
        if item_id is None or document.get(item_id) is not entry:
            # A repeated id, or no id: its place among its likes must be counted.
            wanted = {id(each) for each in entries}
            return {
                key: each
                for key, each in entries_by_key(document.entries).items()
                if id(each) in wanted
            }
        keys[f"id:{item_id}", 0] = entry
    return keys


def as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
