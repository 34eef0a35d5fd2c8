"""Reads the sources of a build by partitions, in processes, on a cluster or machine by machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import orjson

from carrel.core.progress import Progress
from carrel.rooms.papers.building.models import BuildOptions, FoundSource, PartJob
from carrel.rooms.papers.building.partitions import SourcePartition, cut_partitions
from carrel.rooms.papers.building.service import PaperBuilder
from carrel.rooms.papers.local_operations import Engine, PartsRead
from carrel.services.paper_sources.pdf_source import PdfSource
from carrel.services.paper_sources.sources import PaperSourceFiles
from carrel.services.partition_engines import PartitionEngine, PartitionError
from carrel.stores.sqlite.papers import WORKSHOP_NAME
from carrel.stores.sqlite.papers.read_parts import PartsFolder, PartWriter
from carrel.stores.static_folder import PaperAssets
from carrel.wiring.pdf_services import ADDRESSES

PARTS_NAME = "parts"
_READ_PARTITION = f"{__name__}:read_partition"

OpenBuilder = Callable[[Path, BuildOptions], AbstractContextManager[PaperBuilder]]


def parts_folder(into: Path) -> Path:
    """Where what workers read waits for the build of this corpus."""
    return into / WORKSHOP_NAME / PARTS_NAME


def read_apart(
    open_builder: OpenBuilder,
    into: Path,
    sources: Sequence[Path],
    options: BuildOptions,
    engine: Engine,
    address: str | None,
    progress: Progress,
) -> PartsRead:
    """Have everything that a build would read now read by an engine."""
    workers = options.workers or os.cpu_count() or 1
    partitions = _find_partitions(open_builder, into, sources, options)
    return _read(into, partitions, _open_engine(engine, workers, address), progress)


def read_share(
    open_builder: OpenBuilder,
    into: Path,
    sources: Sequence[Path],
    options: BuildOptions,
    share: tuple[int, int],
    progress: Progress,
) -> PartsRead:
    """Read this machine's share of the partitions, by processes."""
    number, count = share
    partitions = _find_partitions(open_builder, into, sources, options)
    mine = [each for place, each in enumerate(partitions) if place % count == number - 1]
    return _read(into, mine, _open_engine("processes", options.workers or 1, None), progress)


def read_partition(encoded: bytes, out_folder: str) -> str:
    """Reads one partition, in whatever process or machine this is; returns the file it made."""
    told = orjson.loads(encoded)
    partition = SourcePartition.decode(told["partition"].encode())
    folder = PartsFolder(Path(out_folder))
    sources = PaperSourceFiles(
        partial(PaperAssets, folder.assets),
        BuildOptions(workers=1),
        pdf=PdfSource(told["grobid_url"], told["docling_url"]),
    )
    with folder.write(partition.name) as writer:
        for read in sources.read(_jobs(partition.sources, sources, writer)):
            writer.add(read)
    made = folder.find(partition.name)
    if made is None:
        raise FileNotFoundError(f"the file of partition {partition.name} is gone")
    return made.name


def _jobs(
    found: Sequence[FoundSource], sources: PaperSourceFiles, writer: PartWriter
) -> Iterator[PartJob]:
    for source in found:
        writer.begin(source, sources.hash_content(source))
        remaining = source.size_bytes
        for part in sources.parts(source):
            size = min(remaining, len(part.content)) if part.content is not None else remaining
            remaining -= size
            yield PartJob(source.reader, part, size)


def _find_partitions(
    open_builder: OpenBuilder, into: Path, sources: Sequence[Path], options: BuildOptions
) -> list[SourcePartition]:
    with open_builder(into, options) as builder:
        return list(cut_partitions(builder.find_unread(sources)))


def _read(
    into: Path,
    partitions: Sequence[SourcePartition],
    engine: PartitionEngine,
    progress: Progress,
) -> PartsRead:
    folder = PartsFolder(parts_folder(into))
    to_do = [partition for partition in partitions if folder.find(partition.name) is None]
    progress.begin("reading", sum(len(partition.sources) for partition in to_do), "files")
    failed = []
    work = [
        orjson.dumps(
            {
                "partition": partition.encode().decode(),
                "grobid_url": ADDRESSES.grobid_url,
                "docling_url": ADDRESSES.docling_url,
            }
        )
        for partition in to_do
    ]
    done = 0
    for number, outcome in engine.map(_READ_PARTITION, work, str(parts_folder(into).absolute())):
        size = len(to_do[number].sources)
        progress.advance(size)
        if isinstance(outcome, PartitionError):
            first = to_do[number].sources[0].path.name
            failed.append(f"that of {first}: {outcome.message}")
        else:
            done += size
    progress.end()
    before = len(partitions) - len(to_do)
    return PartsRead(len(to_do) - len(failed), before, done, tuple(failed))


def _open_engine(engine: Engine, workers: int, address: str | None) -> PartitionEngine:
    if engine == "ray":
        from carrel.services.partition_engines.ray_cluster import RayEngine

        return RayEngine(workers, address or "local")
    from carrel.services.partition_engines.process_pool import ProcessEngine

    return ProcessEngine(workers)
