"""A dump in a folder: its files found, cut and read, in other processes where that pays."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue

from carrel.rooms.papers.loading.models import (
    DumpFile,
    DumpService,
    FileEnd,
    FoundDump,
    RawRecords,
)
from carrel.rooms.papers.loading.ports import PackedRecords
from carrel.services.dumps.finding import find_dump
from carrel.services.dumps.streams import read_file

PackRecords = Callable[[RawRecords], PackedRecords]

PROCESSES = 2
# Below this much to read, starting further processes takes longer than they save.
_WORTH_PROCESSES_BYTES = 2 * 1024 * 1024
# Chunks that are read ahead of whoever takes them, about 1 MB each, and those that wait to be read.
_CHUNKS_AHEAD = 64
_CHUNKS_UNREAD = 2 * PROCESSES
_LOOK_SECONDS = 0.05
_ALLOCATIONS_BETWEEN_COLLECTIONS = 500_000


class DumpFolder:
    """The dump of one service in a folder; `pack` reads a chunk and must be picklable."""

    def __init__(self, service: DumpService, folder: Path, pack: PackRecords) -> None:
        self._service = service
        self._folder = folder
        self._pack = pack
        self._pool: ProcessPoolExecutor | None = None
        self._feeder: _Feeder | None = None

    def find(self) -> FoundDump:
        return find_dump(self._service, self._folder)

    def read(self, files: Iterable[tuple[DumpFile, int]]) -> Iterator[PackedRecords | FileEnd]:
        several = list(files)
        raw = (each for file, skip in several for each in read_file(self._service, file, skip))
        if sum(file.size_bytes for file, _ in several) < _WORTH_PROCESSES_BYTES:
            for each in raw:
                yield self._pack(each) if isinstance(each, RawRecords) else each
            return
        self._feeder = _Feeder(raw, self._open_pool(), self._pack)
        yield from self._feeder.results()

    def close(self) -> None:
        """End what reads ahead; what was not taken is forgotten."""
        feeder, self._feeder = self._feeder, None
        if feeder is not None:
            feeder.stop()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def _open_pool(self) -> ProcessPoolExecutor:
        import multiprocessing

        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                PROCESSES, mp_context=context, initializer=_collect_seldom
            )
        return self._pool


def _collect_seldom() -> None:
    """Records are trees: looking for cycles among them takes a third of the time."""
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)


class _Feeder:
    """Gives chunks to processes ahead of whoever takes the answers, in the order of the files.

    A thread of its own: while a batch is published, the next one is read.
    """

    def __init__(
        self, raw: Iterator[RawRecords | FileEnd], pool: ProcessPoolExecutor, pack: PackRecords
    ) -> None:
        self._raw = raw
        self._pool = pool
        self._pack = pack
        self._answers: Queue[Future[PackedRecords] | FileEnd | BaseException | None] = Queue(
            _CHUNKS_AHEAD
        )
        self._unread = threading.Semaphore(_CHUNKS_UNREAD)
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._feed, name="dump-feeder", daemon=True)
        self._thread.start()

    def results(self) -> Iterator[PackedRecords | FileEnd]:
        while (answer := self._answers.get()) is not None:
            if isinstance(answer, BaseException):
                raise answer
            yield answer if isinstance(answer, FileEnd) else answer.result()

    def stop(self) -> None:
        self._is_stopped.set()
        self._unread.release()
        while self._thread.is_alive():
            with suppress(Empty):
                self._answers.get(timeout=_LOOK_SECONDS)
        self._thread.join()

    def _feed(self) -> None:
        try:
            for each in self._raw:
                if self._is_stopped.is_set():
                    return
                self._answers.put(each if isinstance(each, FileEnd) else self._submit(each))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever takes the answers
            self._answers.put(error)
        else:
            self._answers.put(None)

    def _submit(self, chunk: RawRecords) -> Future[PackedRecords]:
        self._unread.acquire()
        answer = self._pool.submit(self._pack, chunk)
        answer.add_done_callback(lambda _: self._unread.release())
        return answer
