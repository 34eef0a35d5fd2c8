"""The corpus at a place, whichever kind lies there now: segments, or somebody's snapshot.

A folder gets segments when its first build ends, and an earlier snapshot of our own becomes
segments while servers run. So every call looks which kind there is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from carrel.libraries.query.papers import FacetCategory, PaperQuery
from carrel.rooms.knowledge.documents import DocumentChange, DocumentSource
from carrel.rooms.knowledge.ports import Concept, Concepts
from carrel.rooms.papers.building.doubts import DoubtKind
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.rooms.papers.models import CorpusStatistics, FacetCount, Paper, PaperHit
from carrel.rooms.papers.ports import Assets, PaperStore, PassageSearch, StoredPassage
from carrel.rooms.papers.review import DoubtsPage, ReviewList
from carrel.stores.corpus.folder import CorpusFolder
from carrel.stores.paper_documents import PAPER_FIELDS
from carrel.stores.sqlite.papers import SNAPSHOT_NAME
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot

ReaderT = TypeVar("ReaderT")
AnswerT = TypeVar("AnswerT")


class CheckedStore(PaperStore, PassageSearch, ReviewList, Protocol):
    """A store of papers, their passages and doubts that can be checked and closed."""

    async def check(self) -> None:
        """Raises SnapshotUnavailableError where the corpus cannot be read."""
        ...

    async def close(self) -> None: ...


class CorpusPlace:
    """Where a corpus lies: segments in a folder, or a snapshot file.

    A folder's manifest goes before a snapshot of the usual name beside it, which is what an upgrade
    leaves until it is done. A snapshot of another name is meant as it is named.
    """

    def __init__(self, snapshot: Path) -> None:
        self.snapshot = PaperSnapshot(snapshot)
        self.folder = CorpusFolder(snapshot.parent)
        self._may_have_segments = snapshot.name == SNAPSHOT_NAME

    @property
    def path(self) -> Path:
        """The folder of the segments, or the snapshot's file."""
        return self.folder.path if self.has_segments() else self.snapshot.path

    def has_segments(self) -> bool:
        return self._may_have_segments and self.folder.exists()

    def exists(self) -> bool:
        """Whether there is a corpus; one that cannot be looked at counts."""
        return self.has_segments() or self.snapshot.exists()

    def close(self) -> None:
        self.snapshot.close()
        self.folder.close()


class ReaderByKind(Generic[ReaderT]):
    """The readers of the corpus at a place, and which of them reads what lies there now.

    What reads segments is opened, and imported, when there are some and somebody asks. `of_nothing`
    answers where nobody named a corpus and there is none yet; `refuse_nothing` raises where it is
    not known whether there is one.
    """

    def __init__(
        self,
        place: CorpusPlace,
        of_snapshot: ReaderT,
        open_segments: Callable[[], ReaderT],
        of_nothing: ReaderT | None = None,
        refuse_nothing: Callable[[], None] | None = None,
    ) -> None:
        self._place = place
        self._of_snapshot = of_snapshot
        self._of_nothing = of_nothing
        self._refuse_nothing = refuse_nothing
        self._open_segments = open_segments
        self._of_segments: ReaderT | None = None

    @property
    def now(self) -> ReaderT:
        if not self._place.has_segments():
            if self._refuse_nothing is not None:
                self._refuse_nothing()
            is_empty = self._of_nothing is not None and not self._place.snapshot.exists()
            return self._of_nothing if is_empty and self._of_nothing else self._of_snapshot
        if self._of_segments is None:
            self._of_segments = self._open_segments()
        return self._of_segments

    async def ask(self, question: Callable[[ReaderT], Awaitable[AnswerT]]) -> AnswerT:
        """The answer of the present reader; of the other one where that took over meanwhile.

        A reader of segments looks at their manifest before it answers, so that nobody else need.
        """
        reader = self.now if self._of_segments is None else self._of_segments
        try:
            return await question(reader)
        except (SnapshotUnavailableError, FileNotFoundError):
            if self.now is reader:
                raise
            return await question(self.now)

    def open_readers(self) -> list[ReaderT]:
        """The readers that have been made, to be closed."""
        return [self._of_snapshot, *([] if self._of_segments is None else [self._of_segments])]


class CurrentPapers:
    """The store of the papers room over the corpus at a place."""

    def __init__(self, readers: ReaderByKind[CheckedStore]) -> None:
        self._readers = readers

    async def search(self, query: PaperQuery, *, first: int, count: int) -> list[PaperHit]:
        return await self._readers.ask(lambda it: it.search(query, first=first, count=count))

    async def search_by_keyword(self, keyword: str, *, first: int, count: int) -> list[PaperHit]:
        return await self._readers.ask(
            lambda it: it.search_by_keyword(keyword, first=first, count=count)
        )

    async def find(self, paper_id: str) -> Paper | None:
        return await self._readers.ask(lambda it: it.find(paper_id))

    async def find_by_keys(self, keys: Sequence[str]) -> dict[str, str]:
        return await self._readers.ask(lambda it: it.find_by_keys(keys))

    async def abstract(self, paper_id: str) -> str | None:
        return await self._readers.ask(lambda it: it.abstract(paper_id))

    async def bibtex(self, paper_id: str) -> str | None:
        return await self._readers.ask(lambda it: it.bibtex(paper_id))

    async def list_ids(self, *, first: int, count: int) -> list[str]:
        return await self._readers.ask(lambda it: it.list_ids(first=first, count=count))

    async def ids_like(self, text: str, count: int) -> tuple[list[str], int]:
        return await self._readers.ask(lambda it: it.ids_like(text, count))

    async def words_like(self, word: str) -> list[tuple[str, int]]:
        return await self._readers.ask(lambda it: it.words_like(word))

    async def statistics(self) -> CorpusStatistics:
        return await self._readers.ask(lambda it: it.statistics())

    async def top_facets(self, category: FacetCategory, count: int) -> list[FacetCount]:
        return await self._readers.ask(lambda it: it.top_facets(category, count))

    async def search_passages(
        self, query: PaperQuery, *, within: Sequence[str], first: int, count: int
    ) -> Sequence[StoredPassage] | None:
        return await self._readers.ask(
            lambda it: it.search_passages(query, within=within, first=first, count=count)
        )

    async def papers_in_doubt(
        self,
        kind: DoubtKind | None,
        field: str | None,
        *,
        first: int,
        count: int,
        paper_id: str | None = None,
    ) -> DoubtsPage | None:
        return await self._readers.ask(
            lambda it: it.papers_in_doubt(kind, field, first=first, count=count, paper_id=paper_id)
        )

    async def check(self) -> None:
        await self._readers.ask(lambda it: it.check())

    async def close(self) -> None:
        for store in self._readers.open_readers():
            await store.close()


class ClosableAssets(Assets, Protocol):
    """Static files, and what is held open for them."""

    async def close(self) -> None: ...


class CurrentAssets:
    """Texts and files: from the segments, or from the static folder of a snapshot."""

    def __init__(self, readers: ReaderByKind[ClosableAssets]) -> None:
        self._readers = readers

    async def read(self, name: str) -> bytes:
        """Raises FileNotFoundError, TimeoutError, or OSError for any other failure."""
        return await self._readers.ask(lambda it: it.read(name))

    async def close(self) -> None:
        for assets in self._readers.open_readers():
            await assets.close()


class CurrentConcepts:
    """Keywords and tags of the corpus at a place; none where there is no corpus."""

    def __init__(self, readers: ReaderByKind[Concepts]) -> None:
        self._readers = readers

    async def find(self, names: Sequence[str]) -> Mapping[str, Concept]:
        return await self._readers.ask(lambda it: it.find(names))

    async def near(self, name: str, limit: int) -> list[str]:
        return await self._readers.ask(lambda it: it.near(name, limit))


class CurrentDocuments:
    """The index `papers` over the corpus at a place; keep the object, it knows what it told."""

    index = "papers"
    fields = PAPER_FIELDS

    def __init__(self, readers: ReaderByKind[DocumentSource]) -> None:
        self._readers = readers

    def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        return self._readers.now.changes(since)
