"""Documents of search indices, and the changes that bring an index up to date."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import orjson

from carrel.core.caller import library_name
from carrel.libraries.text.tokenizer import case_key
from carrel.rooms.knowledge.notes import Node, Note, Origin

# `words` are parted already, searched and never shown; only a real cluster takes them.
FieldKind = Literal["text", "keyword", "number", "date", "boolean", "words"]

# Indices of our own, and those that whoever may ask them may read as a whole.
OWN_INDICES = ("papers", "references", "knowledge", "nodes")
PUBLIC_INDICES = frozenset({"papers", "nodes"})
EVERYONE = "everyone"
TEAM = "team"
PROMOTERS = "promoters"
PAPERS = "papers"


def owner(user_id: str) -> str:
    """The reader that is one person."""
    return f"user:{user_id}"


def library_of(user_id: str) -> str:
    """The reader that is one person as the owner of a library of references."""
    return library_reader(library_name(user_id))


def library_reader(name: str) -> str:
    """The same by the name of the library, which does not reveal its owner."""
    return f"library:{name}"


@dataclass(frozen=True, slots=True)
class Document:
    """One document, and who may read it."""

    id: str
    fields: Mapping[str, object]
    readers: tuple[str, ...] = (EVERYONE,)


@dataclass(frozen=True, slots=True)
class Put:
    """A document is new or has changed."""

    document: Document


@dataclass(frozen=True, slots=True)
class Drop:
    """A document is gone."""

    id: str


@dataclass(frozen=True, slots=True)
class Reset:
    """Discard everything sent before; what follows is the full content."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """All documents up to here were sent; this cursor yields later changes."""

    cursor: str


@dataclass(frozen=True, slots=True)
class NotePut:
    """A note is new or has changed."""

    note: Note


DocumentChange = Put | Drop | Reset | Checkpoint
NoteChange = NotePut | Drop | Reset | Checkpoint


class DocumentSource(Protocol):
    """The documents of one index."""

    @property
    def index(self) -> str: ...

    @property
    def fields(self) -> Mapping[str, FieldKind]: ...

    def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        """What changed after `since` (None: all), with checkpoints; repeating a change is safe."""
        ...


def is_public(source: DocumentSource) -> bool:
    """Whether all who may query the index may read all of its documents."""
    return bool(getattr(source, "is_public", False))


class PersonalSource(Protocol):
    """The source of an index that everybody has for themselves, apart from others'."""

    @property
    def index(self) -> str: ...

    def of(self, readers: frozenset[str]) -> DocumentSource | None:
        """The reader's own source, with a private `index`; None for readers without one."""
        ...


NOTE_FIELDS: Mapping[str, FieldKind] = {
    "title": "text",
    "content": "text",
    "user_id": "keyword",
    "source": "keyword",
    "status": "keyword",
    "tags": "keyword",
    "schema_version": "number",
    "created_at": "date",
    "updated_at": "date",
    "promoted_from_id": "keyword",
    "path": "keyword",
}
NODE_FIELDS: Mapping[str, FieldKind] = {
    "name": "text",
    "node_type": "keyword",
    "description": "text",
    "content": "text",
}


def note_document(note: Note) -> Document:
    """A note as a document."""
    fields: dict[str, object] = {
        "id": note.id,
        "title": note.title,
        "content": note.content,
        "user_id": note.user_id,
        "source": note.source,
        "status": note.status,
        "tags": list(note.tags),
        "schema_version": note.schema_version,
        "created_at": note.created_at.isoformat(),
        "updated_at": note.updated_at.isoformat(),
    }
    if note.promoted_from_id is not None:
        fields["promoted_from_id"] = note.promoted_from_id
    if isinstance(note.origin, Origin):
        fields["path"] = note.origin.path
    readers = [TEAM] if note.source == "team" else [owner(note.user_id)]
    if note.source == "personal" and note.status == "proposed":
        readers.append(PROMOTERS)
    return Document(note.id, fields, tuple(readers))


def node_id(name: str) -> str:
    """The id of a node's document: one for all spellings of its name that differ in case."""
    return hashlib.sha256(case_key(name).encode()).hexdigest()[:32]


def node_document(node: Node) -> Document:
    """A node as a document."""
    return Document(
        node_id(node.name),
        {
            "name": node.name,
            "node_type": node.node_type,
            "description": node.description,
            "content": node.content,
            "metadata": node.metadata,
        },
    )


async def note_documents(changes: AsyncIterator[NoteChange]) -> AsyncIterator[DocumentChange]:
    """The changes of notes as changes of documents."""
    async for change in changes:
        yield Put(note_document(change.note)) if isinstance(change, NotePut) else change


class NoteDocuments:
    """The index `knowledge`, filled from a store of notes."""

    index = "knowledge"
    fields = NOTE_FIELDS

    def __init__(self, changes: Callable[[str | None], AsyncIterator[DocumentChange]]) -> None:
        self.changes = changes


class NodeDocuments:
    """The index `nodes`, filled from a store of nodes."""

    index = "nodes"
    fields = NODE_FIELDS
    is_public = True

    def __init__(self, changes: Callable[[str | None], AsyncIterator[DocumentChange]]) -> None:
        self.changes = changes


class DocumentCollection(Protocol):
    """Documents that can only be read all at once."""

    async def state(self) -> str:
        """A name that changes whenever a document does."""
        ...

    def everything(self) -> AsyncIterator[Document]: ...


@dataclass(frozen=True, slots=True)
class _LastReading:
    """The digests of the documents in one state of the collection."""

    state: str
    fingerprints: Mapping[str, bytes]


class DiffedDocuments:
    """A source over a collection: the changes since this process last read it, else all."""

    def __init__(
        self, index: str, fields: Mapping[str, FieldKind], collection: DocumentCollection
    ) -> None:
        self.index = index
        self.fields = fields
        self._collection = collection
        self._last: _LastReading | None = None

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        state = await self._collection.state()
        if state == since:
            return
        last = self._last
        known = last.fingerprints if last is not None and last.state == since else None
        if known is None:
            yield Reset()
        present: dict[str, bytes] = {}
        async for document in self._collection.everything():
            fingerprint = _fingerprint(document)
            if document.id not in present and (
                known is None or known.get(document.id) != fingerprint
            ):
                yield Put(document)
            present.setdefault(document.id, fingerprint)
        for gone in known or ():
            if gone not in present:
                yield Drop(gone)
        self._last = _LastReading(state, present)
        yield Checkpoint(state)


def _fingerprint(document: Document) -> bytes:
    return hashlib.blake2b(
        orjson.dumps([document.fields, document.readers], default=str), digest_size=12
    ).digest()
