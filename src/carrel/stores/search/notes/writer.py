"""Writes changes of notes into the parts of an index; the caller holds its lock."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from carrel.rooms.knowledge.documents import Drop, NotePut
from carrel.rooms.knowledge.notes import Mine, MineAndTeam, Note, Proposals, Shelf, Team
from carrel.stores.search.errors import UnusablePartError
from carrel.stores.search.notes.documents import note_digest, note_documents, note_key
from carrel.stores.search.notes.state import IndexedNote, IndexState
from carrel.stores.search.parts import PartWriter, has_part

TEAM_PART = "team"
PROPOSALS_PART = "proposals"
PARTS_FOLDER = "parts"


def owner_part(user_id: str) -> str:
    """The part of one person's notes; its name does not reveal whose it is."""
    return f"own-{hashlib.sha256(user_id.encode()).hexdigest()[:24]}"


def parts_of_shelf(shelf: Shelf) -> tuple[str, ...]:
    """The parts that a reader of this shelf may see, and that therefore weigh its words."""
    match shelf:
        case Mine(user_id):
            return (owner_part(user_id),)
        case Team():
            return (TEAM_PART,)
        case MineAndTeam(user_id):
            return (TEAM_PART, owner_part(user_id))
        case Proposals():
            return (PROPOSALS_PART,)


def places_of(note: Note) -> frozenset[str]:
    if note.source == "team":
        return frozenset({TEAM_PART})
    own = {owner_part(note.user_id)}
    return frozenset(own | {PROPOSALS_PART} if note.status == "proposed" else own)


class IndexWriter:
    """One run of changes. Killed at any moment, the same changes can be written again.

    What a commit may leave behind is announced in the state before it and settled after it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = IndexState(folder)
        self.written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.state.close()

    def write(self, changes: Sequence[NotePut | Drop], cursor: str | None) -> dict[str, bytes]:
        """Write the changes; afterwards the index has followed its store up to the cursor.

        Returns the digest of each note named, empty for those that are gone.
        """
        latest = {_id_of(change): change for change in changes}
        held = self.state.find(list(latest))
        after: dict[str, IndexedNote | None] = {}
        seen: dict[str, bytes] = {}
        for note_id, change in latest.items():
            known = held.get(note_id)
            match change:
                case NotePut(note):
                    wanted = IndexedNote(note_digest(note), places_of(note))
                    seen[note_id] = wanted.digest
                    if known != wanted:
                        after[note_id] = wanted
                case Drop():
                    seen[note_id] = b""
                    if known is not None:
                        after[note_id] = None
        parts = self._write_parts(latest, held, after) if after else ()
        if after or cursor is not None:
            self.state.settle(after, parts, cursor)
        self.written += len(after)
        return seen

    def _write_parts(
        self,
        latest: dict[str, NotePut | Drop],
        held: dict[str, IndexedNote],
        after: dict[str, IndexedNote | None],
    ) -> Sequence[str]:
        touched: dict[str, list[str]] = {}
        announced: dict[str, frozenset[str]] = {}
        for note_id, wanted in after.items():
            before = held[note_id].places if note_id in held else frozenset[str]()
            both = before | (wanted.places if wanted is not None else frozenset())
            announced[note_id] = both
            for name in both:
                touched.setdefault(name, []).append(note_id)
        known_parts = self.state.read_parts()
        self.state.announce(announced)
        for name in sorted(touched):
            folder = self.folder / PARTS_FOLDER / name
            if name in known_parts and not has_part(folder):
                raise UnusablePartError(f"the index part {name} is gone")
            with PartWriter(folder) as writer:
                for note_id in touched[name]:
                    writer.remove_key(note_key(note_id))
                    wanted, change = after[note_id], latest[note_id]
                    if wanted is not None and name in wanted.places and isinstance(change, NotePut):
                        for document in note_documents(change.note):
                            writer.add(document)
        return sorted(touched)


def _id_of(change: NotePut | Drop) -> str:
    return change.note.id if isinstance(change, NotePut) else change.id
