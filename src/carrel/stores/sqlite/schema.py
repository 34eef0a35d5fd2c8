"""Schema versions of SQLite files: upgrade steps, copies made before them, and the identity guard.

A file's version is its `user_version`. A schema is a list of steps, one for each version; the first
makes the tables. A file of a newer version is refused and left alone.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from carrel.core.errors import StorageFullError
from carrel.stores.database_identity import (
    DatabaseReplacedError,
    read_identity,
    refuse_replaced,
    write_identity,
)
from carrel.stores.sql.driver import UpgradeStatements
from carrel.stores.sqlite.connection import connect, drive, enable_write_ahead_log, transaction
from carrel.stores.sqlite.errors import SqliteRefusedError, is_damaged, is_disk_full

log = logging.getLogger("carrel.home")

# A script of SQL, or a function for what SQL alone cannot do.
UpgradeStep = str | UpgradeStatements

# Somebody else may be upgrading just now, which can take longer than a usual write.
_BUSY_SECONDS = 60.0


class NewerFileError(SqliteRefusedError):
    """The file was written by a newer version of the product."""


def prepare_file(file: Path, steps: Sequence[UpgradeStep], *, is_guarded: bool = True) -> None:
    """Makes the folder and the private file where missing, and brings the tables forward.

    A guarded file must be the database that was kept here: DatabaseReplacedError otherwise.
    """
    if is_guarded:
        refuse_replaced(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.touch(mode=0o600)
    except OSError as error:
        if is_disk_full(error, file):
            raise StorageFullError.at(f"the folder of {file.name}") from error
        raise SqliteRefusedError(f"{file} cannot be made: {error.strerror}") from None
    if is_guarded:
        _upgrade_guarded(file, steps)
    else:
        upgrade_schema(file, steps)


def upgrade_schema(file: Path, steps: Sequence[UpgradeStep]) -> None:
    """Run the missing upgrade steps in one transaction, once however many processes ask.

    Tables without a version are version 1: the first script runs again, so it says IF NOT EXISTS.
    """
    latest = len(steps)
    with closing(connect(file, busy_seconds=_BUSY_SECONDS)) as connection:
        is_current = _checked_version(connection, file, latest) == latest
        enable_write_ahead_log(connection)
        if is_current:
            return
        connection.execute("PRAGMA synchronous = FULL")
        with transaction(connection):
            version = _checked_version(connection, file, latest)
            if version < latest:
                _run_steps(connection, file, version, steps)


def _upgrade_guarded(file: Path, steps: Sequence[UpgradeStep]) -> None:
    known = read_identity(file)
    try:
        if known is not None:
            with closing(connect(file, "write", busy_seconds=_BUSY_SECONDS)) as connection:
                present = connection.execute("PRAGMA application_id").fetchone()[0]
            if present != known:
                raise DatabaseReplacedError(
                    file,
                    "is another database than the one this desk has kept data in",
                    is_usable=True,
                )
        upgrade_schema(file, steps)
        if known is None:
            # Made first and remembered then: killed in between, the next start remembers it.
            try:
                write_identity(file, _stamp_identity(file))
            except OSError as error:
                log.warning(
                    "database not remembered", extra={"file": file.name, "reason": error.strerror}
                )
    except sqlite3.DatabaseError as error:
        if is_damaged(error):
            raise DatabaseReplacedError(file, "is damaged or is not a database") from error
        raise


def _stamp_identity(file: Path) -> int:
    """The application id of a database, given where it has none; the same for all who ask."""
    with closing(connect(file, busy_seconds=_BUSY_SECONDS)) as connection:
        present = int(connection.execute("PRAGMA application_id").fetchone()[0])
        if present:
            return present
        with transaction(connection):
            present = int(connection.execute("PRAGMA application_id").fetchone()[0])
            if not present:
                present = secrets.randbelow(2**31 - 1) + 1
                connection.execute(f"PRAGMA application_id = {present}")
        return present


def open_unwritable(file: Path, steps: Sequence[UpgradeStep]) -> sqlite3.Connection | None:
    """A connection to read a database in a folder that cannot be written; None where it can be.

    A database that was never made reads as an empty one. One of an earlier version gives None:
    whoever upgrades it says that it cannot be written.
    """
    place = file.parent
    while not place.exists() and place != place.parent:
        place = place.parent
    if os.access(place, os.W_OK):
        return None
    refuse_replaced(file)
    if not file.exists():
        empty = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        _run_steps(empty, file, 0, steps)
        return empty
    # With a log beside it, what is in the log counts, too.
    has_log = file.with_name(f"{file.name}-wal").exists()
    connection = connect(file, "read" if has_log else "immutable")
    if _checked_version(connection, file, len(steps)) == len(steps):
        return connection
    connection.close()
    return None


def refuse_damaged(file: Path) -> None:
    """Reads a whole database; DatabaseReplacedError where a part of it is damaged."""
    refuse_replaced(file)
    if not file.exists():
        return
    # Where it cannot be opened or is busy, whoever uses it says so.
    with suppress(sqlite3.OperationalError), closing(connect(file, "write")) as connection:
        if not passes_quick_check(connection):
            raise DatabaseReplacedError(file, "is damaged")


def passes_quick_check(connection: sqlite3.Connection) -> bool:
    """Whether every page of a database can be read as what it should be."""
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError as error:
        if is_damaged(error):
            return False
        raise


def schema_version(file: Path) -> int:
    """The version a file says it has; 0 where it says none."""
    with closing(connect(file, "read")) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def holds_rows(file: Path, tables: Sequence[str]) -> bool:
    """Whether one of the tables has a row; a file that cannot be read may, so it counts."""
    if not file.exists():
        return False
    try:
        with closing(connect(file, "read")) as connection:
            listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            present = {name for (name,) in listed}
            return any(
                connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
                for table in tables
                if table in present
            )
    except sqlite3.Error:
        return True


def upgrade_copy_name(file: Path, version: int, latest: int) -> Path:
    """Where the copy of a file lies that was made before an upgrade."""
    return file.with_name(f"{file.stem}.before-v{version}-to-v{latest}{file.suffix}")


def is_upgrade_copy(name: str) -> bool:
    """Whether a file of this name is such a copy, finished or not."""
    return ".before-v" in name and "-to-v" in name


def _checked_version(connection: sqlite3.Connection, file: Path, latest: int) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > latest:
        raise NewerFileError(
            f"{file.name} was written by a newer Carrel (version {version}, known {latest}); it "
            f"was left as it is. Use that Carrel, or restore a backup made before"
        )
    return version


def _run_steps(
    connection: sqlite3.Connection, file: Path, version: int, steps: Sequence[UpgradeStep]
) -> None:
    has_tables = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    came_from = max(version, 1) if has_tables else 0
    if 0 < came_from < len(steps):
        _put_copy_beside(file, upgrade_copy_name(file, came_from, len(steps)))
    for step in steps[version:]:
        if isinstance(step, UpgradeStatements):
            drive(connection, step.statements())
        else:
            for statement in step.split(";\n"):
                connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(steps)}")


def _put_copy_beside(file: Path, copy: Path) -> None:
    """Under its name only when complete; one left by an earlier try is replaced."""
    draft = copy.with_name(f"{copy.name}.part")
    draft.unlink(missing_ok=True)
    draft.touch(mode=file.stat().st_mode & 0o777)
    with closing(connect(file)) as older, closing(connect(draft)) as target:
        older.backup(target)
    with draft.open("rb") as written:
        os.fsync(written.fileno())
    draft.replace(copy)
