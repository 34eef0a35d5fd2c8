"""What notes point at and what points back, handed from room to room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from carrel.core.caller import Call, Caller
from carrel.core.errors import CarrelError
from carrel.core.note_links import NoNotes, NoteLink, NotesAbout
from carrel.rooms.knowledge.links import LinkKind, LinkTarget
from carrel.rooms.knowledge.ports import LinkedThing

FindThing = Callable[[str, Call], Awaitable[LinkedThing]]


class LateNotes:
    """The notes of the desk; none until the knowledge room is open."""

    def __init__(self) -> None:
        self._notes: NotesAbout = NoNotes()

    def bind(self, notes: NotesAbout) -> None:
        self._notes = notes

    async def find(self, targets: Sequence[str], caller: Caller) -> list[NoteLink]:
        return await self._notes.find(targets, caller)


@dataclass(slots=True)
class DeskLinks:
    """The rooms that know what a link may point at, each for callers with its scope."""

    _rooms: dict[LinkKind, tuple[str, FindThing]] = field(default_factory=dict)

    def register(self, kinds: Sequence[LinkKind], scope: str, find: FindThing) -> None:
        for kind in kinds:
            self._rooms[kind] = (scope, find)

    async def find(self, target: LinkTarget, call: Call) -> LinkedThing | None:
        scope, find = self._rooms.get(target.kind, ("", None))
        if find is None or scope not in call.caller.scopes:
            return None
        try:
            return await find(target.key, call)
        except CarrelError:
            # What cannot be found now is shown as a link that leads nowhere yet.
            return None


@dataclass(frozen=True, slots=True)
class LinkExchange:
    """Both directions, opened once for all rooms."""

    notes: LateNotes = field(default_factory=LateNotes)
    things: DeskLinks = field(default_factory=DeskLinks)
