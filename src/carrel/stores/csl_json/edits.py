"""What a change did to the elements of a library, in a form that can be done again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from carrel.stores.csl_json.chunked_list import ChunkedList, common_ends
from carrel.stores.csl_json.document import LibraryDocument, find_places_after
from carrel.stores.csl_json.library_entry import LibraryEntry


@dataclass(frozen=True, slots=True)
class Splice:
    """Elements taken out at a place of the state before, and those put in there."""

    at: int
    removed: int
    added: Sequence[LibraryEntry]


@dataclass(frozen=True, slots=True)
class Edits:
    """A change as it was made to the state of the revision `on`, which had `count` elements."""

    on: int
    count: int
    splices: Sequence[Splice]
    head: str
    tail: str

    @property
    def size(self) -> int:
        """How many elements are put in or taken out."""
        return sum(splice.removed + len(splice.added) for splice in self.splices)

    def record(self) -> dict[str, Any]:
        return {
            "on": self.on,
            "count": self.count,
            "splices": [
                [splice.at, splice.removed, [[each.lead, each.raw] for each in splice.added]]
                for splice in self.splices
            ],
            "head": self.head,
            "tail": self.tail,
        }

    @classmethod
    def parse(cls, record: dict[str, Any]) -> Edits:
        return cls(
            int(record["on"]),
            int(record["count"]),
            [
                Splice(int(at), int(removed), [LibraryEntry(lead, raw) for lead, raw in added])
                for at, removed, added in record["splices"]
            ],
            str(record["head"]),
            str(record["tail"]),
        )


def find_edits(on: int, before: LibraryDocument, after: LibraryDocument) -> Edits:
    """What leads from one state to the other; elements that stay are the same objects."""
    splices = list(_find_splices(before.entries, after.entries))
    return Edits(on, len(before.entries), splices, after.head, after.tail)


def _find_splices(
    before: ChunkedList[LibraryEntry], after: ChunkedList[LibraryEntry]
) -> Iterator[Splice]:
    first, last = common_ends(before, after)
    places = {id(entry): at for at, entry in enumerate(before[first : len(before) - last], first)}
    reached, waiting = first, []
    for entry in after[first : len(after) - last]:
        place = places.get(id(entry), -1)
        if place < reached:
            waiting.append(entry)
            continue
        if place > reached or waiting:
            yield Splice(reached, place - reached, waiting)
        reached, waiting = place + 1, []
    if waiting or reached < len(before) - last:
        yield Splice(reached, len(before) - last - reached, waiting)


def apply_edits(document: LibraryDocument, edits: Sequence[Edits]) -> LibraryDocument:
    """The state after some changes, each made to what the one before it left."""
    entries, places = document.entries, document.reusable_places
    head, tail = document.head, document.tail
    for each in edits:
        if each.count == len(entries):
            for splice in reversed(each.splices):
                change = (splice.at, splice.removed, splice.added)
                places = find_places_after(places, entries, *change)
                entries = entries.splice(*change)
        else:
            entries, places = _put_by_id(entries, each), None
        head, tail = each.head, each.tail
    return LibraryDocument(entries, head, tail, places)


def _put_by_id(present: ChunkedList[LibraryEntry], edits: Edits) -> ChunkedList[LibraryEntry]:
    """The elements with those of a change whose state before was lost; nothing is taken out."""
    entries = list(present)
    places = {entry.item_id: at for at, entry in enumerate(entries) if entry.item_id}
    for splice in edits.splices:
        for entry in splice.added:
            if entry.item_id in places:
                entries[places[entry.item_id]] = entry
            else:
                entries.append(entry)
    return ChunkedList(entries)
