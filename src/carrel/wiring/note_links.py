"""What notes point at and what points back, handed from room to room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.core.caller import Call, Caller
from carrel.core.errors import CarrelError, NotConfiguredError
from carrel.core.note_links import NoNotes, NoteLink, NotesAbout
from carrel.rooms.knowledge.links import LinkKind, LinkTarget
from carrel.rooms.knowledge.ports import LinkedThing
from carrel.rooms.papers.addition import PaperAdder
from carrel.rooms.papers.models import PassageHit
from carrel.wiring.desk_works import LibrariesAtHand
from carrel.wiring.outside_citations import LateCitationSearch

if TYPE_CHECKING:
    # Every desk opens this module, and few of them search outside.
    from carrel.rooms.literature.search import LiteratureSearch

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


KeepFound = Callable[[str, Sequence[PassageHit], Call], Awaitable[None]]


class LateTasks:
    """The research tasks that passages are found for; none until the research room is open."""

    def __init__(self) -> None:
        self._keep: KeepFound | None = None

    def bind(self, keep: KeepFound) -> None:
        self._keep = keep

    async def keep_found(self, task_id: str, hits: Sequence[PassageHit], call: Call) -> None:
        if self._keep is None:
            raise NotConfiguredError(
                "task_id: the research room is not open, so there are no research tasks.",
                next_step="Search without task_id.",
            )
        await self._keep(task_id, hits, call)


class LateAdder:
    """What adds papers to the corpus; nothing until the papers room is open."""

    def __init__(self) -> None:
        self._adder: PaperAdder | None = None
        self._refuse: Callable[[], CarrelError] | None = None

    def bind(self, adder: PaperAdder) -> None:
        self._adder = adder

    def refuse(self, make_error: Callable[[], CarrelError]) -> None:
        """Whoever would add is told this error: what is added would not last."""
        self._refuse = make_error

    @property
    def adder(self) -> PaperAdder:
        """Raises NotConfiguredError where the papers room is not open, or why it refuses."""
        if self._refuse is not None:
            raise self._refuse()
        if self._adder is None:
            raise NotConfiguredError(
                "The papers room is not open here, so nothing can be added to the corpus.",
                next_step="Open the papers room as well (rooms = …), or leave add_to_corpus out.",
            )
        return self._adder


@dataclass(slots=True)
class LateLiterature:
    """The search over literature services; None until the literature room is open."""

    search: LiteratureSearch | None = None


@dataclass(frozen=True, slots=True)
class LinkExchange:
    """What one room does for another, opened once for all rooms."""

    notes: LateNotes = field(default_factory=LateNotes)
    things: DeskLinks = field(default_factory=DeskLinks)
    tasks: LateTasks = field(default_factory=LateTasks)
    papers: LateAdder = field(default_factory=LateAdder)
    libraries: LibrariesAtHand = field(default_factory=LibrariesAtHand)
    literature: LateLiterature = field(default_factory=LateLiterature)
    citations: LateCitationSearch = field(default_factory=LateCitationSearch)
