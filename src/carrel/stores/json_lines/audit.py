"""The audit log as files of JSON lines: append-only, shared by the workers, a new file when one is full."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from carrel.policy.audit_chain import hash_in
from carrel.stores.audit_queue import QueuedAudit
from carrel.stores.file_lock import hold_lock

DEFAULT_FILE_BYTES = 64 * 1024 * 1024


class JsonLinesAudit(QueuedAudit):
    """The queue in front of the files."""

    def __init__(
        self,
        file: Path,
        *,
        max_file_bytes: int = DEFAULT_FILE_BYTES,
        most_waiting: int = 100_000,
        keep_timeout_seconds: float = 2.0,
    ) -> None:
        sink = JsonLinesSink(file, max_file_bytes)
        super().__init__(sink, most_waiting=most_waiting, keep_timeout_seconds=keep_timeout_seconds)


class JsonLinesSink:
    """Appends lines to the current file; the full one is renamed by its time and stays in the folder."""

    def __init__(self, file: Path, max_file_bytes: int = DEFAULT_FILE_BYTES) -> None:
        self._file = file
        self._max_file_bytes = max_file_bytes
        self._descriptor: int | None = None
        self._is_torn = False

    def append(self, lines: Sequence[bytes]) -> None:
        descriptor = self._current()
        text = b"".join((b"\n" if self._is_torn else b"", *(line + b"\n" for line in lines)))
        written = os.write(descriptor, text)
        if written < len(text):
            # The rest is written again from its first line on the next try; the reader passes over the torn one.
            self._is_torn = True
            raise OSError(errno.ENOSPC, "the line could only be written in part")
        self._is_torn = False

    def last_hash(self) -> str | None:
        """The hash of the last line of the newest file that has one."""
        for file in reversed(audit_files(self._file)):
            with contextlib.suppress(OSError), file.open("rb") as lines:
                size = lines.seek(0, os.SEEK_END)
                lines.seek(max(0, size - 256 * 1024))
                for line in reversed(lines.read().splitlines()):
                    found = hash_in(line)
                    if found is not None:
                        return found
        return None

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _current(self) -> int:
        """The descriptor of the file that is current now; another worker may have renamed the one we had."""
        if self._descriptor is not None:
            mine = os.fstat(self._descriptor)
            if mine.st_nlink and mine.st_size < self._max_file_bytes and self._is_still_named(mine):
                return self._descriptor
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(self._file.with_name(self._file.name + ".lock"), wait_seconds=None):
            self.close()
            with contextlib.suppress(FileNotFoundError):
                if self._file.stat().st_size >= self._max_file_bytes:
                    self._file.rename(_free_name(self._file))
            self._descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        return self._descriptor

    def _is_still_named(self, mine: os.stat_result) -> bool:
        try:
            named = self._file.stat()
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == (mine.st_dev, mine.st_ino)


def audit_files(file: Path) -> list[Path]:
    """The full files in order, then the current one."""
    full = sorted(file.parent.glob(f"{file.stem}.*{file.suffix}"))
    return [*full, *([file] if file.exists() else [])]


def read_lines(file: Path) -> Iterator[bytes]:
    """Every line of the log, oldest file first."""
    for part in audit_files(file):
        with part.open("rb") as lines:
            yield from lines


def _free_name(file: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    return file.with_name(f"{file.stem}.{stamp}{file.suffix}")
