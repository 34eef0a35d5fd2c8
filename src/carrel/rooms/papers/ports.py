"""What the papers room needs from outside: papers, their texts, and a way to add some."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from carrel.core.caller import Call
from carrel.core.progress import Progress
from carrel.libraries.identifiers import ArxivId, Doi
from carrel.libraries.query.papers import FacetCategory, PaperQuery
from carrel.rooms.papers.correction_models import (
    EditPaper,
    PaperCorrected,
    PaperHistory,
    PaperHistoryOf,
)
from carrel.rooms.papers.models import (
    CorpusStatistics,
    FacetCount,
    Paper,
    PaperAdded,
    PaperHit,
    PaperMetadata,
    PaperRemoved,
    PassageHit,
)


class PaperStore(Protocol):
    """Searches and reads a corpus; methods raise SnapshotUnavailableError without one."""

    async def search(self, query: PaperQuery, *, first: int, count: int) -> list[PaperHit]:
        """`count` papers after the `first` best ones, best first."""
        ...

    async def search_by_keyword(self, keyword: str, *, first: int, count: int) -> list[PaperHit]:
        """Papers with exactly this keyword or tag, then those whose value contains its words."""
        ...

    async def find(self, paper_id: str) -> Paper | None: ...

    async def find_by_keys(self, keys: Sequence[str]) -> dict[str, str]:
        """Paper ids by keys such as `doi:10.1000/x`; unknown keys are left out."""
        ...

    async def abstract(self, paper_id: str) -> str | None:
        """The text of a paper that has no source: its abstract or its title."""
        ...

    async def bibtex(self, paper_id: str) -> str | None: ...

    async def list_ids(self, *, first: int, count: int) -> list[str]:
        """Ids of `count` papers after the `first`, newest first."""
        ...

    async def ids_like(self, text: str, count: int) -> tuple[list[str], int]:
        """Ids with this beginning, then papers with such a word in the title; and how many."""
        ...

    async def words_like(self, word: str) -> list[tuple[str, int]]:
        """Words of the papers that begin as a mistyped one may, and how many papers have them."""
        ...

    async def statistics(self) -> CorpusStatistics: ...

    async def top_facets(self, category: FacetCategory, count: int) -> list[FacetCount]: ...


class StoredPassage(Protocol):
    """A passage as an index has it; `start` and `end` are its place in the source or abstract."""

    @property
    def id(self) -> str: ...
    @property
    def paper_id(self) -> str: ...
    @property
    def section(self) -> str: ...
    @property
    def page(self) -> int | None: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...


class PassageTasks(Protocol):
    """Work of another room for which passages are found."""

    async def keep_found(self, task_id: str, hits: Sequence[PassageHit], call: Call) -> None:
        """Lets the task cite what was found; raises NotFoundError, ConflictError."""
        ...


class PassageSearch(Protocol):
    """Ranks passages by an index of them."""

    async def search_passages(
        self, query: PaperQuery, *, within: Sequence[str], first: int, count: int
    ) -> Sequence[StoredPassage] | None:
        """`count` passages after the `first` best ones, of these papers or of all where none is
        named; None where the corpus has no index of passages.
        """
        ...


@dataclass(frozen=True, slots=True)
class PaperToCite:
    """A paper with the BibTeX entry that the snapshot holds for it, if it holds one."""

    metadata: PaperMetadata
    bibtex: str | None


class Assets(Protocol):
    """Static files by their relative name, such as `md/<hash>.md`."""

    async def read(self, name: str) -> bytes:
        """The whole file. Raises FileNotFoundError, TimeoutError when late, else OSError."""
        ...


class WorkLookup(Protocol):
    """Literature services."""

    async def find_csl_json(self, identifier: Doi | ArxivId) -> bytes | None:
        """The work as a CSL-JSON document, or None when no service knows it."""
        ...


class PaperInbox(Protocol):
    """Stores uploaded papers, one file each, as a source of later builds."""

    def put(self, content: bytes, suffix: str) -> Path: ...

    def put_file(self, file: Path, sha256: str, suffix: str, name: str = "") -> Path:
        """A copy of the file, whose hash is known; `name` is what whoever sent it calls it."""
        ...

    def remove(self, path: Path) -> None: ...


AddFile = Callable[[Path], Awaitable[PaperAdded]]
"""Adds a file of the inbox to the corpus. Raises PaperNotAddedError, and ConflictError where
another build works on the corpus.
"""

TakeFiles = Callable[[Path, "tuple[Path, ...] | None", Progress], Awaitable[PaperAdded]]
"""Adds a file or folder where it lies; with folders given, only what resolves into one of them.
Raises as AddFile does.
"""

RemovePaper = Callable[[str, str], Awaitable[PaperRemoved]]
"""Takes a paper out of the corpus for a person. Raises PaperNotFoundError, and ConflictError where
another build works on the corpus.
"""

CorrectPaper = Callable[[EditPaper, str], Awaitable[PaperCorrected]]
"""Corrects a paper for a person. Raises PaperNotFoundError, DecisionNotFoundError, ConflictError
where another build works on the corpus or the corpus cannot be changed, and InvalidInputError.
"""

TellHistory = Callable[[PaperHistoryOf], Awaitable[PaperHistory]]
"""The records and decisions of a paper, or all decisions. Raises PaperNotFoundError, and
ConflictError for a corpus that was built elsewhere.
"""
