"""Loads a dump into a corpus: batches that are read, linked and published one after the other."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError
from carrel.core.progress import NoProgress, Progress
from carrel.rooms.papers.building.planning import WRITER_VERSION
from carrel.rooms.papers.building.publisher import SEGMENT_PAPERS
from carrel.rooms.papers.building.service import BUILD_WAIT_SECONDS
from carrel.rooms.papers.loading.filters import NO_FILTERS, LoadFilters
from carrel.rooms.papers.loading.models import (
    DumpFile,
    DumpReach,
    DumpService,
    FileEnd,
    FileProgress,
    LoadCounts,
    LoadReport,
)
from carrel.rooms.papers.loading.ports import LoadStores, PackedRecords

# Records that changed something make a batch of one segment; those that did not are cheap, but
# whoever waits for the corpus must not wait for all of them.
BATCH_RECORDS = SEGMENT_PAPERS
# A batch ends with the chunk that fills it, of a thousand records at most.
MOST_IN_SEGMENT = BATCH_RECORDS + 1_000
_LOOKED_AT = 8
# Records are trees: looking for cycles among them would take a quarter of the time.
_ALLOCATIONS_BETWEEN_COLLECTIONS = 500_000
# Between two batches, so that others may change the corpus.
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class DumpToLoad:
    """A dump in a folder, and what of it is taken."""

    service: DumpService
    folder: Path
    filters: LoadFilters = NO_FILTERS
    limit: int | None = None
    batch_records: int = BATCH_RECORDS


@dataclass(slots=True)
class _Load:
    """One load while it runs."""

    counts: LoadCounts = field(default_factory=LoadCounts)
    added: int = 0
    changed: int = 0
    removed: int = 0
    newest: str = ""
    quarantine_bytes: int = 0
    files_read: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    is_limited: bool = False
    is_over: bool = False


class DumpLoader:
    """Loads the dump of one service; run again, it goes on where it was stopped.

    A batch is in the corpus as a whole or not at all: its records, how far its files were read and
    its segment count from one moment on. Others may change the corpus between two batches.
    """

    def __init__(self, dump: DumpToLoad, stores: LoadStores, clock: Clock) -> None:
        self._dump = dump
        self._service = dump.service
        self._stores = stores
        self._clock = clock

    def load(self, progress: Progress) -> LoadReport:
        """Bring the corpus up to date with the dump; with a limit, it has no more papers of it."""
        filters = self._dump.filters
        started = self._clock.monotonic()
        stores, run = self._stores, _Load()
        found = stores.files.find()
        if not found.files:
            raise InvalidInputError(
                f"{self._dump.folder} holds no file of a dump of {self._service}",
                next_step="docs/loading.md says how the files of each dump are named.",
            )
        run.lines += found.remarks
        with self._held():
            known = self._begin(run)
        waiting = [
            (file, _records_done(known.get(file.name), file, filters))
            for file in found.files
            if not _is_done(known.get(file.name), file, filters)
        ]
        progress.begin("loading", sum(file.size_bytes for file, _ in waiting), "bytes")
        read = stores.files.read(waiting)
        with closing(stores.files), _collecting_seldom():
            while waiting and not run.is_over:
                with self._held():
                    self._load_batch(run, read, progress)
                gc.collect()
                stores.release_memory()
                # Whoever waits for the corpus looks more often than this.
                time.sleep(_PAUSE_SECONDS)
        progress.end()
        with self._held():
            self._finish(run, found.files, filters)
        return LoadReport(
            self._service,
            run.counts,
            stores.corpus.paper_count(),
            run.added,
            run.changed,
            run.removed,
            len(found.files),
            len(run.files_read),
            run.newest,
            self._clock.monotonic() - started,
            stores.quarantine.name if run.counts.bad else None,
            tuple(run.lines),
            run.is_limited,
        )

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold the corpus; what was not published when it fails is forgotten."""
        stores = self._stores
        with stores.take_turn(), stores.lock.held(BUILD_WAIT_SECONDS):
            stores.state.confirm_publication(stores.corpus.build_id())
            try:
                yield
            except BaseException:
                stores.state.roll_back()
                stores.references.roll_back()
                raise

    def _begin(self, run: _Load) -> dict[str, FileProgress]:
        """Publish what a killed load has read, and take up its figures."""
        stores = self._stores
        stores.state.touch_outdated(WRITER_VERSION)
        # The state of a new corpus counts as touched, without any record.
        if stores.state.is_touched() and stores.state.record_count():
            self._publish(run)
        kept = stores.dumps.reach(self._service)
        if kept is not None:
            run.newest, run.quarantine_bytes = kept[0].newest, kept[1]
        stores.quarantine.cut(run.quarantine_bytes)
        return stores.dumps.progress(self._service)

    def _load_batch(
        self,
        run: _Load,
        read: Iterator[PackedRecords | FileEnd],
        progress: Progress,
    ) -> None:
        filters, size = self._dump.filters, self._dump.batch_records
        touched, looked_at = 0, 0
        while touched < size and looked_at < _LOOKED_AT * size and not run.is_over:
            match next(read, None):
                case None:
                    run.is_over = True
                case FileEnd() as end:
                    self._end_file(run, end, filters)
                case PackedRecords() as packed:
                    touched += self._add(run, packed, filters, self._dump.limit)
                    looked_at += packed.count
                    progress.advance(packed.size_bytes)
        self._keep_reach(run, filters, is_complete=False)
        self._stores.references.commit()
        if touched:
            self._publish(run)
        else:
            self._stores.state.commit()

    def _add(
        self, run: _Load, packed: PackedRecords, filters: LoadFilters, limit: int | None
    ) -> int:
        stores, file = self._stores, packed.file
        room = None
        if limit is not None:
            room = max(0, limit - stores.dumps.record_count(self._service))
        stores.references.add(packed.references)
        touched, count = stores.dumps.add(self._service, packed, run.counts, room)
        if count < packed.count:
            run.is_limited = run.is_over = True
        run.counts.records += count
        for name, left_out in packed.left_out.items():
            run.counts.left_out[name] += left_out
        bad = [each for each in packed.bad if each.number < packed.first + count]
        run.counts.bad += len(bad)
        stores.quarantine.add(file.name, bad)
        run.newest = max(run.newest, packed.newest)
        run.files_read.add(file.name)
        done = packed.first + count - 1
        self._keep_progress(file, FileProgress(file.stamp, str(filters), done, is_complete=False))
        return touched

    def _end_file(self, run: _Load, end: FileEnd, filters: LoadFilters) -> None:
        """A file that could not be read to its end is tried again by the next load."""
        file = end.file
        run.files_read.add(file.name)
        known = self._stores.dumps.progress(self._service).get(file.name)
        done = _records_done(known, file, filters)
        if end.problem is not None:
            run.lines.append(f"{file.name}: {end.problem}")
        is_complete = end.problem is None
        self._keep_progress(
            file, FileProgress(file.stamp, str(filters), done, is_complete, end.problem)
        )

    def _keep_progress(self, file: DumpFile, progress: FileProgress) -> None:
        self._stores.dumps.keep_progress(self._service, file.name, progress)

    def _keep_reach(self, run: _Load, filters: LoadFilters, *, is_complete: bool) -> None:
        stores = self._stores
        run.quarantine_bytes = stores.quarantine.flush()
        figures = asdict(run.counts)
        figures.pop("left_out")
        reach = DumpReach(
            self._service,
            run.newest,
            self._clock.now().isoformat(),
            str(self._dump.folder.absolute()),
            stores.dumps.record_count(self._service),
            is_complete,
            filters.to_facts(),
            figures,
        )
        stores.dumps.keep_reach(reach, run.quarantine_bytes)

    def _publish(self, run: _Load) -> None:
        outcome = self._stores.publisher.publish(NoProgress())
        run.added += outcome.added
        run.changed += outcome.changed
        run.removed += outcome.removed

    def _finish(self, run: _Load, files: Sequence[DumpFile], filters: LoadFilters) -> None:
        known = self._stores.dumps.progress(self._service)
        is_complete = not run.is_limited and all(
            _is_done(known.get(file.name), file, filters) for file in files
        )
        self._keep_reach(run, filters, is_complete=is_complete)
        self._stores.state.commit()
        if self._stores.corpus.needs_compaction():
            run.lines.append("carrel papers compact makes searches faster; it takes a while.")


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _is_same(known: FileProgress | None, file: DumpFile, filters: LoadFilters) -> bool:
    return known is not None and (known.stamp, known.filters) == (file.stamp, str(filters))


def _is_done(known: FileProgress | None, file: DumpFile, filters: LoadFilters) -> bool:
    return known is not None and known.is_complete and _is_same(known, file, filters)


def _records_done(known: FileProgress | None, file: DumpFile, filters: LoadFilters) -> int:
    return known.records if known is not None and _is_same(known, file, filters) else 0
