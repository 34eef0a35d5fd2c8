"""The library file as text: items and fields keep their own bytes until they are changed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

from carrel.libraries.bibliography.citation_keys import distinct_key, make_key
from carrel.rooms.references.items import first_family, former_ids, text_of, year_of
from carrel.stores.csl_json.chunked_list import ChunkedList
from carrel.stores.csl_json.element_places import ElementPlaces
from carrel.stores.csl_json.library_entry import LibraryEntry, dump_value, skip_white_space

_DECODER = json.JSONDecoder()
BYTE_ORDER_MARK = "\ufeff"
# How many elements are joined at once.
_CHUNK_PIECES = 500


class UnreadableLibraryError(ValueError):
    """The file is not a CSL-JSON array, at least not now."""


def derive_key(item: dict[str, Any]) -> str:
    """The key that an item without an id would get if it were added to an empty library."""
    return make_key(first_family(item), year_of(item), text_of(item, "title"))


@dataclass(frozen=True)
class LibraryDocument:
    """The whole file. `tail` is what stands between the last element and the end."""

    entries: ChunkedList[LibraryEntry] = field(default_factory=ChunkedList)
    head: str = "["
    tail: str = "]\n"
    # The first place of each id; handed on to a changed document where it still holds.
    known_places: ElementPlaces | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.known_places is None or len(self.known_places) != len(self.entries):
            # From the end, so that the first of equal ids stays.
            last = len(self.entries) - 1
            found = {entry.item_id: last - at for at, entry in enumerate(reversed(self.entries))}
            places = {item_id: at for item_id, at in found.items() if item_id}
            if len(places) != len(self.entries):
                self._derive_ids(places)
            object.__setattr__(self, "known_places", ElementPlaces(places))

    @property
    def _places(self) -> ElementPlaces:
        return ElementPlaces({}) if self.known_places is None else self.known_places

    @cached_property
    def _derived_ids(self) -> dict[int, str]:
        """Ids for the items that have none in the file, by their position."""
        return {}

    def _derive_ids(self, places: dict[str, int]) -> None:
        """Give items without an id the key that they would get if they were added here.

        It depends on the file alone, so every process derives the same.
        """
        unnamed = [
            at
            for at, entry in enumerate(self.entries)
            if not entry.item_id and isinstance(entry.value, dict) and entry.value
        ]
        # A key that a reference had before still leads to it.
        taken = {item_id.lower() for item_id in [*places, *(self._former_ids() if unnamed else ())]}
        for at in unnamed:
            key = derive_key(self.entries[at].value)
            self._derived_ids[at] = derived = distinct_key(key, taken)
            places[derived] = at
            taken.add(derived.lower())

    def _former_ids(self) -> Iterator[str]:
        for entry in self.entries:
            if '"former_ids"' in entry.raw and isinstance(value := entry.parse_value(), dict):
                yield from former_ids(value)

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

    @property
    def text(self) -> str:
        return "".join(self._pieces())

    @property
    def data(self) -> bytes:
        return b"".join(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        """The bytes of the file piece by piece, so that writing them never holds up a thread."""
        pieces = self._pieces()
        while chunk := "".join(itertools.islice(pieces, _CHUNK_PIECES)):
            yield chunk.encode("utf-8")

    def _pieces(self) -> Iterator[str]:
        if not self.entries:
            yield self.head.rstrip() + self.tail.lstrip()
            return
        before = self.head
        for entry in self.entries:
            yield before + entry.lead + entry.raw
            before = ","
        yield self.tail

    @property
    def has_only_items(self) -> bool:
        """Whether every element is an item with an id of its own."""
        return len(self._places) == len(self.entries) and not self._derived_ids

    def get(self, item_id: str) -> LibraryEntry | None:
        at = self._places.get(item_id)
        return None if at is None else self.entries[at]

    def derived_ids(self) -> Iterator[tuple[LibraryEntry, str]]:
        """The items that have no id in the file, each with the one that it is found under."""
        for at, derived in self._derived_ids.items():
            yield self.entries[at], derived

    def place(self, item_id: str) -> int | None:
        """The place of an item among the elements, or None."""
        return self._places.get(item_id)

    def find(self, item_id: str) -> dict[str, Any] | None:
        """The item of that id, or None."""
        at = self._places.get(item_id)
        return None if at is None else self._item(at)

    def items(self) -> Sequence[dict[str, Any]]:
        """Every item, the same object as long as its text is the same; parsed as it is read."""
        return DocumentItems(self, self._item_places)

    @cached_property
    def _item_places(self) -> Sequence[int]:
        """The places of the elements that are items, in order."""
        if self.has_only_items:
            return range(len(self.entries))
        return [
            at for at, entry in enumerate(self.entries) if at in self._derived_ids or entry.item_id
        ]

    def elements(self) -> ChunkedList[LibraryEntry] | None:
        """One object for each item, the same as long as its text is; None where that is unsure."""
        return self.entries if self.has_only_items else None

    def text_at(self, number: int) -> tuple[str, dict[str, Any]]:
        """The text of an item in the file, and the item, which is not kept."""
        at = self._item_places[number]
        return self.entries[at].raw, self.parse_item(at)

    @property
    def item_count(self) -> int:
        """How many items there are."""
        return len(self._item_places)

    def item_at(self, at: int) -> dict[str, Any]:
        """The item at a place."""
        return self._item(at)

    def parse_item(self, at: int) -> dict[str, Any]:
        """The item at a place, which is not kept."""
        found: dict[str, Any] = (
            self._item(at) if at in self._derived_ids else self.entries[at].parse_value()
        )
        return found

    def _item(self, at: int) -> dict[str, Any]:
        derived = self._derived_ids.get(at)
        entry = self.entries[at]
        found: dict[str, Any] = entry.value if derived is None else entry.with_derived_id(derived)
        return found

    def reuse_entries(self, before: LibraryDocument) -> LibraryDocument:
        """The same document, with the entries of an earlier one where their texts are the same."""
        known = {entry.raw: entry for entry in before.entries}
        same = (known.get(entry.raw, entry) for entry in self.entries)
        entries = ChunkedList(
            old if old.lead == entry.lead else entry
            for old, entry in zip(same, self.entries, strict=True)
        )
        return LibraryDocument(entries, self.head, self.tail)

    def with_added(self, items: Iterable[Mapping[str, object]]) -> LibraryDocument:
        added = tuple(LibraryEntry("\n  ", dump_value(dict(item), indent="  ")) for item in items)
        return self.with_entries_added(added) if added else self

    def with_entries_added(self, added: Sequence[LibraryEntry]) -> LibraryDocument:
        """The document with more elements at its end."""
        tail = (
            self.tail
            if self.entries and "\n" in self.tail.partition("]")[0]
            else "\n" + self.tail.lstrip()
        )
        entries, places = self.splice(len(self.entries), 0, added)
        return LibraryDocument(entries, self.head, tail, places)

    def with_entry(self, item_id: str, entry: LibraryEntry) -> LibraryDocument:
        entries, places = self.splice(self._places[item_id], 1, [entry])
        return LibraryDocument(entries, self.head, self.tail, places)

    def with_entries(
        self, changed: Mapping[str, LibraryEntry], removed: Iterable[str]
    ) -> LibraryDocument:
        """The document with other entries for some ids, and without others; all must be there."""
        fresh = {self._places[item_id]: entry for item_id, entry in changed.items()}
        gone = {self._places[item_id] for item_id in removed}
        entries = ChunkedList(
            fresh.get(at, entry) for at, entry in enumerate(self.entries) if at not in gone
        )
        return LibraryDocument(entries, self.head, self.tail)

    def without(self, item_id: str) -> LibraryDocument:
        entries, places = self.splice(self._places[item_id], 1, ())
        return LibraryDocument(entries, self.head, self.tail, places)

    def without_all(self, item_ids: Iterable[str]) -> LibraryDocument:
        """The document without the items of these ids; each must be there."""
        return self.with_entries({}, item_ids)

    def splice(
        self, at: int, removed: int, added: Sequence[LibraryEntry]
    ) -> tuple[ChunkedList[LibraryEntry], ElementPlaces | None]:
        """The elements with some taken out at a place and others put in; places if still known."""
        places = find_places_after(self.reusable_places, self.entries, at, removed, added)
        return self.entries.splice(at, removed, added), places

    @property
    def reusable_places(self) -> ElementPlaces | None:
        """The places of all elements, where a change can begin with them."""
        return self.known_places if self.has_only_items else None


class DocumentItems(Sequence[dict[str, Any]]):
    """The items of a library in order; one is parsed when it is first read."""

    def __init__(self, document: LibraryDocument, places: Sequence[int]) -> None:
        self._document = document
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[dict[str, Any]]: ...

    def __getitem__(self, at: int | slice) -> dict[str, Any] | Sequence[dict[str, Any]]:
        if isinstance(at, slice):
            return DocumentItems(self._document, self._places[at])
        return self._document.item_at(self._places[at])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self._document.item_at, self._places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def _parse_document(text: str) -> LibraryDocument:
    start = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    at = skip_white_space(text, start)
    if not text[at:]:
        return LibraryDocument(ChunkedList(), text[:start] + "[", "]\n")
    if text[at] != "[":
        raise UnreadableLibraryError("it does not hold an array of references")
    head = text[: at + 1]
    entries: list[LibraryEntry] = []
    # Most elements have the same white space before them.
    leads: dict[str, str] = {}
    at += 1
    while True:
        begins = skip_white_space(text, at)
        if not entries and text[begins : begins + 1] == "]":
            break
        value, end = _DECODER.raw_decode(text, begins)
        lead = text[at:begins]
        entry = LibraryEntry(leads.setdefault(lead, lead), text[begins:end])
        entry.know_id(value)
        entries.append(entry)
        at = end
        follows = skip_white_space(text, end)
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
    return LibraryDocument(ChunkedList(entries), head, tail)


def find_places_after(
    places: ElementPlaces | None,
    entries: ChunkedList[LibraryEntry],
    at: int,
    removed: int,
    added: Sequence[LibraryEntry],
) -> ElementPlaces | None:
    """The places once some elements are taken out and others put in; None where they moved."""
    if places is None:
        return None
    if removed == 0 and at == len(entries):
        numbered = enumerate(added, start=at)
        return places.with_added((each.item_id, at) for at, each in numbered if each.item_id)
    older = entries[at : at + removed]
    is_same = [each.item_id for each in older] == [each.item_id for each in added]
    return places if is_same else None
