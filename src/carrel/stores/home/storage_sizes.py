"""Bytes of folders and files, counted by walking over them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from carrel.stores.corpus.manifest import read_manifest

# What each name in the home itself belongs to; a name with `*` is a beginning.
_PARTS_OF_HOME: tuple[tuple[str, str], ...] = (
    ("papers", "papers"),
    ("references", "references"),
    ("research", "research"),
    ("literature", "literature"),
    ("jobs", "jobs"),
    ("audit", "audit"),
    ("uploads", "uploads"),
    ("cache", "cache"),
    ("backups", "backups"),
    ("knowledge*", "knowledge"),
    ("access*", "access"),
    ("limits*", "limits"),
    ("search*", "cache"),
)
OTHER = "other"


@dataclass(slots=True)
class FolderSize:
    """Bytes and files below a path."""

    size_bytes: int = 0
    file_count: int = 0

    def add(self, other: FolderSize) -> None:
        self.size_bytes += other.size_bytes
        self.file_count += other.file_count


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """One segment of a corpus."""

    name: str
    papers: int
    deleted: int
    passages: int
    size_bytes: int


def measure_home(home: Path) -> dict[str, FolderSize]:
    """What lies in a home, by the part that it belongs to."""
    found: dict[str, FolderSize] = {}
    try:
        inside = sorted(home.iterdir())
    except OSError:
        return found
    for path in inside:
        found.setdefault(_part_of(path.name), FolderSize()).add(measure_path(path))
    return found


def measure_path(path: Path) -> FolderSize:
    """A file or a folder with all below it; links are not followed, and what is gone is nothing."""
    size, waiting = FolderSize(), [path]
    while waiting:
        place = waiting.pop()
        try:
            if place.is_dir() and not place.is_symlink():
                with os.scandir(place) as inside:
                    _add_entries(inside, size, waiting)
            else:
                size.size_bytes += place.lstat().st_size
                size.file_count += 1
        except OSError:
            continue
    return size


def measure_segments(corpus: Path) -> tuple[str, list[SegmentSize]]:
    """When a corpus was published, and its segments; nothing for one without a manifest."""
    manifest = read_manifest(corpus)
    if manifest is None:
        return "", []
    return manifest.built_at, [
        SegmentSize(each.name, each.live_papers, len(each.deleted), each.passages, each.bytes)
        for each in manifest.segments
    ]


def _add_entries(inside: Iterable[os.DirEntry[str]], size: FolderSize, waiting: list[Path]) -> None:
    for entry in inside:
        if entry.is_dir(follow_symlinks=False):
            waiting.append(Path(entry.path))
            continue
        try:
            size.size_bytes += entry.stat(follow_symlinks=False).st_size
            size.file_count += 1
        except OSError:
            # A draft that was finished meanwhile.
            continue


def _part_of(name: str) -> str:
    for pattern, part in _PARTS_OF_HOME:
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
            return part
    return OTHER
