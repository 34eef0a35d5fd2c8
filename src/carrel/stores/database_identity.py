"""Remembers beside each embedded database which one it is, so that another in its place is refused.

Needs no driver: the first look at a start is at names and bytes. POSIX drops every lock that a
process has on a file when the process closes any descriptor of it. SQLite's locks gone, another
process that closes the database takes itself for the last one and removes the log, and what is
written here afterwards is lost. So what was opened here to look at the bytes stays open.
https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from carrel.core.errors import UnavailableError
from carrel.stores.backup.backup_list import newest_backup

_MAGIC = b"SQLite format 3\x00"
# Where SQLite keeps the application id in the header of a file.
_ID_AT = 68
_HEADER_BYTES = 100
# A desk has three or four databases; only tests open so many in one process that some are closed.
_MOST_HELD = 64

_lock = threading.Lock()
_held: dict[tuple[int, int], int] = {}


class DatabaseReplacedError(UnavailableError):
    """The file is not the database that was kept here; nothing is written to it."""

    code = "database_replaced"
    is_retryable = False

    def __init__(self, file: Path, what: str, *, is_usable: bool = False) -> None:
        backup = newest_backup(_folders(file))
        restore = (
            f"The newest backup is {backup}: carrel restore {backup} --force"
            if backup
            else "No backup is known here"
        )
        # Only a whole database can be taken as it is.
        accept = (
            f"; to use the file as it is, carrel databases accept {file.stem}" if is_usable else ""
        )
        super().__init__(
            f"{file} {what}",
            next_step=f"{restore}. To begin with an empty one, carrel databases reset "
            f"{file.stem}, which moves this one aside{accept}.",
            details={"file": file.name, "backup": None if backup is None else str(backup)},
        )


def identity_file(file: Path) -> Path:
    return file.with_name(f".{file.name}.id")


def read_identity(file: Path) -> int | None:
    """The id of the database that was kept here, or None where none was."""
    try:
        facts = json.loads(identity_file(file).read_text(encoding="utf-8"))
        return int(facts["application_id"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnavailableError(
            f"{identity_file(file)} cannot be read",
            next_step=f"Mend its rights, or carrel databases accept {file.stem}.",
        ) from error


def write_identity(file: Path, application_id: int) -> None:
    """Remembers a database, on disk when this returns."""
    place = identity_file(file)
    descriptor, draft = tempfile.mkstemp(dir=place.parent, prefix=f"{place.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(json.dumps({"application_id": application_id}) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        Path(draft).replace(place)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def refuse_replaced(file: Path) -> None:
    """Raises DatabaseReplacedError where the database is missing, empty, invalid or another."""
    known = read_identity(file)
    if known is None:
        return
    try:
        header = _read_start(file, _HEADER_BYTES)
    except FileNotFoundError:
        raise DatabaseReplacedError(file, "is missing, and this desk has kept data in it") from None
    if not header:
        raise DatabaseReplacedError(file, "is empty, and this desk has kept data in it")
    if not header.startswith(_MAGIC):
        raise DatabaseReplacedError(file, "is not a database any more")
    # With a log beside it only SQLite can say what the header is; it does so when the file is
    # opened.
    has_log = file.with_name(f"{file.name}-wal").exists()
    if not has_log and int.from_bytes(header[_ID_AT : _ID_AT + 4], "big") != known:
        raise DatabaseReplacedError(
            file,
            "is another database than the one this desk has kept data in",
            is_usable=True,
        )


def _folders(file: Path) -> Iterator[Path]:
    """Where the home of a database can be: its own folder or up to two above."""
    yield from file.absolute().parents[:3]


def _read_start(file: Path, count: int) -> bytes:
    """At most the first `count` bytes of a file."""
    if os.name == "nt":
        with file.open("rb") as stream:
            return stream.read(count)
    with _lock:
        found = file.stat()
        held = _held.get((found.st_dev, found.st_ino))
        descriptor = _hold(file) if held is None else held
        os.lseek(descriptor, 0, os.SEEK_SET)
        return os.read(descriptor, count)


def _hold(file: Path) -> int:
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    opened = os.fstat(descriptor)
    # Another file may have come in its place since it was looked at, one that is held already: then
    # both stay open.
    if (opened.st_dev, opened.st_ino) not in _held:
        while len(_held) >= _MOST_HELD:
            os.close(_held.pop(next(iter(_held))))
        _held[opened.st_dev, opened.st_ino] = descriptor
    return descriptor
