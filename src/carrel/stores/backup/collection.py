"""Finds the files of a backup and copies each as it was at one moment, while others write them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

from carrel.stores.backup.archive import ArchiveWriter
from carrel.stores.backup.errors import BackupFailedError
from carrel.stores.file_lock import hold_lock
from carrel.stores.sqlite.connection import OpenMode, connect
from carrel.stores.sqlite.errors import is_damaged
from carrel.stores.sqlite.schema import passes_quick_check

WhyNot = Callable[[Path], str | None]

_SQLITE = b"SQLite format 3\x00"
_IN_MEMORY_BYTES = 16 * 1024 * 1024
_TRIES = 5
_TAIL_BYTES = 1024 * 1024
_PAGES = 4096
_BUSY_SECONDS = 30.0
_BESIDE_SQLITE = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that is to be carried, and its name in the archive.

    `is_immutable`: nobody writes it again, so it is carried as it lies there.
    """

    path: Path
    name: str
    is_immutable: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not carried, and why."""

    path: Path
    name: str
    reason: str


@dataclass(slots=True)
class Findings:
    """Files in the order of their names, and what was left out, with the reason."""

    files: list[FoundFile] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        return sum(_size(found.path) for found in self.files)


def collect(folder: Path, name: str, why_not: WhyNot, findings: Findings) -> None:
    """Add all files below a folder except those that `why_not` names; links are followed."""
    _collect(folder, name, why_not, findings, frozenset())


def _collect(
    folder: Path, name: str, why_not: WhyNot, findings: Findings, inside: frozenset[Path]
) -> None:
    real = folder.resolve()
    if real in inside:
        return
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise BackupFailedError(
            f"{folder} cannot be read: {error.strerror}",
            next_step="Mend that and run it again; no backup was made.",
        ) from error
    for path in paths:
        below = f"{name}/{path.name}"
        reason = why_not(path)
        if reason is not None:
            findings.left_out.append(LeftOut(path, below, reason))
        elif path.is_dir():
            _collect(path, below, why_not, findings, inside | {real})
        elif not path.is_file():
            findings.left_out.append(LeftOut(path, below, "neither a file nor a folder"))
        elif not _is_beside_sqlite(path):
            findings.files.append(FoundFile(path, below))


def _is_beside_sqlite(path: Path) -> bool:
    """Whether it is a WAL or journal of a SQLite file, contained in that file's copy."""
    return any(
        path.name.endswith(suffix) and path.with_name(path.name.removesuffix(suffix)).exists()
        for suffix in _BESIDE_SQLITE
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


class Copier:
    """Puts files into an archive. `scratch` is a free name on the disk of the archive."""

    def __init__(self, archive: ArchiveWriter, scratch: Path) -> None:
        self._archive = archive
        self._scratch = scratch

    def add(self, found: FoundFile) -> bool:
        """Whether the file was still there."""
        try:
            with found.path.open("rb") as file:
                is_database = file.read(len(_SQLITE)) == _SQLITE
            if found.is_immutable:
                self._add_immutable(found, is_database)
            elif is_database:
                self._add_database(found)
            else:
                self._add_plain(found)
        except FileNotFoundError:
            return False
        except (OSError, sqlite3.Error) as error:
            if isinstance(error, sqlite3.Error) and is_damaged(error):
                raise _damaged_error(found) from error
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise BackupFailedError(
                f"{found.path} cannot be carried: {reason}",
                next_step="Mend that and run it again; no backup was made.",
            ) from error
        return True

    def add_log(self, lock: Path, listed: Callable[[], Sequence[FoundFile]]) -> None:
        """Adds files of lines that only grow, each up to its last whole line, none renamed."""
        with ExitStack() as stack:
            with hold_lock(lock, wait_seconds=None):
                # Newest first: whatever a line says came before it is then in what is looked at
                # after it.
                opened = [
                    (found, stack.enter_context(found.path.open("rb")))
                    for found in reversed(listed())
                ]
                states = [os.fstat(file.fileno()) for _, file in opened]
            for (found, file), state in sorted(
                zip(opened, states, strict=True), key=lambda each: each[0][0].name
            ):
                start = max(0, state.st_size - _TAIL_BYTES)
                file.seek(start)
                size = start + file.read(state.st_size - start).rfind(b"\n") + 1
                file.seek(0)
                self._archive.add(
                    found.name,
                    file,
                    size,
                    modified_ns=state.st_mtime_ns,
                    mode=state.st_mode & 0o777,
                )

    def _add_immutable(self, found: FoundFile, is_database: bool) -> None:
        if is_database:
            with closing(connect(found.path, "immutable")) as connection:
                if not passes_quick_check(connection):
                    raise _damaged_error(found)
        with found.path.open("rb") as file:
            state = os.fstat(file.fileno())
            self._archive.add(
                found.name,
                file,
                state.st_size,
                modified_ns=state.st_mtime_ns,
                mode=state.st_mode & 0o777,
            )

    def _add_plain(self, found: FoundFile) -> None:
        for _ in range(_TRIES):
            with (
                found.path.open("rb") as file,
                tempfile.SpooledTemporaryFile(
                    _IN_MEMORY_BYTES, dir=str(self._scratch.parent)
                ) as copy,
            ):
                before = os.fstat(file.fileno())
                shutil.copyfileobj(file, copy)
                after = os.fstat(file.fileno())
                if (before.st_size, before.st_mtime_ns) == (
                    after.st_size,
                    after.st_mtime_ns,
                ) and copy.tell() == after.st_size:
                    copy.seek(0)
                    self._archive.add(
                        found.name,
                        copy,
                        after.st_size,
                        modified_ns=after.st_mtime_ns,
                        mode=after.st_mode & 0o777,
                    )
                    return
        raise BackupFailedError(
            f"{found.path} keeps being written", next_step="Run it again; no backup was made."
        )

    def _add_database(self, found: FoundFile) -> None:
        """Add a consistent copy of a database that others may be writing."""
        state = found.path.stat()
        self._scratch.unlink(missing_ok=True)
        self._scratch.touch(mode=0o600)
        try:
            with (
                closing(_open_to_read(found.path)) as source,
                closing(connect(self._scratch)) as copy,
            ):
                # An open reading transaction keeps every step of the copy at the same state.
                source.execute("BEGIN")
                source.execute("SELECT count(*) FROM sqlite_master").fetchone()
                source.backup(copy, pages=_PAGES)
                if not passes_quick_check(copy):
                    raise _damaged_error(found)
                version = int(copy.execute("PRAGMA user_version").fetchone()[0])
            with self._scratch.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                self._archive.add(
                    found.name,
                    file,
                    size,
                    modified_ns=state.st_mtime_ns,
                    mode=state.st_mode & 0o777,
                    schema_version=version,
                )
        finally:
            self._scratch.unlink(missing_ok=True)


def _damaged_error(found: FoundFile) -> BackupFailedError:
    return BackupFailedError(
        f"{found.path} is damaged: it cannot be carried",
        next_step="Restore an earlier backup, or move the file aside; no backup was made.",
    )


def _open_to_read(file: Path) -> sqlite3.Connection:
    """A connection that leaves no files behind and works in a read-only folder."""
    if os.access(file, os.W_OK) and os.access(file.parent, os.W_OK):
        mode: OpenMode = "write"
    else:
        has_log = any(
            file.with_name(f"{file.name}{suffix}").exists() for suffix in ("-wal", "-journal")
        )
        mode = "read" if has_log else "immutable"
    return connect(file, mode, busy_seconds=_BUSY_SECONDS)
