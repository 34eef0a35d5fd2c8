"""The items of a library file by the keys of their works, following one change at its own cost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection

from carrel.rooms.references.items import Item, WorkKey, WorksByKey, lookup_keys
from carrel.stores.csl_json.chunked_list import common_ends
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.library_entry import LibraryEntry


class WorkIndex:
    """Answers for any state of one library, fastest for one that is near the last asked for.

    Keys are remembered by their hash alone; what is found is compared with the item itself.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._document = LibraryDocument()
        self._entries: dict[int, LibraryEntry | tuple[LibraryEntry, ...]] = {}
        self._ids: Counter[str] = Counter()
        self._odd: tuple[LibraryDocument, WorksByKey] | None = None

    def find(self, document: LibraryDocument, keys: Collection[WorkKey]) -> list[Item]:
        """Copies of the items that have one of these keys, in the order of the library."""
        if not keys:
            return []
        with self._mutex:
            if not document.has_only_items:
                return [dict(item) for item in self._index_odd(document).find(keys)]
            self._follow(document)
            wanted = set(keys)
            found = {
                entry.item_id or ""
                for key in wanted
                for entry in _as_tuple(self._entries.get(hash(key), ()))
                if not wanted.isdisjoint(lookup_keys(entry.parse_value()))
            }
        places = sorted(at for one in found if (at := document.place(one)) is not None)
        return [dict(document.item_at(at)) for at in places]

    def has_id(self, document: LibraryDocument, reference_id: str) -> bool:
        """Whether an item has this id, which is in lower case, in any case."""
        with self._mutex:
            if not document.has_only_items:
                return reference_id in {str(one.get("id", "")).lower() for one in document.items()}
            self._follow(document)
            return self._ids[reference_id] > 0

    def follow(self, document: LibraryDocument) -> None:
        """Get ready for a state; the first one of a large library takes a while."""
        with self._mutex:
            if document.has_only_items:
                self._follow(document)

    def _index_odd(self, document: LibraryDocument) -> WorksByKey:
        """A library with elements that have no id, or share one, is indexed anew."""
        if self._odd is None or self._odd[0] is not document:
            self._odd = (document, WorksByKey(document.items()))
        return self._odd[1]

    def _follow(self, document: LibraryDocument) -> None:
        before, self._odd = self._document, None
        if before is document:
            return
        first, last = common_ends(before.entries, document.entries)
        older = before.entries[first : len(before.entries) - last]
        newer = document.entries[first : len(document.entries) - last]
        kept = {id(entry) for entry in older} & {id(entry) for entry in newer}
        for entry in older:
            if id(entry) not in kept:
                self._remove(entry)
        for entry in newer:
            if id(entry) not in kept:
                self._add(entry)
        self._document = document

    def _add(self, entry: LibraryEntry) -> None:
        self._ids[(entry.item_id or "").lower()] += 1
        for key in {hash(each) for each in lookup_keys(entry.parse_value())}:
            present = self._entries.get(key)
            self._entries[key] = entry if present is None else (*_as_tuple(present), entry)

    def _remove(self, entry: LibraryEntry) -> None:
        name = (entry.item_id or "").lower()
        self._ids[name] -= 1
        if not self._ids[name]:
            del self._ids[name]
        for key in {hash(each) for each in lookup_keys(entry.parse_value())}:
            rest = tuple(one for one in _as_tuple(self._entries[key]) if one is not entry)
            if rest:
                self._entries[key] = rest[0] if len(rest) == 1 else rest
            else:
                del self._entries[key]


class TakenIds:
    """Which ids an item of a state has, asked in lower case."""

    def __init__(self, works: WorkIndex, document: LibraryDocument) -> None:
        self._works = works
        self._document = document

    def __contains__(self, reference_id: object) -> bool:
        return self._works.has_id(self._document, str(reference_id))


def _as_tuple(
    found: LibraryEntry | tuple[LibraryEntry, ...],
) -> tuple[LibraryEntry, ...]:
    return found if isinstance(found, tuple) else (found,)
