"""Notes in Firestore. The server does prefix, one tag or word, and order; the rest is filtered
here, within a bound.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
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
from carrel.libraries.text.tokenizer import case_key, split_words
from carrel.rooms.knowledge.documents import DocumentChange, Drop, Mark, Put, note_document
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
    Found,
    Insert,
    Note,
    NoteSearch,
    Remove,
    Replace,
    Shelf,
    Version,
    sorting,
    text_score,
    title_score,
)
from carrel.rooms.knowledge.ports import Capabilities
from carrel.stores.firestore.knowledge import queries
from carrel.stores.firestore.knowledge.documents import (
    HISTORY,
    NOTES,
    REMOVED,
    document_of,
    note_from,
    plain_time,
    told_plainly,
    version_from,
    version_of,
)

PAGE = 300
# Writers' clocks may differ by as much; what was told twice does no harm.
OVERLAP = timedelta(minutes=5)
_TITLES_AT_ONCE = 10
_WRITE_ATTEMPTS = 6
_FIRST_PAUSE_SECONDS = 0.05
_OVERTAKEN = (Aborted, AlreadyExists, Conflict, FailedPrecondition, NotFound)


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
        async with told_plainly(self.wait_seconds):
            for attempt in range(_WRITE_ATTEMPTS):
                try:
                    await _commit(self.client, changes)
                except _OVERTAKEN:
                    # The next attempt reads again, and says who was overtaken, or tries once more
                    # where nobody was.
                    await asyncio.sleep(random.uniform(0, _FIRST_PAUSE_SECONDS * 2**attempt))  # noqa: S311  no secret
                else:
                    return
        raise KnowledgeStoreError(
            "Firestore", "too many write the same notes at once; nothing was saved"
        )

    async def find(self, note_id: str) -> Note | None:
        async with told_plainly(self.wait_seconds):
            found = await self.client.collection(NOTES).document(note_id).get()
        return (
            note_from(note_id, found.to_dict() or {}, found.update_time) if found.exists else None
        )

    async def titled(self, titles: Sequence[str], shelf: Shelf) -> dict[str, Note]:
        notes = self.client.collection(NOTES)
        asked: list[AsyncQuery] = []
        for start in range(0, len(titles), _TITLES_AT_ONCE):
            part = list(titles[start : start + _TITLES_AT_ONCE])
            keys = list(dict.fromkeys(case_key(title) for title in part))
            for place in queries.places(shelf):
                asked += [
                    queries.titled(notes, place, "title_key", keys),
                    queries.titled(notes, place, "title", part),
                ]
        found = await self._merged([query.limit(PAGE) for query in asked])
        newest: dict[str, Note] = {}
        for note in sorted(found, key=lambda note: note.created_at):
            newest[case_key(note.title)] = note
        return {title: newest[case_key(title)] for title in titles if case_key(title) in newest}

    async def search(self, question: NoteSearch) -> list[Found]:
        notes, limit = self.client.collection(NOTES), question.limit
        where = queries.places(question.shelf)
        match question.condition:
            case AnyTitle():
                found = await self._merged(
                    [queries.anything(notes, place).limit(limit) for place in where]
                )
                return [
                    Found(note, EXACT_TITLE_SCORE)
                    for note in sorted(found, key=sorting("newest"))[:limit]
                ]
            case TitlePrefix(text, as_typed):
                fields = {"title_key": text, "title": as_typed or text}
                asked = [
                    queries.beginning(notes, place, *field, question.order)
                    for place in where
                    for field in fields.items()
                ]
                found = await self._merged([query.limit(limit) for query in asked])
                return [
                    Found(note, title_score(note, text))
                    for note in sorted(found, key=sorting(question.order))[:limit]
                ]
            case Tagged(tags, as_typed):
                wanted = frozenset(tags)
                fields = {"tag_keys": tags[0], "tags": (as_typed or tags)[0]}
                asked = [
                    queries.having(notes, place, *field)
                    for place in where
                    for field in fields.items()
                ]
                found = await self._sifted(
                    asked, lambda note: wanted <= {case_key(tag) for tag in note.tags}, limit
                )
                return [Found(note, TAG_SCORE) for note in found]
            case TextMatch(phrases, tags):
                wanted = frozenset(tags)
                word = max((word for phrase in phrases for word in phrase), key=len)
                asked = [queries.having(notes, place, "words", word) for place in where]
                found = await self._sifted(
                    asked,
                    lambda note: (
                        wanted <= {case_key(tag) for tag in note.tags} and _contains(note, phrases)
                    ),
                    limit,
                )
                return [Found(note, text_score(0.0)) for note in found]

    async def history(self, note_id: str, limit: int) -> list[Version]:
        versions = self.client.collection(NOTES).document(note_id).collection(HISTORY)
        async with told_plainly(self.wait_seconds):
            found = await versions.order_by("changed_at", direction="DESCENDING").limit(limit).get()
        return [version_from(note_id, version.to_dict() or {}) for version in found]

    async def everything(self, shelf: Shelf) -> AsyncIterator[Note]:
        for place in queries.places(shelf):
            query = queries.anything(self.client.collection(NOTES), place)
            async for found in self._pages(query):
                yield note_from(found.id, found.to_dict() or {}, found.update_time)

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        """By the times that notes carry, with an overlap, because another program's notes carry
        nothing else.
        """
        began = "1970-01-01T00:00:00+00:00"
        changed, removed = (
            datetime.fromisoformat(part) for part in (since or f"{began}|{began}").split("|")
        )
        gone = (
            self.client.collection(REMOVED)
            .where(filter=FieldFilter("removed_at", ">=", _back(removed)))
            .order_by("removed_at")
        )
        async for found in self._pages(gone):
            yield Drop(found.id)
            removed = max(removed, plain_time((found.to_dict() or {})["removed_at"]))
        new = (
            self.client.collection(NOTES)
            .where(filter=FieldFilter("updated_at", ">=", _back(changed)))
            .order_by("updated_at")
        )
        count = 0
        async for found in self._pages(new):
            note = note_from(found.id, found.to_dict() or {}, found.update_time)
            yield Put(note_document(note))
            changed = max(changed, note.updated_at)
            count += 1
            if count % PAGE == 0:
                yield Mark(f"{changed.isoformat()}|{removed.isoformat()}")
        yield Mark(f"{changed.isoformat()}|{removed.isoformat()}")

    async def ping(self) -> None:
        await self.check()

    async def check(self) -> str:
        async with told_plainly(self.wait_seconds):
            await self.client.collection(NOTES).limit(1).get()
        return f"collection {NOTES} of Firestore project {self.client.project}"

    async def close(self) -> None:
        if self._known is not None:
            closing = self._known.close()  # type: ignore[no-untyped-call]
            if asyncio.iscoroutine(closing):
                await closing

    async def _merged(self, asked: Sequence[AsyncQuery]) -> list[Note]:
        async with told_plainly(self.wait_seconds):
            answers = await asyncio.gather(*(query.get() for query in asked))
        found = {one.id: one for answer in answers for one in answer}
        return [note_from(one.id, one.to_dict() or {}, one.update_time) for one in found.values()]

    async def _sifted(
        self, asked: Sequence[AsyncQuery], fits: Callable[[Note], bool], limit: int
    ) -> list[Note]:
        """The newest that fit from each question, merged. Reads no more than it may, and says so
        where that is not enough.
        """
        parts = await asyncio.gather(*(self._sift(query, fits, limit) for query in asked))
        found = {note.id: note for part in parts for note in part}
        return sorted(found.values(), key=sorting("newest"))[:limit]

    async def _sift(
        self, query: AsyncQuery, fits: Callable[[Note], bool], limit: int
    ) -> list[Note]:
        kept: list[Note] = []
        read = 0
        size = min(max(2 * limit, 20), PAGE)
        async for found in self._pages(query, size):
            note = note_from(found.id, found.to_dict() or {}, found.update_time)
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
            async with told_plainly(self.wait_seconds):
                answer = await page.get()
            for found in answer:
                yield found
            if len(answer) < size:
                return
            last = answer[-1]
            size = PAGE


async def _commit(client: AsyncClient, changes: Sequence[Change]) -> None:
    """Writes all of the changes if every note is as it was when this began. Takes no locks: a note
    that somebody changes
    meanwhile fails the preconditions of the commit, at once and whole."""
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
    """The condition that a note is still as it was read; NoteChangedError where that is not what
    the writer has seen.
    """
    if found is None:
        raise NoteChangedError(note_id, None)
    state = note_from(note_id, found.to_dict() or {}, found.update_time).updated_at
    if state != expected:
        raise NoteChangedError(note_id, state)
    return client.write_option(last_update_time=found.update_time)


def _versions(client: AsyncClient, note_id: str) -> Any:
    return client.collection(NOTES).document(note_id).collection(HISTORY)


def _version(client: AsyncClient, note: Note) -> Any:
    return _versions(client, note.id).document(
        note.updated_at.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%f")
    )


def _back(moment: datetime) -> datetime:
    return max(moment - OVERLAP, datetime(1970, 1, 1, tzinfo=UTC)) if moment.year > 1970 else moment


def _contains(note: Note, phrases: tuple[tuple[str, ...], ...]) -> bool:
    texts = [split_words(note.title), split_words(note.content)]
    return all(any(_has_run(text, phrase) for text in texts) for phrase in phrases)


def _has_run(text: list[str], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(tuple(text[at : at + size]) == phrase for at in range(len(text) - size + 1))
