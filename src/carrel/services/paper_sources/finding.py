"""Looks through files and folders for what can be read, which files belong together, and whether
they changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from carrel.core.paper_record import SourceReader
from carrel.services.paper_sources.markdown import translation_of

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
