"""Finds the files that can be read, and reads their parts here or in child processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Generic, TypeVar

from carrel.core.paper_record import AssetKeeper, Reading, ReadProblem, SourcePart, SourceReader
from carrel.libraries.text.budget import InputTooCostlyError, parsing
from carrel.services.paper_sources.markdown import translation_of
from carrel.services.parser_process import limit_this_process

DEFAULT_SIZE_LIMIT_BYTES = 200 * 1024 * 1024
_HEAD_BYTES = 4096
_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules", "paper-static"})
_WITH_COMPANIONS = frozenset({".md", ".markdown", ".xml", ".nxml"})


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file's size and time of change; size -1 when it is not there."""

    path: str
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Found:
    """A file, the reader for it, and the files that belong to it."""

    path: Path
    reader: SourceReader
    companions: tuple[Path, ...]
    stamps: tuple[Stamp, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A file that is not read, and why."""

    path: Path
    code: str
    message: str


def find(
    sources: Sequence[Path],
    readers: Sequence[SourceReader],
    size_limit_bytes: int = DEFAULT_SIZE_LIMIT_BYTES,
) -> tuple[list[Found], list[PassedOver]]:
    """Everything readable below the sources, each file once, in a steady order."""
    search = _Search(readers, size_limit_bytes)
    for source in sources:
        search.look(source.absolute())
    return list(search.found.values()), search.passed


def stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return Stamp(str(path), -1, 0)
    return Stamp(str(path), status.st_size, status.st_mtime_ns)


class _Search:
    """One walk through all sources. In folders, files of no known kind are left in peace."""

    def __init__(self, readers: Sequence[SourceReader], size_limit_bytes: int) -> None:
        self._readers = readers
        self._limit = size_limit_bytes
        self.found: dict[Path, Found] = {}
        self.passed: list[PassedOver] = []

    def look(self, path: Path) -> None:
        if path.is_dir():
            self._look_through(path)
        elif path.is_file():
            if not self._look_at(path, ()):
                self.passed.append(
                    PassedOver(path, "unknown_kind", "no reader knows this kind of file")
                )
        else:
            self.passed.append(PassedOver(path, "not_found", "there is no such file or folder"))

    def _look_through(self, root: Path) -> None:
        for folder, folders, names in os.walk(root, onerror=self._pass_over):
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".") and name not in _IGNORED_FOLDERS
            )
            paths = [Path(folder, name) for name in sorted(names) if not name.startswith(".")]
            companions = dict(_belonging(paths))
            taken = {path for group in companions.values() for path in group}
            for path in paths:
                if path not in taken:
                    self._look_at(path, companions.get(path, ()))

    def _look_at(self, path: Path, companions: tuple[Path, ...]) -> bool:
        """Whether the file is of a known kind, or is passed over for a reason that has been
        noted.
        """
        if path in self.found:
            return True
        if not _is_nameable(path):
            shown = Path(os.fsencode(path).decode("utf-8", "replace"))
            self.passed.append(
                PassedOver(shown, "not_readable", "its name is not valid UTF-8; rename it")
            )
            return True
        try:
            if not path.is_file():
                return True
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
        except OSError as error:
            self._pass_over(error)
            return True
        reader = next((reader for reader in self._readers if reader.accepts(path, head)), None)
        if reader is None:
            return False
        stamps = tuple(stamp(each) for each in (path, *companions))
        for each in stamps:
            if each.size_bytes > self._limit:
                message = (
                    f"{each.size_bytes:,} bytes are more than the limit of {self._limit:,}; "
                    f"it was not read"
                )
                self.passed.append(PassedOver(Path(each.path), "too_large", message))
        if stamps[0].size_bytes <= self._limit:
            light = tuple(
                each
                for each, seen in zip(companions, stamps[1:], strict=True)
                if seen.size_bytes <= self._limit
            )
            self.found[path] = Found(
                path, reader, light, stamps, sum(max(0, each.size_bytes) for each in stamps)
            )
        return True

    def _pass_over(self, error: OSError) -> None:
        self.passed.append(
            PassedOver(
                Path(error.filename or "?"), "not_readable", f"cannot be opened: {error.strerror}"
            )
        )


def _is_nameable(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _belonging(paths: Iterable[Path]) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """A text's translations and its printed form: paper.zh.md and paper.pdf belong to paper.md."""
    by_stem: dict[str, list[Path]] = {}
    every = list(paths)
    for path in every:
        if path.suffix.lower() == ".pdf":
            by_stem.setdefault(path.stem, []).append(path)
        elif named := translation_of(path):
            by_stem.setdefault(named[0], []).append(path)
    for path in every:
        if path.suffix.lower() in _WITH_COMPANIONS and (group := by_stem.get(path.stem)):
            yield path, tuple(group)


_IN_FLIGHT_PER_WORKER = 3
# Parsers of ours end by their budget long before this; it is for PDFium, which cannot be asked to
# stop. A thesis of 1,000 pages
# takes some 5 s.
CPU_SECONDS = 30.0
CPU_SECONDS_PER_MEGABYTE = 2.0
# Under load a second of computing takes several by the clock.
_WALL_FACTOR = 10.0
_KILLED_FOR_TIME = -getattr(signal, "SIGXCPU", signal.SIGTERM)

TicketT = TypeVar("TicketT")

ReadersAndKeeper = Callable[[], tuple[tuple[SourceReader, ...], AssetKeeper]]


@dataclass(frozen=True, slots=True)
class Errand(Generic[TicketT]):
    """A part for a reader, and what the sender wants back with the answer."""

    reader: str
    part: SourcePart
    ticket: TicketT


def read_part(reader: SourceReader, part: SourcePart, keeper: AssetKeeper) -> Reading:
    """What the reader makes of the part; anything that goes wrong is a line for the report."""
    try:
        with parsing("the file", _size(part)):
            return reader.read(part, keeper)
    except InputTooCostlyError as error:
        return _failed("too_costly", f"{error.message}. {error.next_step}")
    except OSError as error:
        return _failed("not_readable", f"cannot be read: {error.strerror or error}")
    except MemoryError:
        return _failed("too_large", "does not fit into memory")
    except Exception as error:  # noqa: BLE001 - parsers fail in ways of their own; one file must not stop the rest
        return _failed(
            "reader_failed",
            f"the {reader.name} reader failed: {type(error).__name__}: {error}"[:300],
        )


def _size(part: SourcePart) -> int:
    if part.content is not None:
        return len(part.content)
    try:
        return part.path.stat().st_size
    except OSError:
        return 0


def read_here(
    errands: Iterable[Errand[TicketT]], equipment: ReadersAndKeeper
) -> Iterator[tuple[TicketT, Reading]]:
    """One after the other in this process."""
    readers, keeper = equipment()
    by_name = {reader.name: reader for reader in readers}
    for errand in errands:
        yield errand.ticket, read_part(by_name[errand.reader], errand.part, keeper)


def read_in_processes(
    errands: Iterable[Errand[TicketT]],
    equipment: ReadersAndKeeper,
    workers: int,
    cpu_seconds: float = CPU_SECONDS,
) -> Iterator[tuple[TicketT, Reading]]:
    """In several processes, a few errands ahead. When one dies or is ended, what it may have held
    is tried again alone.

    `cpu_seconds` is what a part may take, besides 2 s for each megabyte, before its process is
    ended.
    """
    waiting = iter(errands)
    while batch := list(islice(waiting, workers * _IN_FLIGHT_PER_WORKER)):
        lost: list[Errand[TicketT]] = []
        with _pool(equipment, workers) as pool:
            in_flight: dict[Future[Reading], Errand[TicketT]] = {
                _send(pool, errand, cpu_seconds): errand for errand in batch
            }
            while in_flight:
                limit = (
                    max(_cpu_limit(errand.part, cpu_seconds) for errand in in_flight.values())
                    * _WALL_FACTOR
                )
                done, _ = wait(in_flight, timeout=limit, return_when=FIRST_COMPLETED)
                if not done:
                    _kill_workers(pool)
                for future in done:
                    errand = in_flight.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        lost.append(errand)
                        continue
                    yield errand.ticket, future.result()
                    if not lost:
                        in_flight.update(
                            (_send(pool, following, cpu_seconds), following)
                            for following in islice(waiting, 1)
                        )
        for errand in lost:
            yield errand.ticket, _read_alone(errand, equipment, cpu_seconds)


def _read_alone(
    errand: Errand[TicketT], equipment: ReadersAndKeeper, cpu_seconds: float
) -> Reading:
    """In a process for this errand only, so that what ends the process is known to be this file."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(
        target=_answer_alone,
        args=(equipment, errand.reader, errand.part, cpu_seconds, sending),
        daemon=True,
    )
    process.start()
    sending.close()
    limit = _cpu_limit(errand.part, cpu_seconds)
    try:
        if not receiving.poll(limit * _WALL_FACTOR):
            return _too_costly(limit)
        reading: Reading = receiving.recv()
        return reading
    except EOFError:
        process.join()
        if process.exitcode == _KILLED_FOR_TIME:
            return _too_costly(limit)
        return _failed(
            "reader_crashed",
            f"the {errand.reader} reader crashed on it or had too little memory for it",
        )
    finally:
        process.kill()
        process.join()
        receiving.close()


def _answer_alone(
    equipment: ReadersAndKeeper,
    reader: str,
    part: SourcePart,
    cpu_seconds: float,
    sending: Connection,
) -> None:
    _equip(equipment)
    sending.send(_read_in_worker(reader, part, cpu_seconds))


def _kill_workers(pool: ProcessPoolExecutor) -> None:
    """Ends a pool whose workers do not answer; its futures fail with BrokenProcessPool. Python 3.14
    has a method for this.
    """
    for process in list(pool._processes.values()):
        process.kill()


def _cpu_limit(part: SourcePart, cpu_seconds: float) -> float:
    return cpu_seconds + CPU_SECONDS_PER_MEGABYTE * _size(part) / 1_000_000


def _too_costly(limit: float) -> Reading:
    return _failed(
        "too_costly",
        f"reading it takes more than {limit:.0f} seconds of computing, so it was ended",
    )


def _send(
    pool: ProcessPoolExecutor, errand: Errand[TicketT], cpu_seconds: float
) -> Future[Reading]:
    try:
        return pool.submit(_read_in_worker, errand.reader, errand.part, cpu_seconds)
    except BrokenProcessPool as error:
        failed: Future[Reading] = Future()
        failed.set_exception(error)
        return failed


def _pool(equipment: ReadersAndKeeper, workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_equip, initargs=(equipment,)
    )


_readers: dict[str, SourceReader] = {}
_keepers: list[AssetKeeper] = []


def _equip(equipment: ReadersAndKeeper) -> None:
    readers, keeper = equipment()
    _readers.update({reader.name: reader for reader in readers})
    _keepers[:] = [keeper]


def _read_in_worker(reader: str, part: SourcePart, cpu_seconds: float) -> Reading:
    limit_this_process(_cpu_limit(part, cpu_seconds), _size(part))
    return read_part(_readers[reader], part, _keepers[0])


def _failed(code: str, message: str) -> Reading:
    return Reading(problems=(ReadProblem(code, message),))
