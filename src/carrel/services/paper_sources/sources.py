"""The readers of all kinds of source, and the port by which a build finds and reads files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Protocol

from carrel.rooms.papers.building.models import (
    BuildOptions,
    FoundSource,
    KnownSource,
    PartJob,
    PartRead,
    SkippedFile,
    SourcePart,
)
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.bibliography import BibliographyReader
from carrel.services.paper_sources.file_search import (
    find_beside,
    find_files,
    find_sources,
    stamp_file,
)
from carrel.services.paper_sources.jats import JatsReader
from carrel.services.paper_sources.json_records import JsonLinesReader, PaperInfosReader
from carrel.services.paper_sources.markdown import MarkdownReader
from carrel.services.paper_sources.pdf_source import PdfSource
from carrel.services.paper_sources.reading_processes import read_in_processes
from carrel.services.paper_sources.source_reader import ReadJobs, SourceReader, read_here

_HASHED_BYTES = 1024 * 1024
# Below this much to read, starting further processes takes longer than they save.
_WORTH_PROCESSES_BYTES = 4 * 1024 * 1024
_MAY_CRASH = frozenset({"pdf"})

# Every kind of source, the more particular first.
READERS: tuple[SourceReader, ...] = (
    PaperInfosReader(),
    JsonLinesReader(),
    MarkdownReader(),
    BibliographyReader(),
    JatsReader(),
    PdfSource(),
)


class ReadApart(Protocol):
    """What workers read of sources before a build."""

    def take(self, source: FoundSource, /) -> tuple[bytes | None, Iterator[PartRead]] | None: ...

    def finish(self) -> None: ...


class PaperSourceFiles:
    """Files and folders of papers; `read_warm` reads where a process is kept for it.

    `read_parts` has what workers read before.
    """

    def __init__(
        self,
        open_assets: Callable[[], AssetStore],
        options: BuildOptions,
        read_warm: ReadJobs | None = None,
        pdf: PdfSource | None = None,
        read_parts: ReadApart | None = None,
    ) -> None:
        self._open_assets = open_assets
        self._pdf = pdf or PdfSource()
        self._read_warm = read_warm
        self._read_parts = read_parts
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
        return is_same and all(stamp_file(Path(one.path)) == one for one in known.further)

    def parts(self, source: FoundSource) -> Iterator[SourcePart]:
        reader = next(reader for reader in READERS if reader.name == source.reader)
        return reader.parts(source.path, source.companions)

    def take_read(self, source: FoundSource) -> tuple[bytes | None, Iterator[PartRead]] | None:
        return None if self._read_parts is None else self._read_parts.take(source)

    def finish_taken(self) -> None:
        if self._read_parts is not None:
            self._read_parts.finish()

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
                tuple(stamp_file(path) for path in reading.also_read),
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
