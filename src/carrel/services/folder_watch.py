"""Watches folders by looking at their files now and then, on every system and network drive.

A file is followed once its size and time rest from one look to the next. Files that vanish with
the disk they were on have not been removed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules", "paper-static"})
_UNFINISHED_ENDINGS = (".part", ".crdownload", ".tmp", ".swp", "~")
# An editor that truncates and then writes leaves a file empty for a moment; so many looks it may.
_LOOKS_AT_EMPTY = 6
# One file that leaves an empty folder was removed; several at once may be a disk that is not there.
_FEWEST_HELD_BACK = 2


class WatchedFile(NamedTuple):
    """What tells one version of a file from the next."""

    size_bytes: int
    modified_ns: int
    inode: int


@dataclass(slots=True)
class Look:
    """The files below some folders at one time; what lies in `unreachable` was not looked at."""

    files: dict[str, WatchedFile] = field(default_factory=dict)
    unreachable: list[str] = field(default_factory=list)


def look_at(folders: Iterable[Path]) -> Look:
    """Every visible file below the folders; links to folders are not followed."""
    look = Look()
    waiting = [str(folder.absolute()) for folder in folders]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _IGNORED_FOLDERS:
                            waiting.append(entry.path)
                    elif not entry.name.endswith(_UNFINISHED_ENDINGS):
                        _add_file(entry, look)
        except OSError:
            look.unreachable.append(folder)
    return look


def _add_file(entry: os.DirEntry[str], look: Look) -> None:
    try:
        seen = entry.stat()
    except OSError:
        return
    if stat.S_ISREG(seen.st_mode):
        look.files[entry.path] = WatchedFile(seen.st_size, seen.st_mtime_ns, seen.st_ino)


class MountGuard:
    """Tells files that were removed from files whose disk is not mounted now."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._devices = {
            folder: device for folder in folders if (device := _device(folder)) is not None
        }

    def held_back(self, gone: Collection[str]) -> dict[str, list[str]]:
        """Of paths that vanished, those that may come back, by the folder that seems empty."""
        held: dict[str, list[str]] = {}
        emptied: dict[str, list[str]] = {}
        for path in gone:
            root = next(
                (each for each in self._devices if Path(path).is_relative_to(each.absolute())), None
            )
            if root is not None and _device(root) != self._devices[root]:
                held.setdefault(str(root), []).append(path)
                continue
            emptied.setdefault(_nearest_folder(path), []).append(path)
        for folder, paths in emptied.items():
            if len(paths) >= _FEWEST_HELD_BACK and _is_empty(folder):
                held.setdefault(folder, []).extend(paths)
        return held


def _device(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None


def _nearest_folder(path: str) -> str:
    for parent in Path(path).parents:
        if parent.is_dir():
            return str(parent)
    return os.sep


def _is_empty(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:
        return True


class FolderWatcher:
    """Finds what has changed since the corpus was last in step, and has come to rest."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = list(folders)
        self._guard = MountGuard(folders)
        self._in_step: dict[str, WatchedFile] = {}
        self._last = Look()
        self._looks_at_empty: dict[str, int] = {}

    def begin(self) -> None:
        """Look for the first time, before the corpus is brought in step with everything."""
        self._last = look_at(self._folders)
        self._in_step = dict(self._last.files)

    def held_back(self, gone: Collection[str]) -> dict[str, list[str]]:
        return self._guard.held_back(gone)

    def find_changes(self) -> list[Path]:
        """The files that came, changed or left and rest now, in a stable order."""
        look, before = look_at(self._folders), self._last
        self._last = look
        resting = [
            path
            for path, state in look.files.items()
            if self._in_step.get(path) != state and self._rests(path, state, before)
        ]
        return sorted(Path(path) for path in (*resting, *self._find_gone(look, before)))

    def settle(self, paths: Iterable[Path]) -> None:
        """The corpus is in step with these files as they were at the last look."""
        for path in map(str, paths):
            state = self._last.files.get(path)
            if state is None:
                self._in_step.pop(path, None)
            else:
                self._in_step[path] = state

    def _rests(self, path: str, state: WatchedFile, before: Look) -> bool:
        if before.files.get(path) != state:
            return False
        known = self._in_step.get(path)
        if state.size_bytes == 0 and known is not None and known.size_bytes > 0:
            looks = self._looks_at_empty.get(path, 0) + 1
            self._looks_at_empty[path] = looks
            return looks >= _LOOKS_AT_EMPTY
        self._looks_at_empty.pop(path, None)
        return True

    def _find_gone(self, look: Look, before: Look) -> Iterator[str]:
        gone = [
            path
            for path in self._in_step
            if path not in look.files
            and path not in before.files
            and not any(Path(path).is_relative_to(place) for place in look.unreachable)
        ]
        held = {path for paths in self.held_back(gone).values() for path in paths} if gone else ()
        yield from (path for path in gone if path not in held)
