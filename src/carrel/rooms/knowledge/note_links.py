"""Links of notes in both directions: what a note points at, and the notes that point at a thing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from carrel.core.caller import Call, Caller
from carrel.core.note_links import NoteLink
from carrel.libraries.text.folding import fold_text
from carrel.rooms.knowledge.links import LinkTarget, find_links, link_term
from carrel.rooms.knowledge.models import MAX_LINKS, Link
from carrel.rooms.knowledge.note_search import NoteSearches
from carrel.rooms.knowledge.notes import MineAndTeam, Note
from carrel.rooms.knowledge.ports import LinkedThings, NoteStore

READ = "knowledge:read"
_ID_PREFIX = "note:"
# Things of other rooms that are looked up at the same time.
_AT_ONCE = 8


class NoteLinks:
    """Resolves links for callers; who may not see a note is not told of it."""

    def __init__(self, store: NoteStore, searches: NoteSearches, things: LinkedThings) -> None:
        self._store = store
        self._searches = searches
        self._things = things

    async def resolve(self, note: Note, call: Call) -> tuple[tuple[Link, ...], int]:
        """The first links of a note with what they lead to, and how many more there are."""
        targets = find_links(note.content)
        shown = targets[:MAX_LINKS]
        notes = await self._find_notes(
            [target for target in shown if target.kind == "note"], call.caller
        )
        turns = asyncio.Semaphore(_AT_ONCE)

        async def link(target: LinkTarget) -> Link:
            if target.kind == "note":
                other = notes.get(target.key)
                # A link by title has told the title itself.
                has_title = other is not None and target.key.startswith(_ID_PREFIX)
                return Link(
                    target=target.written,
                    id=None if other is None else other.id,
                    title=other.title if other is not None and has_title else None,
                )
            async with turns:
                thing = await self._things.find(target, call)
            return Link(
                target=target.written,
                id=None if thing is None else thing.id,
                kind=target.kind,
                title=None if thing is None else thing.title,
            )

        links = await asyncio.gather(*(link(target) for target in shown))
        return tuple(links), len(targets) - len(shown)

    async def find_back(self, note: Note, caller: Caller) -> list[NoteLink]:
        """The notes that link to a note, by its title or its id."""
        terms = (f"title:{fold_text(note.title)}", f"{_ID_PREFIX}{note.id}")
        return await self._searches.find_pointing(terms, MineAndTeam(caller.user_id), but=note.id)

    async def find_about(self, targets: Sequence[str], caller: Caller) -> list[NoteLink]:
        """The notes that point at any of the targets; none for who may not read notes."""
        if READ not in caller.scopes or not targets:
            return []
        terms = [link_term(target) for target in targets]
        return await self._searches.find_pointing(terms, MineAndTeam(caller.user_id))

    async def _find_notes(self, targets: Sequence[LinkTarget], caller: Caller) -> dict[str, Note]:
        """The notes that titles and ids lead to, by the key of their target."""
        if not targets:
            return {}
        shelf = MineAndTeam(caller.user_id)
        ids = [
            key.removeprefix(_ID_PREFIX)
            for key in (t.key for t in targets)
            if key.startswith(_ID_PREFIX)
        ]
        by_id = await self._searches.find_visible(ids, shelf) if ids else {}
        names = {target.key: target.key.rpartition("/")[2] for target in targets}
        known = await self._store.titled(list(dict.fromkeys((*names, *names.values()))), shelf)
        found = {
            key: known.get(key) or known.get(name) or by_id.get(key.removeprefix(_ID_PREFIX))
            for key, name in names.items()
        }
        return {key: note for key, note in found.items() if note is not None}
