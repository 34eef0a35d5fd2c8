"""Looks through files and folders for what can be read, which files belong together, and whether they changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from carrel.core.paper_record import SourceReader
from carrel.engines.paper_sources.markdown import translation_of

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
    sources: Sequence[Path], readers: Sequence[SourceReader], size_limit_bytes: int = DEFAULT_SIZE_LIMIT_BYTES
) -> tuple[list[Found], list[PassedOver]]:
    """Everything readable below the sources, each file once, in a steady order. In folders, files of no known kind are left in peace."""
    found: dict[Path, Found] = {}
    passed: list[PassedOver] = []
    for source in sources:
        path = source.absolute()
        if path.is_dir():
            _look_through(path, readers, size_limit_bytes, found, passed)
        elif path.is_file():
            _look_at(path, readers, size_limit_bytes, (), found, passed, is_named=True)
        else:
            passed.append(PassedOver(path, "not_found", "there is no such file or folder"))
    return list(found.values()), passed


def stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return Stamp(str(path), -1, 0)
    return Stamp(str(path), status.st_size, status.st_mtime_ns)


def _look_through(
    root: Path, readers: Sequence[SourceReader], limit: int, found: dict[Path, Found], passed: list[PassedOver]
) -> None:
    for folder, folders, names in os.walk(root, onerror=lambda error: passed.append(_unreadable(error))):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _IGNORED_FOLDERS)
        paths = [Path(folder, name) for name in sorted(names) if not name.startswith(".")]
        companions = dict(_belonging(paths))
        taken = {path for group in companions.values() for path in group}
        for path in paths:
            if path not in taken:
                _look_at(path, readers, limit, companions.get(path, ()), found, passed, is_named=False)


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


def _look_at(
    path: Path,
    readers: Sequence[SourceReader],
    limit: int,
    companions: tuple[Path, ...],
    found: dict[Path, Found],
    passed: list[PassedOver],
    *,
    is_named: bool,
) -> None:
    if path in found:
        return
    try:
        if not path.is_file():
            return
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        passed.append(_unreadable(error))
        return
    reader = next((reader for reader in readers if reader.accepts(path, head)), None)
    if reader is None:
        if is_named:
            passed.append(PassedOver(path, "unknown_kind", "no reader knows this kind of file"))
        return
    stamps = tuple(stamp(each) for each in (path, *companions))
    for each in stamps:
        if each.size_bytes > limit:
            message = f"{each.size_bytes:,} bytes are more than the limit of {limit:,}; it was not read"
            passed.append(PassedOver(Path(each.path), "too_large", message))
    if stamps[0].size_bytes > limit:
        return
    companions = tuple(each for each, seen in zip(companions, stamps[1:], strict=True) if seen.size_bytes <= limit)
    found[path] = Found(path, reader, companions, stamps, sum(max(0, each.size_bytes) for each in stamps))


def _unreadable(error: OSError) -> PassedOver:
    return PassedOver(Path(error.filename or "?"), "not_readable", f"cannot be opened: {error.strerror}")
