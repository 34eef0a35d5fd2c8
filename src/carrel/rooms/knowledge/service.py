"""The rules of notes: visibility, order of the review steps, and the meaning of a save."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from carrel.core.answer import Explained
from carrel.core.caller import Call, Caller
from carrel.core.clock import Clock
from carrel.core.errors import InsufficientPermissionsError, InvalidInputError
from carrel.core.note_links import NoteLink
from carrel.libraries.text.tokenizer import case_key
from carrel.rooms.knowledge.documents import EVERYONE, PAPERS, PROMOTERS, TEAM, library_of, owner
from carrel.rooms.knowledge.errors import (
    NoteChangedError,
    NoteNotFoundError,
    NotYoursError,
    WrongStatusError,
)
from carrel.rooms.knowledge.list_models import (
    GetKnowledgeGraph,
    KnowledgeGraph,
    KnowledgeList,
    ListKnowledge,
)
from carrel.rooms.knowledge.models import (
    FoundNote,
    FullNote,
    NoteVersion,
    SavedNote,
    SaveKnowledge,
    SearchAnswer,
)
from carrel.rooms.knowledge.note_graph import NoteGraphs
from carrel.rooms.knowledge.note_links import NoteLinks
from carrel.rooms.knowledge.note_listing import NoteListings
from carrel.rooms.knowledge.note_search import NoteSearches
from carrel.rooms.knowledge.notes import (
    Change,
    Insert,
    Mine,
    MineAndTeam,
    Note,
    Order,
    Proposals,
    Remove,
    Replace,
    Shelf,
    Team,
    Whose,
    new_note_id,
)
from carrel.rooms.knowledge.ports import (
    LinkedThings,
    NoLinkedThings,
    NoteFinder,
    NoteStore,
    Searcher,
)

PROMOTE = "knowledge:promote"
READ_PAPERS = "papers:read"
READ_REFERENCES = "references:read"
_NEIGHBOURS = {"papers": READ_PAPERS, "references": READ_REFERENCES}
TITLE_FROM_CONTENT_CHARACTERS = 30
_TICK = timedelta(microseconds=1)
_WITHDRAWAL_ATTEMPTS = 5


class Knowledge:
    """Notes for callers."""

    def __init__(
        self,
        store: NoteStore,
        finder: NoteFinder,
        searcher: Searcher,
        clock: Clock,
        new_id: Callable[[], str] = new_note_id,
        things: LinkedThings | None = None,
    ) -> None:
        self._store = store
        self._finder = finder
        self._searches = NoteSearches(store, finder)
        self._links = NoteLinks(store, self._searches, things or NoLinkedThings())
        self._listings = NoteListings(store, finder, self._searches)
        self._graphs = NoteGraphs(store, self._links)
        self._searcher = searcher
        self._clock = clock
        self._new_id = new_id

    async def save(self, question: SaveKnowledge, caller: Caller) -> Note:
        """Saves a new note, or a new state of the one named."""
        return await (
            self._create(question, caller)
            if question.id is None
            else self._update(question.id, question, caller)
        )

    async def save_and_resolve(self, question: SaveKnowledge, call: Call) -> SavedNote:
        """Saves a note and tells where its links lead."""
        note = await self.save(question, call.caller)
        links, left_out = await self._links.resolve(note, call)
        return SavedNote.of(note, links, left_out)

    async def search(
        self, query: str, caller: Caller, *, whose: Whose, order: Order, limit: int
    ) -> list[FoundNote] | Explained:
        return await self._searches.search(query, _shelf(whose, caller), order, limit)

    async def get(self, note_id: str, call: Call) -> FullNote:
        """A note with what its links lead to, and the notes that link to it."""
        note = await self._visible(note_id, call.caller)
        links, left_out = await self._links.resolve(note, call)
        return FullNote.of(note, links, left_out, await self._links.find_back(note, call.caller))

    async def find(self, targets: Sequence[str], caller: Caller) -> list[NoteLink]:
        """The port NotesAbout: what points at things of other rooms."""
        return await self._links.find_about(targets, caller)

    async def history(self, note_id: str, caller: Caller, limit: int) -> list[NoteVersion]:
        await self._visible(note_id, caller)
        return [NoteVersion.of(version) for version in await self._store.history(note_id, limit)]

    async def delete(self, note_id: str, caller: Caller, seen: str | None) -> None:
        """Delete a note and its history; a team note requires the right to promote."""
        note = await self._visible(note_id, caller)
        _may_change(note, caller, "delete")
        removal = Remove(note.id, _expected(note, seen))
        for attempts_left in reversed(range(_WITHDRAWAL_ATTEMPTS)):
            original = await self._original_without(note)
            if original is None:
                await self._write([removal])
                return
            withdrawn = replace(
                original, status="draft", promoted_to_id=None, updated_at=self._after(original)
            )
            try:
                await self._write(
                    [removal, Replace(withdrawn, original.updated_at, caller.user_id, "withdrawn")]
                )
            except NoteChangedError as error:
                # The author changed the original meanwhile: the deletion applies to its new state.
                if error.details["id"] != original.id or not attempts_left:
                    raise
            else:
                return

    async def _original_without(self, copy: Note) -> Note | None:
        """The author's note that this team copy alone represents in searches."""
        if copy.source != "team" or copy.promoted_from_id is None:
            return None
        original = await self._store.find(copy.promoted_from_id)
        if original is None or original.promoted_to_id != copy.id or original.status != "promoted":
            return None
        return original

    async def propose(self, note_id: str, caller: Caller, seen: str | None) -> Note:
        """Offers one's own draft to the team."""
        note = await self._visible(note_id, caller)
        if note.user_id != caller.user_id:
            raise NotYoursError(note.id, "propose", "the author's account")
        if note.source != "personal" or note.status != "draft":
            raise WrongStatusError(note.id, note.status, "draft", "proposed")
        proposed = replace(note, status="proposed", updated_at=self._after(note))
        await self._write([Replace(proposed, _expected(note, seen), caller.user_id, "proposed")])
        return proposed

    async def promote(self, note_id: str, caller: Caller, seen: str | None) -> Note:
        """Create or update the team's copy of a proposed note; both store the other's id."""
        note = await self._visible(note_id, caller)
        if note.source != "personal" or note.status != "proposed":
            raise WrongStatusError(note.id, note.status, "proposed", "promoted")
        earlier = await self._store.find(note.promoted_to_id) if note.promoted_to_id else None
        now = self._after(note)
        by = caller.user_id
        if earlier is None:
            copy = replace(
                note,
                id=self._new_id(),
                source="team",
                status="promoted",
                promoted_from_id=note.id,
                promoted_to_id=None,
                origin=None,
                created_at=now,
                updated_at=now,
            )
            change: Insert | Replace = Insert(copy, by, "promoted")
        else:
            copy = replace(
                earlier,
                title=note.title,
                content=note.content,
                tags=note.tags,
                updated_at=max(now, self._after(earlier)),
            )
            change = Replace(copy, earlier.updated_at, by, "promoted")
        original = replace(note, status="promoted", promoted_to_id=copy.id, updated_at=now)
        await self._write([change, Replace(original, _expected(note, seen), by, "promoted")])
        return copy

    async def decline(self, note_id: str, caller: Caller, seen: str | None) -> Note:
        """Make a proposed note its author's draft again."""
        note = await self._visible(note_id, caller)
        if note.source != "personal" or note.status != "proposed":
            raise WrongStatusError(note.id, note.status, "proposed", "declined")
        declined = replace(note, status="draft", updated_at=self._after(note))
        await self._write([Replace(declined, _expected(note, seen), caller.user_id, "declined")])
        return declined

    async def list_notes(
        self, question: ListKnowledge, caller: Caller
    ) -> KnowledgeList | Explained:
        """A page of the notes that the caller may see."""
        return await self._listings.list_page(question, _shelf(question.whose, caller))

    async def find_graph(self, question: GetKnowledgeGraph, call: Call) -> KnowledgeGraph:
        """A note and what lies one or two links away from it."""
        note = await self._visible(question.id, call.caller)
        return await self._graphs.draw(note, question.depth, call)

    async def ask(self, index: str, body: Mapping[str, Any], caller: Caller) -> SearchAnswer:
        """Answer a search body from what the caller may read in the rooms named."""
        needed = frozenset(
            _NEIGHBOURS[name] for part in index.split(",") if (name := part.strip()) in _NEIGHBOURS
        )
        if needed - caller.scopes:
            raise InsufficientPermissionsError(needed, caller.scopes)
        readers = {EVERYONE, TEAM, owner(caller.user_id)}
        if PROMOTE in caller.scopes:
            readers.add(PROMOTERS)
        if READ_PAPERS in caller.scopes:
            readers.add(PAPERS)
        if READ_REFERENCES in caller.scopes:
            readers.add(library_of(caller.user_id))
        return await self._searcher.search(index, body, frozenset(readers))

    async def _create(self, question: SaveKnowledge, caller: Caller) -> Note:
        if question.updated_at is not None:
            raise InvalidInputError(
                "id is required with updated_at",
                next_step="Name the note to change, or leave updated_at out.",
            )
        source = question.source or "personal"
        _may_save_to(source, caller)
        now = self._clock.now()
        note = Note(
            id=self._new_id(),
            title=title_of(question.title, question.content),
            content=question.content,
            user_id=caller.user_id,
            source=source,
            status="promoted" if source == "team" else "draft",
            tags=_unique(question.tags or ()),
            created_at=now,
            updated_at=now,
        )
        await self._write([Insert(note, caller.user_id)])
        return note

    async def _update(self, note_id: str, question: SaveKnowledge, caller: Caller) -> Note:
        note = await self._visible(note_id, caller)
        _may_change(note, caller, "change")
        if question.source not in {None, note.source}:
            raise InvalidInputError(
                "source cannot be changed by saving",
                next_step="Use propose_knowledge and promote_knowledge to bring a note to the "
                "team.",
            )
        if question.updated_at is None:
            raise InvalidInputError(
                "updated_at is required to change a note",
                next_step="Send the updated_at that get_knowledge or save_knowledge answered with.",
            )
        changed = replace(
            note,
            title=question.title.strip()
            if question.title and question.title.strip()
            else note.title,
            content=question.content,
            tags=note.tags if question.tags is None else _unique(question.tags),
            status="promoted" if note.source == "team" else "draft",
            updated_at=self._after(note),
        )
        await self._write([Replace(changed, _expected(note, question.updated_at), caller.user_id)])
        return changed

    async def _write(self, changes: list[Change]) -> None:
        await self._store.write(changes)
        self._finder.follow_later()
        await self._searcher.notes_changed()

    async def _visible(self, note_id: str, caller: Caller) -> Note:
        note = await self._store.find(note_id)
        if note is None or not may_see(note, caller):
            raise NoteNotFoundError(note_id)
        return note

    def _after(self, note: Note) -> datetime:
        """Now, but never the same moment twice for one note, whatever the clock does."""
        return max(self._clock.now(), note.updated_at + _TICK)


def may_see(note: Note, caller: Caller) -> bool:
    """Team notes are everybody's, personal ones their author's, proposals also the promoters'."""
    if note.source == "team" or note.user_id == caller.user_id:
        return True
    return note.status == "proposed" and PROMOTE in caller.scopes


def title_of(given: str | None, content: str) -> str:
    """The given title, or the beginning of the content."""
    if given is not None and given.strip():
        return given.strip()
    return " ".join(content.split())[:TITLE_FROM_CONTENT_CHARACTERS].strip()


def _may_save_to(source: str, caller: Caller) -> None:
    if source == "team" and PROMOTE not in caller.scopes:
        raise InsufficientPermissionsError(frozenset({PROMOTE}), caller.scopes)


def _may_change(note: Note, caller: Caller, what: str) -> None:
    if note.source == "team":
        if PROMOTE not in caller.scopes:
            raise NotYoursError(note.id, what, PROMOTE)
    elif note.user_id != caller.user_id:
        raise NotYoursError(note.id, what, "the author's account")


def _expected(note: Note, seen: str | None) -> datetime:
    """The state the caller must have seen: as given, or as just read for them."""
    if seen is None:
        return note.updated_at
    moment = datetime.fromisoformat(seen)
    if moment != note.updated_at:
        raise NoteChangedError(note.id, note.updated_at)
    return moment


def _shelf(whose: Whose, caller: Caller) -> Shelf:
    match whose:
        case "mine":
            return Mine(caller.user_id)
        case "team":
            return Team()
        case "all":
            return MineAndTeam(caller.user_id)
        case "proposed":
            if PROMOTE not in caller.scopes:
                raise InsufficientPermissionsError(frozenset({PROMOTE}), caller.scopes)
            return Proposals()


def _unique(tags: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for tag in tags:
        kept.setdefault(case_key(tag), tag)
    return tuple(kept.values())
