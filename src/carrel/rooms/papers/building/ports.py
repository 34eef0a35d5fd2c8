"""Ports of a build: sources, state, the published corpus, files, and a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from carrel.libraries.works.block_lists import NO_BLOCK_LIST, BlockList
from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.figures import PaperFigure
from carrel.rooms.papers.building.build_reports import ReportLine
from carrel.rooms.papers.building.decisions import Decision, RecordAddress
from carrel.rooms.papers.building.models import (
    FoundSource,
    KnownSource,
    ModelText,
    PaperToRead,
    PartJob,
    PartRead,
    ReadProblem,
    SkippedFile,
    SourcePart,
)
from carrel.rooms.papers.building.paper_records import FiledSummary, PaperRecord
from carrel.rooms.papers.building.papers import PaperVersion
from carrel.rooms.papers.building.planning import (
    KnownPaper,
    LinkedRecords,
    PaperChange,
    PaperLinks,
)


class AssetStore(Protocol):
    """Stores texts and files under the SHA-256 of their content and returns that hash."""

    def keep_markdown(self, text: str) -> str: ...

    def keep_translation(self, text: str, language: str) -> str: ...

    def keep_pdf(self, path: Path) -> str: ...

    def keep_image(self, path: Path) -> str: ...

    def keep_image_bytes(self, content: bytes, extension: str) -> str: ...

    def keep_references(self, works: Sequence[CitedWork]) -> str: ...

    def keep_figures(self, figures: Sequence[PaperFigure]) -> str: ...


class PaperSources(Protocol):
    """Files and folders of papers. One bad file is a problem in the answer, never an error."""

    def find(self, sources: Sequence[Path]) -> tuple[list[FoundSource], list[SkippedFile]]:
        """Every readable file below the sources, and the files left out."""
        ...

    def find_files(self, paths: Sequence[Path]) -> tuple[list[FoundSource], list[SkippedFile]]:
        """These files alone, each with those among them that belong to it."""
        ...

    def find_beside(self, paths: Sequence[Path]) -> tuple[list[FoundSource], list[SkippedFile]]:
        """The sources that these files are, or that they belong to; gone files are left out."""
        ...

    def is_unchanged(self, known: KnownSource, found: FoundSource) -> bool: ...

    def hash_content(self, source: FoundSource) -> bytes | None:
        """The SHA-256 of a source's files, one after the other; None if one cannot be read."""
        ...

    def parts(self, source: FoundSource) -> Iterator[SourcePart]: ...

    def take_read(self, source: FoundSource) -> tuple[bytes | None, Iterator[PartRead]] | None:
        """The digest and parts of a source that a worker read apart; None where none did."""
        ...

    def finish_taken(self) -> None:
        """What workers read apart and a build took is not needed any more."""
        ...

    def read(self, jobs: Iterable[PartJob]) -> Iterator[PartRead]:
        """The content of each part, in any order; several are read in parallel."""
        ...


class BuildState(Protocol):
    """The inputs and outputs of earlier builds, including interrupted ones."""

    def known_sources(self) -> dict[str, KnownSource]: ...

    def known_source(self, path: str) -> KnownSource | None: ...

    def forget_sources(self, paths: Iterable[str]) -> None: ...

    def begin_source(self, source: FoundSource) -> frozenset[int]:
        """Start a source; returns the numbers of its parts that were already read unchanged."""
        ...

    def add_part(self, read: PartRead) -> None: ...

    def complete_source(self, path: str, content: bytes | None = None) -> None:
        """All parts are read; `content` is the SHA-256 of the bytes, if known."""
        ...

    def sources_with_content(self, content: bytes) -> list[KnownSource]: ...

    def move_source(self, before: str, source: FoundSource) -> None:
        """The source of the path `before` lies elsewhere now, or has another time."""
        ...

    def commit(self) -> None: ...

    def record_count(self) -> int: ...

    def records(self, record_ids: Sequence[int]) -> list[PaperRecord]:
        """These records, in the order asked for."""
        ...

    def problems(self, path: str | None = None) -> Iterator[tuple[str, ReadProblem]]:
        """Problems of one source, or of all."""
        ...

    def link_notes(self) -> Iterator[ReportLine]:
        """Records without a title, and conflicts of published papers."""
        ...

    def paper_links(self, paper_id: str) -> PaperLinks:
        """Why the records of a published paper are one, and what it is to other papers."""
        ...

    def is_touched(self) -> bool:
        """Whether a record came or went since the last publication."""
        ...

    def touch_everything(self) -> None:
        """Every paper must be written again: its segments are lost."""
        ...

    def touch_outdated(self, writer_version: int) -> None:
        """Every paper, if another version of the writer wrote them."""
        ...

    def touch_papers(self, paper_ids: Iterable[str]) -> None: ...

    def touch_source(self, path: str) -> None: ...

    def touched_count(self) -> int:
        """How many records were touched."""
        ...

    def linked_records(self) -> Iterator[LinkedRecords]:
        """Touched records with all that share keys with them, best sources first."""
        ...

    def known_paper(self, paper_id: str) -> tuple[KnownPaper, tuple[int, ...]] | None:
        """A published or removed paper, and its records."""
        ...

    def paper_id_by_keys(self, keys: Sequence[str]) -> str | None:
        """The published paper that has the first known of these keys."""
        ...

    def source_records(self, path: str) -> frozenset[int]:
        """The records that were read from a source."""
        ...

    def record_sources(self, record_ids: Sequence[int]) -> list[str]:
        """The sources of these records, in the order asked for."""
        ...

    def filed_stamps(self) -> dict[str, str]:
        """The stamps of summaries with which papers were published."""
        ...

    def left_out_assets(self) -> frozenset[str]:
        """Names of assets of records that belong to no paper."""
        ...

    def decide(self, decision: Decision) -> tuple[int, frozenset[int]]:
        """Add a decision to the next publication and touch what it is about.

        Returns its number and the records that it is about.
        """
        ...

    def roll_back(self) -> None:
        """Forget what was decided, touched and promised since the last commit."""
        ...

    def find_decision(self, number: int) -> Decision | None: ...

    def list_decisions(self, first: int, count: int) -> list[Decision]:
        """`count` decisions after the `first` newest."""
        ...

    def decisions_about(self, paper_id: str, record_ids: Sequence[int]) -> list[Decision]:
        """Decisions about a paper or its records, and their undoing, newest first."""
        ...

    def linked_with(self, record_ids: Sequence[int]) -> LinkedRecords:
        """These records with all that are linked to them."""
        ...

    def record_addresses(self, record_ids: Sequence[int]) -> tuple[RecordAddress, ...]:
        """How decisions name these records."""
        ...

    def published_build_id(self) -> str | None:
        """The build id of the last publication if that is the one on disk."""
        ...

    def has_published(self) -> bool: ...

    def greatest_numbers(self) -> tuple[int, int]:
        """The greatest row and index of a paper."""
        ...

    def promise(self, changes: Iterable[PaperChange]) -> None:
        """Record papers before the manifest is replaced; they count once it is on disk."""
        ...

    def promise_end(self, papers: Iterable[KnownPaper]) -> None: ...

    def promise_removal(self, paper: KnownPaper, removed_at: str) -> None: ...

    def promise_left_out(self, record_ids: Iterable[int]) -> None: ...

    def drop_promises(self) -> None: ...

    def prepare_publication(self, build_id: str) -> None: ...

    def confirm_publication(self, build_id_on_disk: str | None) -> None: ...


class Publication(Protocol):
    """Changes of a corpus that nobody sees yet."""

    def take_row(self) -> int: ...

    def take_index(self) -> int: ...

    def end_row(self, row: int) -> None: ...

    def keep_assets(self, names: Iterable[str]) -> None:
        """Keep assets of records that no paper holds from now on."""
        ...

    def write(self, papers: Callable[[], Iterable[PaperVersion]], count: int) -> None:
        """Write one segment, rows in ascending order; may ask for the papers twice."""
        ...


class CorpusWriter(Protocol):
    """The published corpus of a folder, changed in one step."""

    def build_id(self) -> str | None: ...

    def paper_count(self) -> int: ...

    def doubtful_count(self) -> int:
        """How many papers have a field that somebody should look at."""
        ...

    def begin(
        self, greatest_row: int, greatest_index: int, *, is_whole: bool = False
    ) -> Publication:
        """A publication upon what is there, or with `is_whole` instead of it."""
        ...

    def publish(self, publication: Any, build_id: str, built_at: str) -> None: ...

    def compact(
        self, report: Callable[[int], None], most_runs: int | None = None
    ) -> tuple[int, int]:
        """Merge segments, reporting each; returns how many there were and are.

        With `most_runs` it ends after so many merges of neighbours.
        """
        ...

    def needs_compaction(self) -> bool: ...

    def reindex(self, report: Callable[[int], None]) -> None: ...


class StagedAssets(Protocol):
    """Texts that were read and are not in the corpus."""

    def has_staged(self) -> bool: ...

    def clear_staged(self, keep: frozenset[str]) -> None: ...


class BuildLock(Protocol):
    """Only one build at a time may work on a folder."""

    def held(self, wait_seconds: float = 0.0) -> AbstractContextManager[None]:
        """Raises BuildInProgressError if another build keeps the lock for so long."""
        ...


class SummaryStore(Protocol):
    """Summaries that a model wrote for papers of this corpus."""

    def stamps(self) -> Mapping[str, str]:
        """For each paper that has some, a text that changes whenever they do."""
        ...

    def stamp(self, paper_id: str) -> str:
        """The same text for one paper; empty where it has none."""
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
    corpus: CorpusWriter
    assets: StagedAssets
    summaries: SummaryStore
    lock: BuildLock
    block_list: BlockList = NO_BLOCK_LIST
