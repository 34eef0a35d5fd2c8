"""The working folder beside a library: where it is, its versions and its notices."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from carrel.stores.csl_json.document import LibraryDocument, UnreadableLibraryError
from carrel.stores.csl_json.file_replacement import NOTE_NAME, sync_folder, write_durably


class LibraryLocation:
    """The file behind a path; every path to one file shares the working folder beside it."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.with_name(f".{target.name}.carrel")
        self.lock_file = self.folder / "lock"
        self.draft = self.folder / "draft"
        self.replaced = self.draft.with_suffix(".replaced")
        self.note = self.folder / NOTE_NAME

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LibraryLocation) and other.target == self.target

    def __hash__(self) -> int:
        return hash(self.target)


def locate_library(path: Path) -> LibraryLocation:
    """Follows links to the file, which need not exist. OSError where a link leads nowhere."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, "the links that lead to it form a loop", str(path))
    if path.is_symlink() and not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT,
            f"the link leads to a folder that does not exist: {target.parent}",
            str(path),
        )
    return LibraryLocation(target)


def check_writable(location: LibraryLocation) -> None:
    """Raises PermissionError, before anything is touched, where the file may not be written."""
    if location.target.exists() and not os.access(location.target, os.W_OK):
        raise PermissionError(
            errno.EACCES, f"the file is read-only: {location.target}", str(location.target)
        )
    folder = location.folder if location.folder.is_dir() else location.target.parent
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, f"the folder is read-only: {folder}", str(folder))


CURRENT = "current"
REPLACED = "replaced"
_NAME = re.compile(rf"(\d{{12}})-({CURRENT}|{REPLACED})-([0-9a-f]{{16}})\.json")
_MOST = 20
_FEWEST = 4
_MOST_BYTES = 64 * 1024 * 1024


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


class LibraryVersions:
    """Versions of a library: `current` ones we wrote or accepted, `replaced` ones others wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, data: bytes, kind: str = CURRENT) -> Path:
        """Stores what is current now, or what is about to be replaced, durably."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for abandoned in self.folder.glob("*.draft"):
            abandoned.unlink(missing_ok=True)
        path = self._next(kind, digest(data))
        draft = path.with_suffix(".draft")
        try:
            write_durably(draft, data)
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        sync_folder(self.folder)
        self._prune()
        return path

    def keep_replaced(self, file: Path, data: bytes) -> None:
        """Move a replaced file here; a program that has it open then writes into the backup."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file.replace(self._next(REPLACED, digest(data)))
        self._prune()

    def current_digest(self) -> str | None:
        """The digest of what we last wrote or accepted."""
        newest = self._newest_current()
        return None if newest is None else newest[1]

    def has(self, data: bytes) -> bool:
        """Whether a version has exactly these bytes."""
        mark = digest(data)
        return any(found == mark for _, _, found, _ in self._listed())

    def find(self, mark: str) -> bytes | None:
        """The version with a digest."""
        for _, _, found, path in reversed(self._listed()):
            if found == mark:
                data = path.read_bytes()
                if digest(data) == mark:
                    return data
        return None

    def current(self) -> LibraryDocument | None:
        """The newest version that we wrote or accepted and that can be read."""
        for _, kind, _, path in reversed(self._listed()):
            document = readable(path) if kind == CURRENT else None
            if document is not None:
                return document
        return None

    def accepted(self) -> Iterator[tuple[str, LibraryDocument]]:
        """Every readable version that we wrote or accepted, oldest first, with its digest."""
        for _, kind, mark, path in self._listed():
            document = readable(path) if kind == CURRENT else None
            if document is not None:
                yield mark, document

    def list_files(self) -> list[tuple[int, str, Path]]:
        """Number, kind and file of every version, oldest first."""
        return [(number, kind, path) for number, kind, _, path in self._listed()]

    def _newest_current(self) -> tuple[int, str, Path] | None:
        found = [
            (number, mark, path) for number, kind, mark, path in self._listed() if kind == CURRENT
        ]
        return found[-1] if found else None

    def _next(self, kind: str, mark: str) -> Path:
        listed = self._listed()
        number = listed[-1][0] + 1 if listed else 1
        return self.folder / f"{number:012d}-{kind}-{mark}.json"

    def _listed(self) -> list[tuple[int, str, str, Path]]:
        try:
            names = [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        matches = (_NAME.fullmatch(name) for name in names)
        return sorted(
            (int(m.group(1)), m.group(2), m.group(3), self.folder / m.group(0))
            for m in matches
            if m
        )

    def _prune(self) -> None:
        kept_bytes = 0
        for place, (_, _, _, path) in enumerate(reversed(self._listed())):
            kept_bytes += path.stat().st_size
            if place >= _MOST or (place >= _FEWEST and kept_bytes > _MOST_BYTES):
                path.unlink(missing_ok=True)


def readable(path: Path) -> LibraryDocument | None:
    """The version in a file, or None where it cannot be read."""
    try:
        return LibraryDocument.parse(path.read_bytes())
    except (OSError, UnreadableLibraryError):
        return None


class Notices:
    """A file of sentences, one to a line. Only the holder of the library's lock comes here."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, text: str, at: str) -> None:
        if text in self._texts():
            return
        with self.path.open("ab") as file:
            file.write(json.dumps({"at": at, "text": text}).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def take(self) -> list[str]:
        """Return the sentences and clear the file."""
        found = self._texts()
        self.path.unlink(missing_ok=True)
        return found

    def _texts(self) -> list[str]:
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        texts = []
        for line in lines:
            try:
                texts.append(str(json.loads(line)["text"]))
            except (ValueError, KeyError, TypeError):
                continue
        return texts
