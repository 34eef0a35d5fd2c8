"""Ports of a build: sources, state, snapshots, files, and a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from carrel.rooms.papers.building.identity import RecordClaim
from carrel.rooms.papers.building.models import (
    FiledSummary,
    FoundSource,
    KnownPaper,
    KnownSource,
    ModelText,
    PaperRecord,
    PaperToRead,
    PartJob,
    PartRead,
    ReadProblem,
    SkippedFile,
    SourcePart,
)
from carrel.rooms.papers.building.papers import PublishedPaper


class AssetStore(Protocol):
    """Stores texts and files under the SHA-256 of their content and returns that hash."""

    def keep_markdown(self, text: str) -> str: ...

    def keep_translation(self, text: str, language: str) -> str: ...

    def keep_pdf(self, path: Path) -> str: ...

    def keep_image(self, path: Path) -> str: ...


class PaperSources(Protocol):
    """Files and folders of papers. One bad file is a problem in the answer, never an error."""

    def find(self, sources: Sequence[Path]) -> tuple[list[FoundSource], list[SkippedFile]]:
        """Every readable file below the sources, and the files left out."""
        ...

    def is_unchanged(self, known: KnownSource, found: FoundSource) -> bool: ...

    def parts(self, source: FoundSource) -> Iterator[SourcePart]: ...

    def read(self, jobs: Iterable[PartJob]) -> Iterator[PartRead]:
        """The content of each part, in any order; several are read in parallel."""
        ...


class BuildState(Protocol):
    """The inputs and outputs of earlier builds, including interrupted ones."""

    def known_sources(self) -> dict[str, KnownSource]: ...

    def forget_sources(self, paths: Iterable[str]) -> None: ...

    def begin_source(self, source: FoundSource) -> frozenset[int]:
        """Start a source; returns the numbers of its parts that were already read unchanged."""
        ...

    def add_part(self, read: PartRead) -> None: ...

    def complete_source(self, path: str) -> None: ...

    def commit(self) -> None: ...

    def claims(self) -> Iterator[RecordClaim]: ...

    def digests(self) -> Mapping[int, str]: ...

    def record_count(self) -> int: ...

    def records(self, record_ids: Sequence[int]) -> list[PaperRecord]:
        """These records, in the order asked for."""
        ...

    def assets(self) -> frozenset[str]:
        """Paths in the static folder that some record needs."""
        ...

    def problems(self) -> Iterator[tuple[str, ReadProblem]]: ...

    def published(self) -> tuple[str | None, dict[str, KnownPaper]]:
        """The papers of the last snapshot; its build id if that snapshot is still on disk."""
        ...

    def prepare_publication(self, build_id: str, papers: Iterable[KnownPaper]) -> None:
        """Record the publication before the swap; it counts once that snapshot is on disk."""
        ...

    def confirm_publication(self, build_id_on_disk: str | None) -> None: ...


class SnapshotDraft(Protocol):
    """An unpublished snapshot."""

    def remove(self, paper_ids: Iterable[str]) -> None: ...

    def add(self, papers: Iterable[PublishedPaper]) -> None: ...

    def finish(self, build_id: str, built_at: str) -> None: ...


class SnapshotWriter(Protocol):
    """A draft starts from the current snapshot or empty, and replaces it in one step."""

    def current_build_id(self) -> str | None: ...

    def draft(self, from_current: bool) -> AbstractContextManager[SnapshotDraft]: ...

    def publish(self) -> None: ...


class StaticFolder(Protocol):
    """The texts and files beside the snapshot."""

    def write(self, papers: Sequence[PublishedPaper]) -> None:
        """May return before all is written; `flush` waits for the rest."""
        ...

    def flush(self) -> None: ...

    def sweep(self, paper_ids: frozenset[str], assets: frozenset[str]) -> int:
        """Removes what no paper of the current snapshot needs; returns how many files."""
        ...


class BuildLock(Protocol):
    """Only one build at a time may work on a folder."""

    def held(self) -> AbstractContextManager[None]:
        """Raises BuildInProgressError if another build holds the lock."""
        ...


class SummaryStore(Protocol):
    """Summaries that a model wrote for papers of this corpus."""

    def stamps(self) -> Mapping[str, str]:
        """For each paper that has some, a text that changes whenever they do."""
        ...

    def of(self, paper_id: str) -> tuple[FiledSummary, ...]: ...

    def has(self, paper_id: str, template: str, basis: str) -> bool:
        """Whether this template was filled from the text with this hash already."""
        ...

    def file(self, paper_id: str, summary: FiledSummary, basis: str) -> None: ...


class PapersToRead(Protocol):
    """The papers of the current snapshot with their readable texts."""

    def count(self) -> int: ...

    def papers(self) -> Iterator[PaperToRead]: ...


class SummaryModel(Protocol):
    """A language model that writes plain text."""

    @property
    def provider(self) -> str: ...

    @property
    def name(self) -> str: ...

    async def write(self, instructions: str, text: str) -> ModelText:
        """Raises a CarrelError if there is no complete answer."""
        ...


@dataclass(frozen=True, slots=True)
class BuildStores:
    """All storage that a build of one corpus folder reads and writes."""

    inbox: Path
    state: BuildState
    snapshots: SnapshotWriter
    static: StaticFolder
    summaries: SummaryStore
    lock: BuildLock
