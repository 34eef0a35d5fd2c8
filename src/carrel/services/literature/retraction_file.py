"""The Retraction Watch table as a file on this machine."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

from carrel.libraries.literature.retraction_watch import (
    SERVICE,
    NotRetractionWatchError,
    ReinstatedRow,
    RetractionRow,
    drop_reinstated,
    read_retraction_watch,
)
from carrel.rooms.literature.retraction_ports import NoticeRow, TableContent, UnreadableTableError

# The whole table of 2026 has some 70 MB; what is far larger is something else.
_MAX_BYTES = 2_000_000_000
_GZIP = b"\x1f\x8b"


class RetractionFile:
    """A CSV file, plain or gzip; the contract is that of `NoticeTable`."""

    name = SERVICE

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def place(self) -> str:
        return str(self._path)

    def mark(self) -> str | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return f"{found.st_size}-{found.st_mtime_ns}"

    def read(self) -> TableContent:
        try:
            if self._path.stat().st_size > _MAX_BYTES:
                raise UnreadableTableError(f"{self._path} is larger than {_MAX_BYTES} bytes")
            with self._path.open("rb") as file:
                is_packed = file.read(2) == _GZIP
            # Some copies of the table have a few bytes that are not UTF-8, in names.
            opened = gzip.open if is_packed else open
            with opened(
                self._path, "rt", encoding="utf-8-sig", errors="replace", newline=""
            ) as text:
                return _collect(text)
        except NotRetractionWatchError as error:
            raise UnreadableTableError(f"{self._path}: {error}") from error
        except (OSError, EOFError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UnreadableTableError(f"{self._path} cannot be read: {reason}") from error


def _collect(lines: Iterable[str]) -> TableContent:
    rows: list[RetractionRow] = []
    reinstated: list[ReinstatedRow] = []
    skipped: dict[str, int] = {}
    for each in read_retraction_watch(lines):
        match each:
            case RetractionRow():
                rows.append(each)
            case ReinstatedRow():
                reinstated.append(each)
            case _:
                skipped[each.reason] = skipped.get(each.reason, 0) + 1
    kept = drop_reinstated(rows, reinstated)
    found = tuple(NoticeRow(key, row.record, row.notice) for row in kept for key in row.keys)
    return TableContent(found, len(kept), skipped)
