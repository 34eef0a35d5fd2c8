"""A small file beside each embedded database that remembers which database it is, so that an empty
or foreign one in its place is
refused instead of being taken for a new desk. Needs no driver: the first look at a start is at
names and bytes."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from carrel.core.errors import UnavailableError
from carrel.stores.backup.backup_list import newest_backup
from carrel.stores.database_start import read_database_start

_MAGIC = b"SQLite format 3\x00"
# Where SQLite keeps the application id in the header of a file.
_ID_AT = 68
_HEADER_BYTES = 100


class DatabaseReplacedError(UnavailableError):
    """The file is not the database that was kept here; nothing is written to it, and nothing is
    made in its place.
    """

    code = "database_replaced"
    is_retryable = False

    def __init__(self, file: Path, what: str) -> None:
        backup = newest_backup(_folders(file))
        restore = (
            f"The newest backup is {backup}: carrel restore {backup} --force"
            if backup
            else "No backup is known here"
        )
        super().__init__(
            f"{file} {what}",
            next_step=f"{restore}. To begin with an empty one, carrel databases reset "
            f"{file.stem}; to use the file as it is, "
            f"carrel databases accept {file.stem}.",
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
    """Raises DatabaseReplacedError where names and bytes show that the database is gone, empty,
    none at all or another one.
    """
    known = read_identity(file)
    if known is None:
        return
    try:
        header = read_database_start(file, _HEADER_BYTES)
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
            file, "is another database than the one this desk has kept data in"
        )


def _folders(file: Path) -> Iterator[Path]:
    """Where the home folder of a database can be: it is in the home itself, or up to two folders
    below.
    """
    yield from file.absolute().parents[:3]
