"""What a build needs from outside: sources found, parts read, a memory, a place to publish, and
somebody to tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from carrel.core.paper_record import FiledSummary, PaperRecord, ReadProblem, SourcePart
from carrel.libraries.identifiers import ArxivId, Doi
from carrel.rooms.papers.building.identity import Claim
from carrel.rooms.papers.building.models import (
    AddedPaper,
    FoundSource,
    KnownSource,
    PaperToRead,
    PartJob,
    PartRead,
    PublishedPaper,
    RememberedPaper,
    Skipped,
    Written,
)


class SourceFinder(Protocol):
    """Looks through folders for what can be read."""

    def find(self, sources: Sequence[Path]) -> tuple[list[FoundSource], list[Skipped]]: ...

    def is_unchanged(self, known: KnownSource, found: FoundSource) -> bool: ...


class PartsReader(Protocol):
    """Cuts sources into parts and reads these, several at once where the machine allows it."""

    def parts(self, source: FoundSource) -> Iterator[SourcePart]: ...

    def read(self, jobs: Iterable[PartJob]) -> Iterator[PartRead]: ...


class BuildState(Protocol):
    """Remembers between builds, and across a build that was cut short, what was read and what was
    published.
    """

    def known_sources(self) -> dict[str, KnownSource]: ...

    def forget_sources(self, paths: Iterable[str]) -> None: ...

    def begin_source(self, source: FoundSource) -> frozenset[int]:
        """Makes room for a source and answers with the parts of this very file that are read
        already.
        """
        ...

    def keep_part(self, read: PartRead) -> None: ...

    def complete_source(self, path: str) -> None: ...

    def commit(self) -> None: ...

    def claims(self) -> Iterator[Claim]: ...

    def digests(self) -> Mapping[int, str]: ...

    def record_count(self) -> int: ...

    def records(self, record_ids: Sequence[int]) -> list[PaperRecord]:
        """These records, in the order asked for."""
        ...

    def assets(self) -> frozenset[str]:
        """Paths in the static folder that some record needs."""
        ...

    def problems(self) -> Iterator[tuple[str, ReadProblem]]: ...

    def published(self) -> tuple[str | None, dict[str, RememberedPaper]]:
        """The papers of the last snapshot, and its build id if that snapshot is still the one on
        disk.
        """
        ...

    def promise_publication(self, build_id: str, papers: Iterable[RememberedPaper]) -> None:
        """Written before the snapshot is swapped in; it counts once that snapshot is the one on
        disk.
        """
        ...

    def settle_publication(self, build_id_on_disk: str | None) -> None: ...


class SnapshotDraft(Protocol):
    """A snapshot that nobody reads yet."""

    def remove(self, paper_ids: Iterable[str]) -> None: ...

    def add(self, papers: Iterable[PublishedPaper]) -> None: ...

    def finish(self, build_id: str, built_at: str) -> None: ...


class SnapshotShelf(Protocol):
    """Where the snapshot lies. A draft starts from the current one or empty, and replaces it in one
    step.
    """

    def current_build_id(self) -> str | None: ...

    def draft(self, from_current: bool) -> AbstractContextManager[SnapshotDraft]: ...

    def publish(self) -> None: ...


class StaticFolder(Protocol):
    """The texts and files beside the snapshot."""

    def write(self, papers: Sequence[PublishedPaper]) -> None:
        """May go on writing after it returns; `settle` waits for that."""
        ...

    def settle(self) -> None: ...

    def sweep(self, paper_ids: frozenset[str], assets: frozenset[str]) -> int:
        """Removes what no paper of the current snapshot needs and says how many files that were."""
        ...


class BuildLock(Protocol):
    """Only one build at a time may work on a folder."""

    def held(self) -> AbstractContextManager[None]: ...


class FiledSummaries(Protocol):
    """Summaries that a model wrote for papers of this corpus."""

    def stamps(self) -> Mapping[str, str]:
        """For each paper that has some, a text that changes whenever they do."""
        ...

    def of(self, paper_id: str) -> tuple[FiledSummary, ...]: ...

    def has(self, paper_id: str, template: str, basis: str) -> bool:
        """Whether a summary was made by that template from that text already."""
        ...

    def file(self, paper_id: str, summary: FiledSummary, basis: str) -> None: ...


class PapersToRead(Protocol):
    """The papers of the current snapshot, one after the other, with what there is to read of
    each.
    """

    def count(self) -> int: ...

    def papers(self) -> Iterator[PaperToRead]: ...


class LanguageModel(Protocol):
    """Answers in writing, and says what that took."""

    @property
    def provider(self) -> str: ...

    @property
    def name(self) -> str: ...

    def write(self, instructions: str, text: str) -> Written: ...


class WorkLookup(Protocol):
    """Asks the world what a DOI or an arXiv id stands for."""

    async def find_csl_json(self, identifier: Doi | ArxivId) -> bytes | None:
        """The work as a CSL-JSON document, or None when nobody knows it."""
        ...


class Inbox(Protocol):
    """Keeps what people hand in, one file for each paper, as a source of later builds."""

    def put(self, content: bytes, suffix: str) -> Path: ...

    def take_back(self, path: Path) -> None: ...


class Rebuild(Protocol):
    """Brings the corpus up to date with a file of the inbox, away from whoever asks."""

    async def add(self, file: Path) -> AddedPaper: ...
