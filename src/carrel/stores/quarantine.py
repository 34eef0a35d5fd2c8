"""Records that could not be read, one a line with file, number and reason."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import orjson

from carrel.rooms.papers.loading.models import BadRecord


class QuarantineFile:
    """A file of JSON lines that is only appended to; made when there is something to keep."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[bytes] = []

    @property
    def name(self) -> str:
        return str(self._path)

    def cut(self, size_bytes: int) -> None:
        self._waiting.clear()
        if self._path.exists() and self._path.stat().st_size > size_bytes:
            os.truncate(self._path, size_bytes)

    def add(self, file: str, bad: Sequence[BadRecord]) -> None:
        self._waiting += [
            orjson.dumps(
                {
                    "file": file,
                    "record": each.number,
                    "reason": each.reason,
                    "beginning": each.beginning,
                }
            )
            for each in bad
        ]

    def flush(self) -> int:
        if self._waiting:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(b"".join(line + b"\n" for line in self._waiting))
                file.flush()
                os.fsync(file.fileno())
            self._waiting.clear()
        return self._path.stat().st_size if self._path.exists() else 0
