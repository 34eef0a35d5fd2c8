"""Cuts what is to be read into partitions that any process or machine can read alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from carrel.rooms.papers.building.models import FileStamp, FoundSource

# A partition is lost whole with its worker, and a worker's start costs a second: a minute's work.
_MOST_BYTES = 32 * 1024 * 1024
_MOST_SOURCES = 200


@dataclass(frozen=True, slots=True)
class SourcePartition:
    """Sources that are read together; the same sources, unchanged, always have the same name."""

    name: str
    sources: tuple[FoundSource, ...]

    def encode(self) -> bytes:
        """The partition for another process."""
        return orjson.dumps(asdict(self), default=str)

    @classmethod
    def decode(cls, encoded: bytes) -> SourcePartition:
        told = orjson.loads(encoded)
        return cls(
            told["name"],
            tuple(
                FoundSource(
                    Path(source["path"]),
                    source["reader"],
                    source["reader_version"],
                    tuple(map(Path, source["companions"])),
                    tuple(FileStamp(**stamp) for stamp in source["stamps"]),
                    source["size_bytes"],
                )
                for source in told["sources"]
            ),
        )


def cut_partitions(sources: Sequence[FoundSource]) -> Iterator[SourcePartition]:
    """The sources in the order of their paths, cut by size, whoever is to read them."""
    held: list[FoundSource] = []
    size = 0
    for source in sorted(sources, key=lambda each: str(each.path)):
        if held and (len(held) >= _MOST_SOURCES or size + source.size_bytes > _MOST_BYTES):
            yield _partition(held)
            held, size = [], 0
        held.append(source)
        size += source.size_bytes
    if held:
        yield _partition(held)


def _partition(sources: Sequence[FoundSource]) -> SourcePartition:
    digest = hashlib.blake2b(digest_size=16)
    for source in sources:
        digest.update(orjson.dumps(asdict(source), default=str))
    return SourcePartition(digest.hexdigest(), tuple(sources))
