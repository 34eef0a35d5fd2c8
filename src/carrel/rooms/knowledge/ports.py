"""What the knowledge room needs from outside: stores, concepts of papers, a search engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from carrel.core.caller import Call
from carrel.rooms.knowledge.documents import (
    DocumentChange,
    DocumentSource,
    NodeDocuments,
    NoteChange,
    NoteDocuments,
)
from carrel.rooms.knowledge.links import LinkTarget
from carrel.rooms.knowledge.models import SearchAnswer
from carrel.rooms.knowledge.notes import (
    Change,
    FoundIds,
    ListedIds,
    Node,
    Note,
    NoteHit,
    NoteListing,
    NoteSearch,
    RankedSearch,
    Shelf,
    Version,
)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Differences between stores: text ranking, and the maximum of notes to filter here."""

    has_ranking: bool
    reads_at_most: int | None


class NoteStore(Protocol):
    """Durable storage of notes; raises KnowledgeStoreError if it is unusable."""

    @property
    def capabilities(self) -> Capabilities: ...

    async def write(self, changes: Sequence[Change]) -> None:
        """Write all changes or none; raises NoteChangedError or NoteExistsError."""
        ...

    async def find(self, note_id: str) -> Note | None: ...

    async def find_many(self, note_ids: Sequence[str]) -> dict[str, Note]:
        """The notes of these ids that exist."""
        ...

    async def titled(self, titles: Sequence[str], shelf: Shelf) -> dict[str, Note]:
        """The newest note of each title, keyed by the title as given."""
        ...

    async def search(self, search: NoteSearch) -> list[NoteHit]: ...

    async def history(self, note_id: str, limit: int) -> list[Version]:
        """Newest first."""
        ...

    def everything(self, shelf: Shelf) -> AsyncIterator[Note]:
        """All notes of a shelf once each, read in pages."""
        ...

    def note_changes(self, since: str | None) -> AsyncIterator[NoteChange]:
        """What changed after the cursor `since`, every acknowledged write and removal included.

        None gives all notes. A change may come again. Reset comes first where the cursor is not of
        this database, such as one from before a restore.
        """
        ...

    def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        """The same as documents."""
        ...

    async def ping(self) -> str:
        """`answers` at the same cost whatever the store holds; KnowledgeStoreError otherwise."""
        ...

    async def check(self) -> str:
        """A status line of the store; raises KnowledgeStoreError if it is unusable."""
        ...

    async def close(self) -> None: ...


class NoteFinder(Protocol):
    """The index of notes: a cache that holds every write acknowledged before the question.

    Words weigh by the notes that the reader of the shelf may see, and by no others.
    """

    async def search(self, search: RankedSearch) -> FoundIds:
        """Notes by rank. Raises IndexBuildingError while it is first filled."""
        ...

    async def list_notes(self, listing: NoteListing) -> ListedIds:
        """The newest notes that fit, from an offset on, with the most frequent of their tags."""
        ...

    async def find_links(self, terms: Sequence[str], shelf: Shelf, limit: int) -> list[str]:
        """The ids of the newest notes with a link to one of these."""
        ...

    def follow_later(self) -> None:
        """Called after notes were written; never raises."""
        ...

    async def close(self) -> None: ...


class NodeStore(Protocol):
    """Named nodes. Two names that differ in case only are one node."""

    async def put(self, nodes: Sequence[Node]) -> None:
        """Adds or replaces, all or none."""
        ...

    async def find(self, names: Sequence[str]) -> dict[str, Node]:
        """The existing nodes, keyed by the name as given."""
        ...

    async def near(self, name: str, limit: int) -> list[str]:
        """Up to `limit` names with a similar spelling, in no particular order."""
        ...

    def changes(self, since: str | None) -> AsyncIterator[DocumentChange]: ...


class KnowledgeStores(NamedTuple):
    """The stores of the room. Closing the notes closes what they share."""

    notes: NoteStore
    nodes: NodeStore

    @property
    def sources(self) -> tuple[DocumentSource, ...]:
        return NoteDocuments(self.notes.changes), NodeDocuments(self.nodes.changes)


@dataclass(frozen=True, slots=True)
class Concept:
    """A keyword or tag of the paper corpus, with some of the papers that have it."""

    name: str
    kind: str
    paper_count: int
    papers: tuple[tuple[str, str], ...]


class Concepts(Protocol):
    """The concepts of the paper corpus, if there is one."""

    async def find(self, names: Sequence[str]) -> Mapping[str, Concept]: ...

    async def near(self, name: str, limit: int) -> list[str]: ...


class NoConcepts:
    """There is no paper corpus."""

    async def find(self, names: Sequence[str]) -> Mapping[str, Concept]:
        return {}

    async def near(self, name: str, limit: int) -> list[str]:
        return []


@dataclass(frozen=True, slots=True)
class LinkedThing:
    """A paper, reference or hypothesis that a note points at."""

    id: str
    title: str


class LinkedThings(Protocol):
    """What notes point at in the other rooms."""

    async def find(self, target: LinkTarget, call: Call) -> LinkedThing | None:
        """The thing, where there is one and the caller may see it."""
        ...


class NoLinkedThings:
    """There are no other rooms."""

    async def find(self, target: LinkTarget, call: Call) -> LinkedThing | None:
        return None


class Searcher(Protocol):
    """Answers search bodies."""

    async def search(
        self, index: str, body: Mapping[str, Any], readers: frozenset[str]
    ) -> SearchAnswer:
        """Search; `readers` are the names under which the caller may read."""
        ...

    async def notes_changed(self) -> None:
        """Called after notes were written, to update derived copies; never raises."""
        ...

    async def close(self) -> None: ...
