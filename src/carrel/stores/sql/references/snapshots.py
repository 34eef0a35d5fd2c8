"""The references of one library in memory, brought up to date by the rows that changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from carrel.rooms.references.items import Item
from carrel.stores.sql.references.statements import (
    LibraryHead,
    LibraryName,
    Steps,
    StoredItem,
    read_head,
    read_items,
)


@dataclass(frozen=True, slots=True)
class RowState:
    """A library as it was last read: an item is the same object as long as its row is the same."""

    head: LibraryHead
    stored: Sequence[StoredItem]
    items: Sequence[Item] = field(default=())

    @property
    def signature(self) -> tuple[int, ...]:
        return (int(self.head.epoch or "0", 16), self.head.revision)


class CachedRows:
    """Reads a library once, and afterwards what changed since."""

    def __init__(self, library: LibraryName) -> None:
        self._library = library
        self._state = RowState(LibraryHead("", 0), ())

    def last_state(self) -> RowState:
        return self._state

    def refresh(self) -> Steps[RowState]:
        """The present state. It may hold changes newer than its revision, which are read again."""
        head = yield from read_head(self._library)
        state = self._state
        if head == state.head:
            return state
        if head.epoch != state.head.epoch:
            state = RowState(LibraryHead(head.epoch, 0), ())
        known = {each.id: each for each in state.stored}
        since = {"since": state.head.revision}
        changed = yield from read_items(self._library, "revision > :since", since)
        rows = yield (
            """SELECT DISTINCT v.id FROM reference_versions v
            WHERE v.library = :library AND v.revision > :since AND NOT EXISTS
              (SELECT 1 FROM reference_items i WHERE i.library = v.library AND i.id = v.id)""",
            {"library": self._library.key, **since},
        )
        known.update((each.id, each) for each in changed)
        for (gone,) in rows:
            known.pop(str(gone), None)
        newest = self._state.head
        if newest.epoch == head.epoch and newest.revision > head.revision:
            # Another call has read on meanwhile; whoever it told of that must go on seeing it.
            return self._state
        stored = sorted(known.values(), key=lambda each: (each.place, each.id))
        self._state = RowState(head, stored, [each.item for each in stored])
        return self._state
