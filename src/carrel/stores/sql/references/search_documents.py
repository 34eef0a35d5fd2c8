"""Libraries that are rows as the documents of a search index, each for its owner alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from carrel.rooms.knowledge.documents import (
    Checkpoint,
    Document,
    DocumentChange,
    Drop,
    FieldKind,
    Put,
    Reset,
)
from carrel.stores.csl_json.search_documents import (
    REFERENCE_FIELDS,
    reference_document,
    reference_document_id,
)
from carrel.stores.sql.driver import Driver, Rows
from carrel.stores.sql.references.statements import REMOVED, parse_item

# Libraries of one person; whoever shares one is not known to search bodies.
_PERSONAL = "own-"
_PAGE = 500
# Changes are sent again from so long before the last one that was seen: servers' clocks differ.
_OVERLAP = timedelta(minutes=10)
_STATE = (
    "SELECT count(*), coalesce(sum(revision), 0), coalesce(min(epoch), ''), "
    "coalesce(max(epoch), '') FROM reference_libraries WHERE kind = 'personal'"
)
_REMOVALS = f"SELECT coalesce(sum(revision), 0) FROM reference_libraries WHERE kind = '{REMOVED}'"
_LAST_CHANGE = "SELECT coalesce(max(changed_at), '') FROM reference_changes"


@dataclass(frozen=True, slots=True)
class _Cursor:
    """The state of all libraries, when the last change of any was made, and what only grows.

    `changes` and `removals` are numbers; they are empty in a cursor of before they were counted.
    """

    state: str
    changed_at: str
    changes: str
    removals: str

    def __str__(self) -> str:
        return f"{self.state}|{self.changed_at}|{self.changes}|{self.removals}"

    @classmethod
    def parse(cls, text: str) -> _Cursor:
        state, changed_at, changes, removals = (*text.split("|"), "", "", "")[:4]
        return cls(state, changed_at, changes, removals)

    def is_followed_by(self, later: _Cursor) -> bool:
        """Whether the changes since are all that is new: no library went, and none went back."""
        return bool(
            self.changed_at
            and self.removals == later.removals
            and self.changes.isdecimal()
            and int(self.changes) <= int(later.changes)
        )


class RowReferences:
    """The index `references` over the libraries of everybody; any process goes on with a cursor."""

    index = "references"
    fields: Mapping[str, FieldKind] = REFERENCE_FIELDS

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        now = await self._read_cursor()
        before = None if since is None else _Cursor.parse(since)
        if before == now:
            return
        if before is None or not before.is_followed_by(now):
            yield Reset()
            async for document in self._everything():
                yield Put(document)
        else:
            async for change in self._changed_after(before.changed_at):
                yield change
        yield Checkpoint(str(now))

    async def close(self) -> None:
        await self._driver.close()

    async def _read_cursor(self) -> _Cursor:
        states, removals, changes = await self._driver.run(
            (_STATE, {}), (_REMOVALS, {}), (_LAST_CHANGE, {})
        )
        state = "-".join(str(value) for value in states[0])
        return _Cursor(state, str(changes[0][0]), str(states[0][1]), str(removals[0][0]))

    async def _everything(self) -> AsyncIterator[Document]:
        (libraries,) = await self._driver.run(
            ("SELECT library FROM reference_libraries WHERE kind = 'personal'", {})
        )
        for (library,) in libraries:
            async for document in self._all_of(str(library)):
                yield document

    async def _all_of(self, library: str) -> AsyncIterator[Document]:
        last = ""
        while True:
            (rows,) = await self._driver.run(
                (
                    "SELECT library, id, item FROM reference_items WHERE library = :library "
                    "AND id > :last ORDER BY id LIMIT :count",
                    {"library": library, "last": last, "count": _PAGE},
                )
            )
            for document in _documents(rows):
                yield document
            if len(rows) < _PAGE:
                return
            last = str(rows[-1][1])

    async def _changed_after(self, changed_at: str) -> AsyncIterator[DocumentChange]:
        first = datetime.fromisoformat(changed_at) - _OVERLAP
        since = first.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        (libraries,) = await self._driver.run(
            (
                "SELECT library, min(revision) FROM reference_changes WHERE changed_at >= :since "
                "GROUP BY library ORDER BY library",
                {"since": since},
            )
        )
        for library, revision in libraries:
            if not str(library).startswith(_PERSONAL):
                continue
            asked = {"library": library, "revision": revision}
            gone, present = await self._driver.run(
                (
                    "SELECT DISTINCT id FROM reference_versions WHERE library = :library AND "
                    "revision >= :revision AND is_present = 0 AND id NOT IN (SELECT id FROM "
                    "reference_items WHERE library = :library)",
                    asked,
                ),
                (
                    "SELECT library, id, item FROM reference_items WHERE library = :library AND "
                    "revision >= :revision ORDER BY id",
                    asked,
                ),
            )
            for (reference_id,) in gone:
                yield Drop(reference_document_id(_owner(str(library)), str(reference_id)))
            for document in _documents(present):
                yield Put(document)


def _documents(rows: Rows) -> list[Document]:
    found = []
    for library, _, item in rows:
        name = _owner(str(library))
        shown = reference_document(parse_item(item), name)
        found.append(Document(f"{name}/{shown.id}", shown.fields, shown.readers))
    return found


def _owner(library: str) -> str:
    return library.removeprefix(_PERSONAL)
