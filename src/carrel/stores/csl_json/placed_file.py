"""The note of what we last put into a library file: whether it is as we left it costs one look."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from carrel.stores.csl_json.file_replacement import sync_folder, write_durably

PLACED_NAME = "placed.json"
Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """What the file holds: the state of `revision` with the digest `wanted`.

    A killed writer may have left it with `expected`, what it held before. `signature` is that of
    the file with `wanted`, as far as it was known when the note was written.
    """

    revision: int
    wanted: str
    expected: str
    signature: Signature


def file_signature(path: Path) -> Signature:
    """Changes with every save of a file; empty where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class PlacedNote:
    """The note. Only the holder of the library's lock writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[Signature, PlacedFile | None] = ((), None)

    def read(self) -> PlacedFile | None:
        """The note, or None where there is none: the file is then to be compared with versions."""
        signature = file_signature(self._path)
        if not signature:
            return None
        if self._known[0] != signature:
            self._known = (signature, self._read())
        return self._known[1]

    def write(self, placed: PlacedFile, *, is_durable: bool = True) -> None:
        """Replaces the note in one step. One that follows from the file needs not be durable."""
        draft = self._path.with_suffix(".draft")
        data = json.dumps(asdict(placed)).encode()
        if is_durable:
            write_durably(draft, data)
        else:
            draft.write_bytes(data)
        draft.replace(self._path)
        if is_durable:
            sync_folder(self._path.parent)

    def _read(self) -> PlacedFile | None:
        try:
            found = json.loads(self._path.read_bytes())
            return PlacedFile(
                int(found["revision"]),
                str(found["wanted"]),
                str(found["expected"]),
                tuple(int(part) for part in found["signature"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
