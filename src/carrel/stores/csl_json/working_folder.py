"""The working folder beside a library: where it is, its versions and its notices."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from carrel.stores.csl_json.document import LibraryDocument, UnreadableLibraryError
from carrel.stores.csl_json.file_replacement import NOTE_NAME, sync_folder, write_durably
from carrel.stores.csl_json.placed_file import PLACED_NAME

LEDGER_NAME = "ledger.jsonl"


class LibraryLocation:
    """The file behind a path; every path to one file shares the working folder beside it."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.with_name(f".{target.name}.carrel")
        self.lock_file = self.folder / "lock"
        self.draft = self.folder / "draft"
        self.replaced = self.draft.with_suffix(".replaced")
        self.note = self.folder / NOTE_NAME
        self.placed = self.folder / PLACED_NAME

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
_NAME = re.compile(rf"(\d{{12}})-({CURRENT}|{REPLACED})-([0-9a-f]{{16}})(?:-r(\d+))?\.json")
_MOST = 20
_FEWEST = 4
_MOST_BYTES = 64 * 1024 * 1024


MARK_LENGTH = 16


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:MARK_LENGTH]


@dataclass(frozen=True, slots=True)
class Version:
    """A kept version: the digest of its bytes, and the revision that it is the state of.

    Versions of before the journal name no revision.
    """

    number: int
    kind: str
    mark: str
    revision: int | None
    path: Path


class LibraryVersions:
    """Versions of a library: `current` ones we wrote or accepted, `replaced` ones others wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, data: bytes, kind: str = CURRENT, revision: int | None = None) -> Path:
        """Stores what is current now, or what is about to be replaced, durably."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for abandoned in self.folder.glob("*.draft"):
            abandoned.unlink(missing_ok=True)
        draft = self._next(kind, digest(data), revision).with_suffix(".draft")
        try:
            write_durably(draft, data)
            return self.take_in(draft, digest(data), kind, revision)
        except OSError:
            draft.unlink(missing_ok=True)
            raise

    def take_in(
        self, file: Path, mark: str, kind: str = CURRENT, revision: int | None = None
    ) -> Path:
        """Makes a file that is on the disk a version."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._next(kind, mark, revision)
        file.replace(path)
        sync_folder(self.folder)
        self._prune()
        return path

    def keep_replaced(self, file: Path, data: bytes) -> None:
        """Move a replaced file here; a program that has it open then writes into the backup."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file.replace(self._next(REPLACED, digest(data), None))
        self._prune()

    def current_digest(self) -> str | None:
        """The digest of what we last wrote or accepted."""
        newest = self.newest_current()
        return None if newest is None else newest.mark

    def newest_current(self) -> Version | None:
        """What we last wrote or accepted, if anything."""
        return next((one for one in reversed(self.list_all()) if one.kind == CURRENT), None)

    def has(self, data: bytes) -> bool:
        """Whether a version has exactly these bytes."""
        return self.has_mark(digest(data))

    def has_mark(self, mark: str) -> bool:
        """Whether a version has the bytes of this digest."""
        return any(found.mark == mark for found in self.list_all())

    def find(self, mark: str) -> bytes | None:
        """The version with a digest."""
        for found in reversed(self.list_all()):
            if found.mark == mark:
                data = found.path.read_bytes()
                if digest(data) == mark:
                    return data
        return None

    def current(self) -> LibraryDocument | None:
        """The newest version that we wrote or accepted and that can be read."""
        found = self.read_current()
        return None if found is None else found[1]

    def read_current(self) -> tuple[Version, LibraryDocument] | None:
        """The newest version that we wrote or accepted and that can be read."""
        for version in reversed(self.list_all()):
            document = parse_version(version.path) if version.kind == CURRENT else None
            if document is not None:
                return version, document
        return None

    def iterate_accepted(self) -> Iterator[tuple[str, LibraryDocument]]:
        """Every readable version that we wrote or accepted, oldest first, with its digest."""
        for version in self.list_all():
            document = parse_version(version.path) if version.kind == CURRENT else None
            if document is not None:
                yield version.mark, document

    def list_files(self) -> list[tuple[int, str, Path]]:
        """Number, kind and file of every version, oldest first."""
        return [(version.number, version.kind, version.path) for version in self.list_all()]

    def list_all(self) -> list[Version]:
        """Every version, oldest first."""
        try:
            names = [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        matches = (_NAME.fullmatch(name) for name in names)
        return sorted(
            (
                Version(
                    int(m.group(1)),
                    m.group(2),
                    m.group(3),
                    None if m.group(4) is None else int(m.group(4)),
                    self.folder / m.group(0),
                )
                for m in matches
                if m
            ),
            key=lambda version: (version.number, version.path.name),
        )

    def _next(self, kind: str, mark: str, revision: int | None) -> Path:
        listed = self.list_all()
        number = listed[-1].number + 1 if listed else 1
        after = "" if revision is None else f"-r{revision}"
        return self.folder / f"{number:012d}-{kind}-{mark}{after}.json"

    def _prune(self) -> None:
        kept_bytes = 0
        for place, version in enumerate(reversed(self.list_all())):
            kept_bytes += version.path.stat().st_size
            if place >= _MOST or (place >= _FEWEST and kept_bytes > _MOST_BYTES):
                version.path.unlink(missing_ok=True)


def parse_version(path: Path) -> LibraryDocument | None:
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
