"""What becomes of a person's notes when the person leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

from carrel.core.clock import Clock
from carrel.rooms.knowledge.notes import Mine, Note, Remove, Replace, Team
from carrel.rooms.knowledge.ports import NoteStore

_SMALLEST_STEP = timedelta(microseconds=1)


class LeavingNotes:
    """The notes of one person; each change stands alone, so that it can be done again."""

    def __init__(self, store: NoteStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def count(self, name: str) -> dict[str, int]:
        """Own notes, and the team's that name the person as their author."""
        own = len([note async for note in self._own(name)])
        team = len([note async for note in self._teams(name)])
        return {"notes": own, "notes of the team by them": team}

    def export(self, name: str) -> AsyncIterator[Note]:
        return self._own(name)

    async def hand_over(self, name: str, other: str) -> None:
        """Own notes become the other's, in the state they have; so do those of the team."""
        for note in [note async for note in self._all(name)]:
            await self._rename(note, other)

    async def erase(self, name: str, stand_in: str) -> None:
        """Own notes end with their history; the team's stay, by nobody."""
        for note in [note async for note in self._own(name)]:
            await self._store.write([Remove(note.id, note.updated_at)])
        for note in [note async for note in self._teams(name)]:
            await self._rename(note, stand_in)

    async def _rename(self, note: Note, name: str) -> None:
        at = max(self._clock.now(), note.updated_at + _SMALLEST_STEP)
        changed = replace(note, user_id=name, updated_at=at)
        await self._store.write([Replace(changed, note.updated_at, name)])

    async def _all(self, name: str) -> AsyncIterator[Note]:
        async for note in self._own(name):
            yield note
        async for note in self._teams(name):
            yield note

    async def _own(self, name: str) -> AsyncIterator[Note]:
        async for note in self._store.everything(Mine(name)):
            yield note

    async def _teams(self, name: str) -> AsyncIterator[Note]:
        async for note in self._store.everything(Team()):
            if note.user_id == name:
                yield note
