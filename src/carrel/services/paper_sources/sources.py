"""Finds readable files, and reads their parts here or in child processes."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain, islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

from carrel.libraries.text.budget import InputTooCostlyError, parsing
from carrel.rooms.papers.building.models import (
    BuildOptions,
    FileStamp,
    FoundSource,
    KnownSource,
    PartJob,
    PartRead,
    Reading,
    SkippedFile,
    SourcePart,
)
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.bibliography import BibliographyReader
from carrel.services.paper_sources.jats import JatsReader
from carrel.services.paper_sources.json_records import JsonLinesReader, PaperInfosReader
from carrel.services.paper_sources.markdown import MarkdownReader, parse_translation_name
from carrel.services.paper_sources.pdf_source import PdfSource
from carrel.services.parser_process import limit_this_process

_HEAD_BYTES = 4096
_HASHED_BYTES = 1024 * 1024
_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules", "paper-static"})
_WITH_COMPANIONS = frozenset({".md", ".markdown", ".xml", ".nxml"})
# Below this much to read, starting further processes takes longer than they save.
_WORTH_PROCESSES_BYTES = 4 * 1024 * 1024
_MAY_CRASH = frozenset({"pdf"})


class SourceReader(Protocol):
    """Reads one kind of file; a higher `version` invalidates earlier readings."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether this reader handles a file with this name and these first bytes."""
        ...

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]: ...

    def read(self, part: SourcePart, assets: AssetStore) -> Reading: ...


ReadersAndAssets = Callable[[], tuple[tuple[SourceReader, ...], AssetStore]]
ReadJobs = Callable[[Iterable[PartJob], ReadersAndAssets], Iterator[tuple[PartJob, Reading]]]

# Every kind of source, the more particular first.
READERS: tuple[SourceReader, ...] = (
    PaperInfosReader(),
    JsonLinesReader(),
    MarkdownReader(),
    BibliographyReader(),
    JatsReader(),
    PdfSource(),
)


class PaperSourceFiles:
    """Files and folders of papers; `read_warm` reads where a process is kept for it."""

    def __init__(
        self,
        open_assets: Callable[[], AssetStore],
        options: BuildOptions,
        read_warm: ReadJobs | None = None,
        pdf: PdfSource | None = None,
    ) -> None:
        self._open_assets = open_assets
        self._pdf = pdf or PdfSource()
        self._read_warm = read_warm
        self._size_limit_bytes = options.size_limit_bytes
        self._workers = options.workers or os.cpu_count() or 1

    def find(self, sources: Sequence[Path]) -> tuple[list[FoundSource], list[SkippedFile]]:
        return find_sources(sources, READERS, self._size_limit_bytes)

    def find_files(self, paths: Sequence[Path]) -> tuple[list[FoundSource], list[SkippedFile]]:
        return find_files(paths, READERS, self._size_limit_bytes)

    def find_beside(self, paths: Sequence[Path]) -> tuple[list[FoundSource], list[SkippedFile]]:
        return find_beside(paths, READERS, self._size_limit_bytes)

    def hash_content(self, source: FoundSource) -> bytes | None:
        digest = hashlib.sha256()
        try:
            for path in (source.path, *source.companions):
                with path.open("rb") as file:
                    while piece := file.read(_HASHED_BYTES):
                        digest.update(piece)
        except OSError:
            return None
        return digest.digest()

    def is_unchanged(self, known: KnownSource, found: FoundSource) -> bool:
        is_same = (known.reader, known.reader_version, known.stamps) == (
            found.reader,
            found.reader_version,
            found.stamps,
        )
        return is_same and all(stamp(Path(one.path)) == one for one in known.further)

    def parts(self, source: FoundSource) -> Iterator[SourcePart]:
        reader = next(reader for reader in READERS if reader.name == source.reader)
        return reader.parts(source.path, source.companions)

    def read(self, jobs: Iterable[PartJob]) -> Iterator[PartRead]:
        every_job, needs_processes = _weigh(jobs)
        equipment = partial(_equipment, self._open_assets, self._pdf)
        # Also with one worker: what may crash or loop is read where it can be ended.
        if not needs_processes:
            readings = read_here(every_job, equipment)
        elif self._read_warm is not None:
            readings = self._read_warm(every_job, equipment)
        else:
            readings = read_in_processes(every_job, equipment, self._workers)
        for job, reading in readings:
            yield PartRead(
                str(job.part.path),
                job.part.number,
                job.size_bytes,
                reading.records,
                reading.problems,
                tuple(stamp(path) for path in reading.also_read),
            )


def _equipment(
    open_assets: Callable[[], AssetStore], pdf: PdfSource
) -> tuple[tuple[SourceReader, ...], AssetStore]:
    readers = tuple(pdf if reader.name == pdf.name else reader for reader in READERS)
    return readers, open_assets()


def _weigh(jobs: Iterable[PartJob]) -> tuple[Iterator[PartJob], bool]:
    """The same jobs, and whether they are large or risky enough for child processes."""
    waiting = iter(jobs)
    seen: list[PartJob] = []
    size = 0
    for job in waiting:
        seen.append(job)
        size += job.size_bytes
        if size > _WORTH_PROCESSES_BYTES or job.reader in _MAY_CRASH:
            return chain(seen, waiting), True
    return iter(seen), False


def find_sources(
    sources: Sequence[Path],
    readers: Sequence[SourceReader],
    size_limit_bytes: int,
) -> tuple[list[FoundSource], list[SkippedFile]]:
    """Every readable file below the sources once, in a stable order."""
    search = _FileSearch(readers, size_limit_bytes)
    for source in sources:
        search.visit(source.absolute())
    return list(search.found.values()), search.skipped


def find_files(
    paths: Sequence[Path],
    readers: Sequence[SourceReader],
    size_limit_bytes: int,
) -> tuple[list[FoundSource], list[SkippedFile]]:
    """These files alone; a text's translations and print belong to it if they are among them."""
    search = _FileSearch(readers, size_limit_bytes)
    names: dict[Path, set[str]] = {}
    for path in paths:
        names.setdefault(path.absolute().parent, set()).add(path.name)
    for folder, wanted in sorted(names.items()):
        search.visit_names(folder, sorted(wanted))
    return list(search.found.values()), search.skipped


def find_beside(
    paths: Sequence[Path],
    readers: Sequence[SourceReader],
    size_limit_bytes: int,
) -> tuple[list[FoundSource], list[SkippedFile]]:
    """The sources that these files are, or that they belong to, by the names beside them alone."""
    search = _FileSearch(readers, size_limit_bytes)
    stems: dict[Path, set[str]] = {}
    for path in paths:
        stems.setdefault(path.parent, set()).add(path.name.partition(".")[0])
    for folder, wanted in sorted(stems.items()):
        try:
            with os.scandir(folder) as entries:
                names = sorted(
                    entry.name for entry in entries if entry.name.partition(".")[0] in wanted
                )
        except FileNotFoundError:
            continue
        except OSError as error:
            search.skip_unreadable(error)
            continue
        search.visit_names(folder, names)
    return list(search.found.values()), search.skipped


def stamp(path: Path) -> FileStamp:
    try:
        status = path.stat()
    except OSError:
        return FileStamp(str(path), -1, 0)
    return FileStamp(str(path), status.st_size, status.st_mtime_ns)


class _FileSearch:
    """One walk through all sources. In folders, files of no known kind are ignored."""

    def __init__(self, readers: Sequence[SourceReader], size_limit_bytes: int) -> None:
        self._readers = readers
        self._limit = size_limit_bytes
        self.found: dict[Path, FoundSource] = {}
        self.skipped: list[SkippedFile] = []

    def visit(self, path: Path) -> None:
        if path.is_dir():
            self._visit_folder(path)
        elif not path.is_file():
            self._skip(path, "not_found", "there is no such file or folder")
        elif not self._visit_file(path, ()):
            self._skip(path, "unknown_kind", "no reader knows this kind of file")

    def _visit_folder(self, root: Path) -> None:
        for folder, folders, names in os.walk(root, onerror=self.skip_unreadable):
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".") and name not in _IGNORED_FOLDERS
            )
            self.visit_names(Path(folder), sorted(names))

    def visit_names(self, folder: Path, names: Sequence[str]) -> None:
        """The files of one folder, each with those that belong to it."""
        paths = [folder / name for name in names if not name.startswith(".")]
        companions = dict(_companions(paths))
        taken = {path for group in companions.values() for path in group}
        for path in paths:
            if path not in taken:
                self._visit_file(path, companions.get(path, ()))

    def _visit_file(self, path: Path, companions: tuple[Path, ...]) -> bool:
        """Whether the file is of a known kind, or was skipped for a reason that is noted."""
        if path in self.found:
            return True
        if not _is_valid_name(path):
            visible = Path(os.fsencode(path).decode("utf-8", "replace"))
            self._skip(visible, "not_readable", "its name is not valid UTF-8; rename it")
            return True
        try:
            if not path.is_file():
                return True
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
        except OSError as error:
            self.skip_unreadable(error)
            return True
        reader = next((reader for reader in self._readers if reader.accepts(path, head)), None)
        if reader is None:
            return False
        if not head:
            self._skip(path, "empty", "there is nothing in this file")
            return True
        stamps = tuple(stamp(each) for each in (path, *companions))
        for each in stamps:
            if each.size_bytes > self._limit:
                message = (
                    f"{each.size_bytes:,} bytes are more than the limit of {self._limit:,}; "
                    f"it was not read"
                )
                self._skip(Path(each.path), "too_large", message)
        if stamps[0].size_bytes <= self._limit:
            light = tuple(
                each
                for each, seen in zip(companions, stamps[1:], strict=True)
                if seen.size_bytes <= self._limit
            )
            size = sum(max(0, each.size_bytes) for each in stamps)
            self.found[path] = FoundSource(path, reader.name, reader.version, light, stamps, size)
        return True

    def _skip(self, path: Path, code: str, message: str) -> None:
        self.skipped.append(SkippedFile(path, code, message))

    def skip_unreadable(self, error: OSError) -> None:
        self._skip(
            Path(error.filename or "?"), "not_readable", f"cannot be opened: {error.strerror}"
        )


def _is_valid_name(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _companions(paths: Sequence[Path]) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """A text's translations and its printed form: paper.zh.md and paper.pdf belong to paper.md."""
    by_stem: dict[str, list[Path]] = {}
    for path in paths:
        if path.suffix.lower() == ".pdf":
            by_stem.setdefault(path.stem, []).append(path)
        elif named := parse_translation_name(path):
            by_stem.setdefault(named[0], []).append(path)
    for path in paths:
        if path.suffix.lower() in _WITH_COMPANIONS and (group := by_stem.get(path.stem)):
            yield path, tuple(group)


_IN_FLIGHT_PER_WORKER = 3
# Our own parsers end by their budget long before this; it is for PDFium, which cannot be asked to
# stop. A PDF of 1,000 pages takes some 20 s, the longest that is read (3,000 pages) a minute.
CPU_SECONDS = 90.0
CPU_SECONDS_PER_MEGABYTE = 2.0
# Under load a second of computing takes several by the clock.
WALL_FACTOR = 10.0
KILLED_FOR_TIME = -getattr(signal, "SIGXCPU", signal.SIGTERM)


def read_part(reader: SourceReader, part: SourcePart, assets: AssetStore) -> Reading:
    """Read one part; any error becomes a line of the report."""
    try:
        with parsing("the file", _size(part)):
            reading = reader.read(part, assets)
            if reading.records or reading.problems:
                return reading
            line = part.first_line if part.number else None
            return Reading.failed("empty", "there is no paper in this file", line)
    except InputTooCostlyError as error:
        return Reading.failed("too_costly", f"{error.message}. {error.next_step}")
    except OSError as error:
        return Reading.failed("not_readable", f"cannot be read: {error.strerror or error}")
    except MemoryError:
        return Reading.failed("too_large", "does not fit into memory")
    except Exception as error:  # noqa: BLE001 - parsers fail in ways of their own; one file must not stop the rest
        return Reading.failed(
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
    jobs: Iterable[PartJob], equipment: ReadersAndAssets
) -> Iterator[tuple[PartJob, Reading]]:
    """One after the other in this process."""
    readers, assets = equipment()
    by_name = {reader.name: reader for reader in readers}
    for job in jobs:
        yield job, read_part(by_name[job.reader], job.part, assets)


def read_in_processes(
    jobs: Iterable[PartJob],
    equipment: ReadersAndAssets,
    workers: int,
    cpu_seconds: float = CPU_SECONDS,
) -> Iterator[tuple[PartJob, Reading]]:
    """Read parts in a process pool; parts of a crashed or killed worker are read again, one by one.

    A part may take `cpu_seconds` and 2 s for each megabyte.
    """
    waiting = iter(jobs)
    while batch := list(islice(waiting, workers * _IN_FLIGHT_PER_WORKER)):
        lost: list[PartJob] = []
        with _pool(equipment, workers) as pool:
            in_flight: dict[Future[Reading], PartJob] = {
                _send(pool, job, cpu_seconds): job for job in batch
            }
            while in_flight:
                limit = (
                    max(cpu_limit(job.part, cpu_seconds) for job in in_flight.values())
                    * WALL_FACTOR
                )
                done, _ = wait(in_flight, timeout=limit, return_when=FIRST_COMPLETED)
                if not done:
                    _kill_workers(pool)
                for future in done:
                    job = in_flight.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        lost.append(job)
                        continue
                    yield job, future.result()
                    if not lost:
                        in_flight.update(
                            (_send(pool, following, cpu_seconds), following)
                            for following in islice(waiting, 1)
                        )
        for job in lost:
            yield job, _read_alone(job, equipment, cpu_seconds)


def _read_alone(job: PartJob, equipment: ReadersAndAssets, cpu_seconds: float) -> Reading:
    """In a process for this job only, so that what ends the process is this file."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(
        target=_answer_alone,
        args=(equipment, job.reader, job.part, cpu_seconds, sending),
        daemon=True,
    )
    process.start()
    sending.close()
    limit = cpu_limit(job.part, cpu_seconds)
    try:
        if not receiving.poll(limit * WALL_FACTOR):
            return too_costly(limit)
        reading: Reading = receiving.recv()
        return reading
    except EOFError:
        process.join()
        if process.exitcode == KILLED_FOR_TIME:
            return too_costly(limit)
        return reader_crashed(job.reader)
    finally:
        process.kill()
        process.join()
        receiving.close()


def _answer_alone(
    equipment: ReadersAndAssets,
    reader: str,
    part: SourcePart,
    cpu_seconds: float,
    sending: Connection,
) -> None:
    equip_worker(equipment)
    sending.send(read_in_worker(reader, part, cpu_seconds))


def _kill_workers(pool: ProcessPoolExecutor) -> None:
    """Kill a pool whose workers do not answer; its futures fail with BrokenProcessPool."""
    # Python 3.14 has a method for this.
    for process in list(pool._processes.values()):
        process.kill()


def cpu_limit(part: SourcePart, cpu_seconds: float) -> float:
    return cpu_seconds + CPU_SECONDS_PER_MEGABYTE * _size(part) / 1_000_000


def reader_crashed(reader: str) -> Reading:
    return Reading.failed(
        "reader_crashed", f"the {reader} reader crashed on it or had too little memory for it"
    )


def too_costly(limit: float) -> Reading:
    return Reading.failed(
        "too_costly",
        f"reading it takes more than {limit:.0f} seconds of computing, so it was ended",
    )


def _send(pool: ProcessPoolExecutor, job: PartJob, cpu_seconds: float) -> Future[Reading]:
    try:
        return pool.submit(read_in_worker, job.reader, job.part, cpu_seconds)
    except BrokenProcessPool as error:
        failed: Future[Reading] = Future()
        failed.set_exception(error)
        return failed


def _pool(equipment: ReadersAndAssets, workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers,
        multiprocessing.get_context("spawn"),
        initializer=equip_worker,
        initargs=(equipment,),
    )


_readers: dict[str, SourceReader] = {}
_asset_stores: list[AssetStore] = []


def equip_worker(equipment: ReadersAndAssets) -> None:
    readers, assets = equipment()
    _readers.update({reader.name: reader for reader in readers})
    _asset_stores[:] = [assets]


def read_in_worker(reader: str, part: SourcePart, cpu_seconds: float) -> Reading:
    limit_this_process(cpu_limit(part, cpu_seconds), _size(part))
    return read_part(_readers[reader], part, _asset_stores[0])
