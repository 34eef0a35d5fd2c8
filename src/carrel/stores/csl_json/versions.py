"""Versions of the library: the rolling backup for people, and the memory that a merge needs."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from carrel.stores.csl_json.document import Document, UnreadableLibraryError

CURRENT = "current"
REPLACED = "replaced"
_NAME = re.compile(rf"(\d{{12}})-({CURRENT}|{REPLACED})-([0-9a-f]{{16}})\.json")
_MOST = 20
_FEWEST = 4
_MOST_BYTES = 64 * 1024 * 1024


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


class Versions:
    """A folder beside the library. `current` versions are those we wrote or accepted; `replaced` ones stood there before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, data: bytes) -> None:
        """Puts down what is current now, durably."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._next(CURRENT, digest(data))
        draft = path.with_suffix(f".{os.getpid()}.draft")
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        self._prune()

    def keep_replaced(self, file: Path, data: bytes) -> None:
        """Moves a replaced file here; a program that still writes into it writes into the backup."""
        file.replace(self._next(REPLACED, digest(data)))
        self._prune()

    def is_current(self, data: bytes) -> bool:
        """Whether these very bytes are what we last wrote or accepted."""
        newest = self._newest_current()
        return newest is not None and newest[1] == digest(data)

    def has(self, data: bytes) -> bool:
        """Whether these very bytes are among the versions."""
        mark = digest(data)
        return any(found == mark for _, _, found, _ in self._listed())

    def current(self) -> tuple[Document, float] | None:
        """The version we last wrote or accepted, and when, if it can be read."""
        newest = self._newest_current()
        document = None if newest is None else readable(newest[2])
        return None if newest is None or document is None else (document, newest[2].stat().st_mtime)

    def readable(self) -> Iterator[Document]:
        """Every version that can be read, newest first."""
        for _, _, _, path in reversed(self._listed()):
            document = readable(path)
            if document is not None:
                yield document

    def _newest_current(self) -> tuple[int, str, Path] | None:
        found = [(number, mark, path) for number, kind, mark, path in self._listed() if kind == CURRENT]
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
        return sorted((int(m.group(1)), m.group(2), m.group(3), self.folder / m.group(0)) for m in matches if m)

    def _prune(self) -> None:
        kept_bytes = 0
        for place, (_, _, _, path) in enumerate(reversed(self._listed())):
            kept_bytes += path.stat().st_size
            if place >= _MOST or (place >= _FEWEST and kept_bytes > _MOST_BYTES):
                path.unlink(missing_ok=True)


def readable(path: Path) -> Document | None:
    """The version in a file, or None where it cannot be read."""
    try:
        return Document.parse(path.read_bytes())
    except (OSError, UnreadableLibraryError):
        return None
