"""Puts a paper builder together: readers, memory, snapshot writer and static folder for one corpus
folder.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from carrel.core.clock import Clock, SystemClock
from carrel.core.errors import CarrelError, ConflictError
from carrel.core.paper_record import AssetKeeper, SourcePart, SourceReader
from carrel.core.progress import NoProgress, Progress
from carrel.demo import PAPERS_FOLDER
from carrel.rooms.papers.building.adding import PaperAdder
from carrel.rooms.papers.building.models import (
    AddedPaper,
    FileStamp,
    FoundSource,
    KnownSource,
    PartJob,
    PartRead,
    Skipped,
)
from carrel.rooms.papers.building.ports import WorkLookup
from carrel.rooms.papers.building.report import BuildReport
from carrel.rooms.papers.building.service import PaperBuilder
from carrel.rooms.papers.errors import (
    BuildInProgressError,
    ForeignSnapshotError,
    PaperNotAddedError,
)
from carrel.services.paper_sources.bibliography import BibliographyReader
from carrel.services.paper_sources.jats import JatsReader
from carrel.services.paper_sources.json_records import JsonLinesReader, PaperInfosReader
from carrel.services.paper_sources.markdown import MarkdownReader
from carrel.services.paper_sources.pdf import PdfReader
from carrel.services.paper_sources.sources import (
    DEFAULT_SIZE_LIMIT_BYTES,
    Errand,
    Stamp,
    find,
    read_here,
    read_in_processes,
    stamp,
)
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.sqlite.papers.build_state import BuildLockFile, SqlitePaperBuildState
from carrel.stores.sqlite.papers.snapshot_writer import (
    SNAPSHOT_NAME,
    BeforeSwap,
    SqliteSnapshotShelf,
)
from carrel.stores.static_folder import (
    INBOX_NAME,
    STATIC_NAME,
    SUMMARIES_NAME,
    PaperAssets,
    PaperInbox,
    PaperStaticFolder,
    SummaryFiles,
)
from carrel.wiring.papers_index import bring_index_up_to_date

AfterSwap = Callable[[Path], None]

WORKSHOP_NAME = ".carrel-build"
# Below this much to read, starting further processes takes longer than they save.
_WORTH_PROCESSES_BYTES = 4 * 1024 * 1024
_MAY_CRASH = frozenset({"pdf"})
_ADDING_LOCK = "lock.db.adding"
# Less than add_paper may take, so that who waits is told why.
_ADDING_WAIT_SECONDS = 240.0


def paper_readers() -> tuple[SourceReader, ...]:
    """Every kind of source, the more particular first."""
    return (
        PaperInfosReader(),
        JsonLinesReader(),
        MarkdownReader(),
        BibliographyReader(),
        JatsReader(),
        PdfReader(),
    )


def _equipment(static: Path) -> tuple[tuple[SourceReader, ...], AssetKeeper]:
    return paper_readers(), PaperAssets(static)


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds sources and tells by their stamps whether they changed."""

    size_limit_bytes: int

    def find(self, sources: Sequence[Path]) -> tuple[list[FoundSource], list[Skipped]]:
        found, passed = find(sources, paper_readers(), self.size_limit_bytes)
        return (
            [
                FoundSource(
                    each.path,
                    each.reader.name,
                    each.reader.version,
                    each.companions,
                    _stamps(each.stamps),
                    each.size_bytes,
                )
                for each in found
            ],
            [Skipped(each.path, each.code, each.message) for each in passed],
        )

    def is_unchanged(self, known: KnownSource, found: FoundSource) -> bool:
        if (known.reader, known.reader_version, known.stamps) != (
            found.reader,
            found.reader_version,
            found.stamps,
        ):
            return False
        return all(_stamps([stamp(Path(further.path))]) == (further,) for further in known.further)


@dataclass(frozen=True, slots=True)
class _PartsReader:
    """Reads here or in other processes, as suits the amount and the kind; None workers means one
    for each core.
    """

    static: Path
    workers: int | None

    def parts(self, source: FoundSource) -> Iterator[SourcePart]:
        reader = next(reader for reader in paper_readers() if reader.name == source.reader)
        return reader.parts(source.path, source.companions)

    def read(self, jobs: Iterable[PartJob]) -> Iterator[PartRead]:
        every_job, is_worth_processes = _weighed(jobs)
        errands = (Errand(job.source.reader, job.part, job) for job in every_job)
        equipment = partial(_equipment, self.static)
        workers = self.workers or os.cpu_count() or 1
        # Also with one worker: what may crash or loop is read where it can be ended.
        readings = (
            read_in_processes(errands, equipment, workers)
            if is_worth_processes
            else read_here(errands, equipment)
        )
        for job, reading in readings:
            further = _stamps(stamp(path) for path in reading.also_read)
            yield PartRead(
                str(job.source.path),
                job.part.number,
                job.size_bytes,
                reading.records,
                reading.problems,
                further,
            )


def _weighed(jobs: Iterable[PartJob]) -> tuple[Iterator[PartJob], bool]:
    """The same jobs, and whether there is enough to read, or a kind that may crash, to read it in
    other processes.
    """
    waiting = iter(jobs)
    seen: list[PartJob] = []
    size = 0
    for job in waiting:
        seen.append(job)
        size += job.size_bytes
        if size > _WORTH_PROCESSES_BYTES or job.source.reader in _MAY_CRASH:
            return chain(seen, waiting), True
    return iter(seen), False


def _stamps(stamps: Iterable[Stamp]) -> tuple[FileStamp, ...]:
    return tuple(FileStamp(each.path, each.size_bytes, each.modified_ns) for each in stamps)


@contextmanager
def paper_builder(
    into: Path,
    *,
    workers: int | None = None,
    size_limit_bytes: int = DEFAULT_SIZE_LIMIT_BYTES,
    has_edges: bool | None = None,
    before_swap: BeforeSwap | None = None,
    clock: Clock | None = None,
) -> Iterator[PaperBuilder]:
    """A builder for the corpus in `into`. `before_swap` sees the finished draft just before it
    becomes the snapshot.
    """
    workshop, static = into / WORKSHOP_NAME, into / STATIC_NAME
    with (
        SqlitePaperBuildState(workshop / "state.db") as state,
        PaperStaticFolder(static) as static_folder,
    ):
        snapshots = SqliteSnapshotShelf(
            into,
            workshop,
            PaperAssets(static).read_text,
            has_edges=has_edges,
            before_swap=before_swap,
        )
        if snapshots.path.exists() and not state.has_published():
            raise ForeignSnapshotError(snapshots.path.name)
        yield PaperBuilder(
            finder=_Finder(size_limit_bytes),
            reader=_PartsReader(static, workers),
            state=state,
            snapshots=snapshots,
            static=static_folder,
            summaries=SummaryFiles(into / SUMMARIES_NAME),
            lock=BuildLockFile(workshop / "lock.db"),
            clock=clock or SystemClock(),
        )


def build_papers(
    sources: Sequence[Path],
    into: Path,
    *,
    progress: Progress | None = None,
    workers: int | None = None,
    size_limit_bytes: int = DEFAULT_SIZE_LIMIT_BYTES,
    has_edges: bool = True,
    only: bool = False,
    before_swap: BeforeSwap | None = None,
    after_swap: AfterSwap | None = None,
) -> BuildReport:
    """Brings the corpus in `into` up to date with `sources`, doing only what changed since last
    time; with `only`, it holds
    nothing else afterwards.

    `after_swap` sees the snapshot that is now being read, changed or not: the place to bring an
    index beside it up to date.
    """
    every_source = [*sources, *(folder for folder in [into / INBOX_NAME] if folder.is_dir())]
    with paper_builder(
        into,
        workers=workers,
        size_limit_bytes=size_limit_bytes,
        has_edges=has_edges,
        before_swap=before_swap,
    ) as builder:
        report = builder.build(every_source, progress or NoProgress(), only=only)
    if after_swap is not None:
        after_swap(into / SNAPSHOT_NAME)
    return report


def refresh_papers(
    into: Path, *, progress: Progress | None = None, after_swap: AfterSwap | None = None
) -> bool:
    """Publishes the corpus again with the summaries that were filed since; no source is read."""
    with paper_builder(into) as builder:
        is_changed = builder.refresh(progress or NoProgress())
    if is_changed and after_swap is not None:
        after_swap(into / SNAPSHOT_NAME)
    return is_changed


class RebuildInProcess:
    """Adds a paper in a process of its own: the server's event loop stays free and a parser's crash
    stays there.
    """

    def __init__(self, into: Path, after_swap: AfterSwap | None) -> None:
        self._into = into
        self._after_swap = after_swap

    async def add(self, file: Path) -> AddedPaper:
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        try:
            answer = await asyncio.get_running_loop().run_in_executor(
                pool, _add_paper, self._into, file, self._after_swap
            )
        except BrokenProcessPool as error:
            raise PaperNotAddedError(
                "The file crashed its reader.",
                next_step="Send the paper in another form; nothing was added.",
            ) from error
        finally:
            # Who stops waiting must not make the event loop wait instead; the process ends by
            # itself, because the reading is
            # held to its time and memory in a process below it, and what follows is our own work.
            pool.shutdown(wait=False)
        if isinstance(answer, AddedPaper):
            return answer
        kind, message, next_step, details = answer
        raise kind(message, next_step=next_step, details=details)


def _add_paper(
    into: Path, file: Path, after_swap: AfterSwap | None
) -> AddedPaper | tuple[type[CarrelError], str, str, dict[str, object]]:
    """Errors with their fields do not survive the way between processes, so they are taken apart
    here.
    """
    try:
        # Servers that share a home add one after another, the first of them with the corpus still
        # to be made.
        workshop = into / WORKSHOP_NAME
        workshop.mkdir(parents=True, exist_ok=True)
        with hold_lock(workshop / _ADDING_LOCK, wait_seconds=_ADDING_WAIT_SECONDS):
            with paper_builder(into, workers=1) as builder:
                added = builder.add(into / INBOX_NAME, file, NoProgress())
            if after_swap is not None:
                after_swap(into / SNAPSHOT_NAME)
    except LockHeldError:
        busy = BuildInProgressError()
        return ConflictError, busy.message, busy.next_step, busy.details
    except PaperNotAddedError as error:
        # The caller may have stopped waiting and takes nothing back then.
        file.unlink(missing_ok=True)
        return PaperNotAddedError, error.message, error.next_step, error.details
    except ConflictError as error:
        return ConflictError, error.message, error.next_step, error.details
    except ForeignSnapshotError as error:
        return PaperNotAddedError, error.message, error.next_step, error.details
    return added


def paper_adder(
    into: Path, lookup: WorkLookup | None, after_swap: AfterSwap | None = None
) -> PaperAdder:
    """Adds papers to the corpus in `into`, which must have been built here. `after_swap` runs in
    another process.
    """
    return PaperAdder(PaperInbox(into / INBOX_NAME), RebuildInProcess(into, after_swap), lookup)


def build_demo(into: Path) -> BuildReport:
    """The demonstration corpus, built on first use and checked after that."""
    return build_papers([PAPERS_FOLDER], into, workers=1, after_swap=index_papers)


def index_papers(snapshot: Path) -> None:
    """Brings the index beside a snapshot up to date, also in a process of its own."""
    bring_index_up_to_date(snapshot)
