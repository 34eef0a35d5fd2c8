"""Notes in Firestore: prefix, one tag or word and order by the server, the rest filtered here."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from google.api_core.exceptions import (
    Aborted,
    AlreadyExists,
    Conflict,
    FailedPrecondition,
    NotFound,
)
from google.cloud.firestore_v1 import (
    SERVER_TIMESTAMP,
    AsyncClient,
    AsyncWriteBatch,
    DocumentSnapshot,
)
from google.cloud.firestore_v1._helpers import WriteOption
from google.cloud.firestore_v1.async_query import AsyncQuery
from google.cloud.firestore_v1.base_query import FieldFilter

from carrel.libraries.query.notes import AnyTitle, Tagged, TextMatch, TitlePrefix
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.tokenizer import index_terms
from carrel.rooms.knowledge.documents import (
    Checkpoint,
    DocumentChange,
    Drop,
    NoteChange,
    NotePut,
    Reset,
    note_documents,
)
from carrel.rooms.knowledge.errors import (
    KnowledgeStoreError,
    NoteChangedError,
    NoteExistsError,
    SearchTooBroadError,
)
from carrel.rooms.knowledge.notes import (
    EXACT_TITLE_SCORE,
    TAG_SCORE,
    Change,
    Insert,
    Note,
    NoteHit,
    NoteSearch,
    Order,
    Remove,
    Replace,
    Shelf,
    Version,
    sort_key,
    text_score,
    title_score,
)
from carrel.rooms.knowledge.ports import Capabilities
from carrel.stores.firestore.knowledge.documents import (
    CHANGED_AT,
    FOLD_VERSION,
    HISTORY,
    NODES,
    NOTES,
    REMOVED,
    UPGRADES,
    document_of,
    newest_notes,
    node_search_fields,
    note_of,
    notes_with_prefix,
    notes_with_titles,
    notes_with_value,
    plain_time,
    search_fields,
    shelf_filters,
    translate_driver_errors,
    version_from,
    version_of,
)

PAGE = 300
# Clocks of other programs, which write `updated_at`, may differ by as much; what was told twice
# does no harm.
OVERLAP = timedelta(minutes=5)
# The server sets its time when it takes a write, and lets no write take longer than this.
SERVER_OVERLAP = timedelta(seconds=60)
_TITLES_AT_ONCE = 10
_WRITE_ATTEMPTS = 6
_FIRST_PAUSE_SECONDS = 0.05
_LOST_RACES = (Aborted, AlreadyExists, Conflict, FailedPrecondition, NotFound)


class FirestoreNoteStore:
    """Notes in the collection `knowledge` of one database."""

    def __init__(
        self,
        open_client: Callable[[], AsyncClient],
        *,
        reads_at_most: int = 2000,
        wait_seconds: float = 15.0,
    ) -> None:
        self._open_client = open_client
        self._known: AsyncClient | None = None
        self._folding: asyncio.Task[None] | None = None
        self._reads_at_most = reads_at_most
        self.wait_seconds = wait_seconds

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(has_ranking=False, reads_at_most=self._reads_at_most)

    @property
    def client(self) -> AsyncClient:
        if self._known is None:
            self._known = self._open_client()
        return self._known

    async def write(self, changes: Sequence[Change]) -> None:
        async with translate_driver_errors(self.wait_seconds):
            for attempt in range(_WRITE_ATTEMPTS):
                try:
                    await _commit(self.client, changes)
                except _LOST_RACES:
                    # The next attempt reads again, and says who was overtaken, or tries once more
                    # where nobody was.
                    await asyncio.sleep(random.uniform(0, _FIRST_PAUSE_SECONDS * 2**attempt))  # noqa: S311  no secret
                else:
                    return
        raise KnowledgeStoreError(
            "Firestore", "too many write the same notes at once; nothing was saved"
        )

    async def find(self, note_id: str) -> Note | None:
        async with translate_driver_errors(self.wait_seconds):
            found = await self.client.collection(NOTES).document(note_id).get()
        return note_of(found) if found.exists else None

    async def find_many(self, note_ids: Sequence[str]) -> dict[str, Note]:
        notes = self.client.collection(NOTES)
        asked = [notes.document(note_id) for note_id in dict.fromkeys(note_ids)]
        found: dict[str, Note] = {}
        if asked:
            async with translate_driver_errors(self.wait_seconds):
                async for one in self.client.get_all(asked):
                    if one.exists:
                        found[one.id] = note_of(one)
        return found

    async def titled(self, titles: Sequence[str], shelf: Shelf) -> dict[str, Note]:
        await self.bring_fold_forward()
        notes = self.client.collection(NOTES)
        asked: list[AsyncQuery] = []
        for start in range(0, len(titles), _TITLES_AT_ONCE):
            part = list(titles[start : start + _TITLES_AT_ONCE])
            keys = list(dict.fromkeys(fold_text(title) for title in part))
            for place in shelf_filters(shelf):
                asked += [
                    notes_with_titles(notes, place, "title_key", keys),
                    notes_with_titles(notes, place, "title", part),
                ]
        found = await self._run_queries([query.limit(PAGE) for query in asked])
        newest: dict[str, Note] = {}
        for note in sorted(found, key=lambda note: note.created_at):
            newest[fold_text(note.title)] = note
        return {title: newest[fold_text(title)] for title in titles if fold_text(title) in newest}

    async def search(self, question: NoteSearch) -> list[NoteHit]:
        await self.bring_fold_forward()
        notes, limit = self.client.collection(NOTES), question.limit
        where = shelf_filters(question.shelf)
        match question.condition:
            case AnyTitle():
                found = await self._run_queries(
                    [newest_notes(notes, place).limit(limit) for place in where]
                )
                notes_found = _first(found, "newest", limit)
                return [NoteHit(note, EXACT_TITLE_SCORE) for note in notes_found]
            case TitlePrefix(text, as_typed):
                fields = {"title_key": text, "title": as_typed or text}
                asked = [
                    notes_with_prefix(notes, place, *field, question.order)
                    for place in where
                    for field in fields.items()
                ]
                found = await self._run_queries([query.limit(limit) for query in asked])
                notes_found = _first(found, question.order, limit)
                return [NoteHit(note, title_score(note, text)) for note in notes_found]
            case Tagged(tags, as_typed):
                fields = {"tag_keys": tags[0], "tags": (as_typed or tags)[0]}
                asked = [
                    notes_with_value(notes, place, *field)
                    for place in where
                    for field in fields.items()
                ]
                found = await self._filter_newest(asked, lambda note: _has_tags(note, tags), limit)
                return [NoteHit(note, TAG_SCORE) for note in found]
            case TextMatch(phrases, tags):
                word = max((word for phrase in phrases for word in phrase), key=len)
                asked = [notes_with_value(notes, place, "words", word) for place in where]
                found = await self._filter_newest(
                    asked,
                    lambda note: _has_tags(note, tags) and _contains(note, phrases),
                    limit,
                )
                return [NoteHit(note, text_score(0.0)) for note in found]

    async def history(self, note_id: str, limit: int) -> list[Version]:
        versions = self.client.collection(NOTES).document(note_id).collection(HISTORY)
        async with translate_driver_errors(self.wait_seconds):
            found = await versions.order_by("changed_at", direction="DESCENDING").limit(limit).get()
        return [version_from(note_id, version.to_dict() or {}) for version in found]

    async def everything(self, shelf: Shelf) -> AsyncIterator[Note]:
        for place in shelf_filters(shelf):
            query = newest_notes(self.client.collection(NOTES), place)
            async for found in self._pages(query):
                yield note_of(found)

    def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        return note_documents(self.note_changes(since))

    async def note_changes(self, since: str | None) -> AsyncIterator[NoteChange]:
        """By the server's times for notes of ours, by `updated_at` for those of other programs.

        What another program removes, it does not tell: whoever shows a note reads it first.
        """
        start = _ChangeTimes.parse(since)
        if start is None:
            if since is not None:
                yield Reset()
            async for change in self._all_notes():
                yield change
            return
        changed, updated, removed = start.changed, start.updated, start.removed
        async for found in self._since(REMOVED, "removed_at", removed - SERVER_OVERLAP):
            yield Drop(found.id)
            removed = max(removed, plain_time((found.to_dict() or {})["removed_at"]))
        told: set[str] = set()
        async for found in self._since(NOTES, CHANGED_AT, changed - SERVER_OVERLAP):
            told.add(found.id)
            yield NotePut(note_of(found))
            changed = max(changed, plain_time((found.to_dict() or {})[CHANGED_AT]))
        async for found in self._since(NOTES, "updated_at", updated - OVERLAP):
            note = note_of(found)
            if found.id not in told:
                yield NotePut(note)
            updated = max(updated, note.updated_at)
        yield Checkpoint(str(_ChangeTimes(changed, updated, removed)))

    async def _all_notes(self) -> AsyncIterator[NoteChange]:
        """Every note, also those without times; what changes meanwhile comes again."""
        began: datetime | None = None
        async for found in self._pages(self.client.collection(NOTES).order_by("__name__")):
            began = began or plain_time(found.read_time)
            yield NotePut(note_of(found))
        if began is not None:
            yield Checkpoint(str(_ChangeTimes(began, began, began)))

    def _since(self, collection: str, field: str, moment: datetime) -> AsyncIterator[Any]:
        return self._pages(
            self.client.collection(collection)
            .where(filter=FieldFilter(field, ">=", moment))
            .order_by(field)
        )

    async def ping(self) -> str:
        await self.check()
        return "answers"

    async def check(self) -> str:
        async with translate_driver_errors(self.wait_seconds):
            await self.client.collection(NOTES).limit(1).get()
        return f"collection {NOTES} of Firestore project {self.client.project}"

    async def bring_fold_forward(self) -> None:
        """Folds documents of an earlier version once; KnowledgeStoreError while that goes on."""
        if self._folding is None or (self._folding.done() and self._folding.exception()):
            self._folding = asyncio.create_task(_fold_again(self.client))
        if not self._folding.done():
            async with translate_driver_errors(self.wait_seconds):
                await asyncio.shield(self._folding)

    async def close(self) -> None:
        if self._folding is not None and not self._folding.done():
            self._folding.cancel()
            await asyncio.gather(self._folding, return_exceptions=True)
        if self._known is not None:
            closing = self._known.close()  # type: ignore[no-untyped-call]
            if asyncio.iscoroutine(closing):
                await closing

    async def _run_queries(self, asked: Sequence[AsyncQuery]) -> list[Note]:
        async with translate_driver_errors(self.wait_seconds):
            answers = await asyncio.gather(*(query.get() for query in asked))
        found = {one.id: one for answer in answers for one in answer}
        return [note_of(one) for one in found.values()]

    async def _filter_newest(
        self, asked: Sequence[AsyncQuery], fits: Callable[[Note], bool], limit: int
    ) -> list[Note]:
        """The newest that fit from each query, merged; SearchTooBroadError beyond the bound."""
        parts = await asyncio.gather(*(self._filter_query(query, fits, limit) for query in asked))
        found = {note.id: note for part in parts for note in part}
        return _first(found.values(), "newest", limit)

    async def _filter_query(
        self, query: AsyncQuery, fits: Callable[[Note], bool], limit: int
    ) -> list[Note]:
        kept: list[Note] = []
        read = 0
        size = min(max(2 * limit, 20), PAGE)
        async for found in self._pages(query, size):
            note = note_of(found)
            if fits(note):
                kept.append(note)
                if len(kept) == limit:
                    return kept
            read += 1
            if read > self._reads_at_most:
                raise SearchTooBroadError(self._reads_at_most)
        return kept

    async def _pages(self, query: AsyncQuery, size: int = PAGE) -> AsyncIterator[Any]:
        last = None
        while True:
            page = query.limit(size) if last is None else query.start_after(last).limit(size)
            async with translate_driver_errors(self.wait_seconds):
                answer = await page.get()
            for found in answer:
                yield found
            if len(answer) < size:
                return
            last = answer[-1]
            size = PAGE


def _first(notes: Iterable[Note], order: Order, limit: int) -> list[Note]:
    return sorted(notes, key=lambda note: sort_key(note, order))[:limit]


async def _commit(client: AsyncClient, changes: Sequence[Change]) -> None:
    """Writes all of the changes, or none where somebody changes one of the notes meanwhile."""
    notes = client.collection(NOTES)
    ids = list(
        dict.fromkeys(
            change.note_id if isinstance(change, Remove) else change.note.id for change in changes
        )
    )
    present: dict[str, DocumentSnapshot[Any]] = {}
    async for found in client.get_all([notes.document(note_id) for note_id in ids]):
        if found.exists:
            present[found.id] = found
    batch: AsyncWriteBatch = client.batch()
    for change in changes:
        match change:
            case Insert(note, by, kind):
                if note.id in present:
                    raise NoteExistsError(note.id)
                batch.create(notes.document(note.id), document_of(note))
                batch.set(_version(client, note), version_of(note, by, kind))
            case Replace(note, expected, by, kind):
                unchanged = _unchanged(client, present.get(note.id), note.id, expected)
                # Fields that another program added stay.
                batch.update(notes.document(note.id), document_of(note), option=unchanged)
                batch.set(_version(client, note), version_of(note, by, kind))
            case Remove(note_id, expected):
                unchanged = _unchanged(client, present.get(note_id), note_id, expected)
                batch.delete(notes.document(note_id), option=unchanged)
                async for version in _versions(client, note_id).stream():
                    batch.delete(version.reference)
                batch.set(
                    client.collection(REMOVED).document(note_id), {"removed_at": SERVER_TIMESTAMP}
                )
    await batch.commit()


def _unchanged(
    client: AsyncClient, found: DocumentSnapshot[Any] | None, note_id: str, expected: datetime
) -> WriteOption:
    """The precondition that a note is as it was read; NoteChangedError for another state."""
    if found is None:
        raise NoteChangedError(note_id, None)
    state = note_of(found).updated_at
    if state != expected:
        raise NoteChangedError(note_id, state)
    return client.write_option(last_update_time=found.update_time)


def _versions(client: AsyncClient, note_id: str) -> Any:
    return client.collection(NOTES).document(note_id).collection(HISTORY)


def _version(client: AsyncClient, note: Note) -> Any:
    return _versions(client, note.id).document(
        note.updated_at.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%f")
    )


@dataclass(frozen=True, slots=True)
class _ChangeTimes:
    """Up to when the writes of ours, those of other programs and the removals were read."""

    changed: datetime
    updated: datetime
    removed: datetime

    @classmethod
    def parse(cls, text: str | None) -> _ChangeTimes | None:
        """The times of a cursor; None for no cursor, and for one of an earlier version."""
        parts = (text or "").split("|")
        try:
            return cls(*(datetime.fromisoformat(part) for part in parts))
        except (TypeError, ValueError):
            return None

    def __str__(self) -> str:
        return "|".join(time.isoformat() for time in (self.changed, self.updated, self.removed))


def _has_tags(note: Note, tags: Sequence[str]) -> bool:
    return set(tags) <= {fold_text(tag) for tag in note.tags}


def _contains(note: Note, phrases: tuple[tuple[str, ...], ...]) -> bool:
    texts = [index_terms(note.title), index_terms(note.content)]
    return all(any(_has_run(text, phrase) for text in texts) for phrase in phrases)


def _has_run(text: list[str], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(tuple(text[at : at + size]) == phrase for at in range(len(text) - size + 1))


async def _fold_again(client: AsyncClient) -> None:
    """Brings the search fields of all documents to the fold of all rooms, and remembers that."""
    marker = client.collection(UPGRADES).document("fold")
    if ((await marker.get()).to_dict() or {}).get("version") == FOLD_VERSION:
        return
    for name in (NOTES, NODES):
        query = client.collection(name).order_by("__name__")
        page = await query.limit(PAGE).get()
        while page:
            await _fold_page(client, name, page)
            page = await query.start_after(page[-1]).limit(PAGE).get()
    await marker.set({"version": FOLD_VERSION})


async def _fold_page(client: AsyncClient, name: str, page: Sequence[Any]) -> None:
    for found in page:
        facts = found.to_dict() or {}
        fields = (
            search_fields(note_of(found))
            if name == NOTES
            else node_search_fields(str(facts.get("name") or ""))
        )
        # Documents of other programs have none of these fields, and get none.
        is_ours = "title_key" in facts or "grams" in facts
        if is_ours and any(facts.get(key) != value for key, value in fields.items()):
            unchanged = client.write_option(last_update_time=found.update_time)
            # Whoever wrote it meanwhile has folded it.
            with suppress(*_LOST_RACES):
                await found.reference.update(fields, option=unchanged)
