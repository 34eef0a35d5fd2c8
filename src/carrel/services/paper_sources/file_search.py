"""Finds the files that a reader accepts, each with its translations and its print."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from carrel.rooms.papers.building.models import FileStamp, FoundSource, SkippedFile
from carrel.services.paper_sources.markdown import parse_translation_name
from carrel.services.paper_sources.source_reader import SourceReader

_HEAD_BYTES = 4096
_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules", "paper-static"})
_WITH_COMPANIONS = frozenset({".md", ".markdown", ".xml", ".nxml"})


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


def stamp_file(path: Path) -> FileStamp:
    """Its size and time now."""
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
        stamps = tuple(stamp_file(each) for each in (path, *companions))
        for each in stamps:
            if each.size_bytes > self._limit:
                message = (
                    f"{each.size_bytes:,} bytes are more than the limit of {self._limit:,}; "
                    f"it was not read (lists of records can be parted into several files)"
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
