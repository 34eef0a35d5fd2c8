"""One reader process that a server keeps for the next file.

Starting an interpreter with PDFium costs about a second of CPU, reading a paper a tenth of that.
The process ends when nobody asks for a while, and is killed when a file exceeds its limits.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from carrel.rooms.papers.building.models import PartJob, Reading, SourcePart
from carrel.services.paper_sources.reading_processes import (
    CPU_SECONDS,
    KILLED_FOR_TIME,
    WALL_FACTOR,
    cpu_limit,
    equip_worker,
    read_in_worker,
    report_cost,
    report_crash,
)
from carrel.services.paper_sources.source_reader import ReadersAndAssets

_IDLE_SECONDS = 300.0
# A process that has read this many files is replaced, so that what PDFium leaks does not add up.
_FILES_PER_PROCESS = 200

# Its pipe is closed; its exit code, which says why, comes a moment later.
_DYING_SECONDS = 5.0

_Request = tuple[ReadersAndAssets, str, SourcePart, float]


class _ReaderProcess:
    """A child process and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_answer_requests, args=(theirs,), name="paper reader", daemon=True
        )
        self.process.start()
        theirs.close()
        self.files_read = 0

    def ask(self, request: _Request, limit_seconds: float) -> Reading:
        """Raises TimeoutError after the limit, EOFError or OSError where the process has ended."""
        self.files_read += 1
        self._pipe.send(request)
        if not self._pipe.poll(limit_seconds):
            raise TimeoutError
        reading: Reading = self._pipe.recv()
        return reading

    def kill(self, wait_seconds: float = 0.0) -> int | None:
        """Ends the process, which may end by itself first; returns its exit code."""
        self.process.join(wait_seconds)
        self.process.kill()
        self.process.join()
        self._pipe.close()
        return self.process.exitcode


class WarmReader:
    """Reads one file after the other; the owner must close it."""

    def __init__(self, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._reader: _ReaderProcess | None = None
        self._timer: threading.Timer | None = None

    @property
    def process_id(self) -> int | None:
        """The process that is kept now."""
        reader = self._reader
        return None if reader is None else reader.process.pid

    def read_all(
        self, jobs: Iterable[PartJob], equipment: ReadersAndAssets
    ) -> Iterator[tuple[PartJob, Reading]]:
        for job in jobs:
            yield job, self.read(job, equipment)

    def read(
        self, job: PartJob, equipment: ReadersAndAssets, cpu_seconds: float = CPU_SECONDS
    ) -> Reading:
        """The reading of one part; what exceeds its limits or crashes is a problem in it."""
        with self._lock:
            self._stop_timer()
            was_used = self._reader is not None
            reading = self._read(job, equipment, cpu_seconds)
            if reading is None and was_used:
                # Memory of files before this one may have been the reason.
                reading = self._read(job, equipment, cpu_seconds)
            self._start_timer()
            return report_crash(job.reader) if reading is None else reading

    def _read(
        self, job: PartJob, equipment: ReadersAndAssets, cpu_seconds: float
    ) -> Reading | None:
        """None where the process crashed, which is then gone."""
        if self._reader is not None and self._reader.files_read >= _FILES_PER_PROCESS:
            self._end()
        if self._reader is None:
            self._reader = _ReaderProcess()
        limit = cpu_limit(job.part, cpu_seconds)
        try:
            return self._reader.ask(
                (equipment, job.reader, job.part, cpu_seconds), limit * WALL_FACTOR
            )
        except TimeoutError:
            self._end()
            return report_cost(limit)
        except (EOFError, OSError):
            is_too_costly = self._end(_DYING_SECONDS) == KILLED_FOR_TIME
            return report_cost(limit) if is_too_costly else None

    def close(self) -> None:
        with self._lock:
            self._stop_timer()
            self._end()

    def _end(self, wait_seconds: float = 0.0) -> int | None:
        reader, self._reader = self._reader, None
        return None if reader is None else reader.kill(wait_seconds)

    def _start_timer(self) -> None:
        self._timer = threading.Timer(self._idle_seconds, self.close)
        self._timer.daemon = True
        self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _answer_requests(pipe: Connection) -> None:
    """Runs in the child until the parent closes the pipe or ends."""
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            equipment, reader, part, cpu_seconds = pipe.recv()
            equip_worker(equipment)
            pipe.send(read_in_worker(reader, part, cpu_seconds))
