"""Brings the tables of an embedded database forward to the version this product knows. Every SQLite
file of ours passes here.

A file's version is its `user_version`. A schema is a list of scripts, one for each version; the
first makes the tables. Before
an older file is changed, a copy of it is put beside it. A file of a newer version is refused and
left alone.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from carrel.stores.sqlite.errors import SqliteRefusedError

_WAIT_MS = 60_000
_LOOK_EVERY_SECONDS = 0.01


class NewerFileError(SqliteRefusedError):
    """The file was written by a newer version of the product."""


def bring_forward(file: Path, scripts: Sequence[str]) -> None:
    """Makes the tables, or brings older ones up to the last script, in one transaction and once
    however many ask.

    A file that has tables and no version is from before there were versions, which is version 1;
    the first script is run on it
    again, so such schemas say IF NOT EXISTS. Killed at any moment, the file is as it was.
    """
    latest = len(scripts)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        # Somebody else may be bringing it forward just now; that can take longer than a usual
        # write.
        connection.execute(f"PRAGMA busy_timeout = {_WAIT_MS}")
        is_current = _version(connection, file, latest) == latest
        write_ahead(connection)
        if is_current:
            return
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = _version(connection, file, latest)
            if version < latest:
                _upgrade(connection, file, version, scripts)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def write_ahead(connection: sqlite3.Connection) -> None:
    """Turns the write-ahead log on. SQLite does not wait its busy timeout for that, so where two
    ask at once we wait ourselves.
    """
    until = time.monotonic() + _WAIT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if (
                error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
                or time.monotonic() > until
            ):
                raise
            time.sleep(_LOOK_EVERY_SECONDS)
        else:
            return


def version_of(file: Path) -> int:
    """The version a file says it has; 0 where it says none."""
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def copy_name(file: Path, version: int, latest: int) -> Path:
    """Where the copy of a file lies that was made before it was brought forward."""
    return file.with_name(f"{file.stem}.before-v{version}-to-v{latest}{file.suffix}")


def is_copy(name: str) -> bool:
    """Whether a file of this name is such a copy, whole or in the making."""
    return ".before-v" in name and "-to-v" in name


def _version(connection: sqlite3.Connection, file: Path, latest: int) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > latest:
        raise NewerFileError(
            f"{file.name} was written by a newer Carrel (version {version}, known {latest}); it "
            f"was left as it is. "
            "Use that Carrel, or restore a backup made before"
        )
    return version


def _upgrade(
    connection: sqlite3.Connection, file: Path, version: int, scripts: Sequence[str]
) -> None:
    has_tables = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    came_from = max(version, 1) if has_tables else 0
    if 0 < came_from < len(scripts):
        _put_copy_beside(file, copy_name(file, came_from, len(scripts)))
    for script in scripts[version:]:
        for statement in script.split(";\n"):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(scripts)}")


def _put_copy_beside(file: Path, copy: Path) -> None:
    """Under its name only when it is whole. One left by an earlier try holds nothing that this one
    lacks, and is replaced.
    """
    draft = copy.with_name(f"{copy.name}.part")
    draft.unlink(missing_ok=True)
    draft.touch(mode=file.stat().st_mode & 0o777)
    with closing(sqlite3.connect(file)) as older, closing(sqlite3.connect(draft)) as target:
        older.backup(target)
    with draft.open("rb") as whole:
        os.fsync(whole.fileno())
    draft.replace(copy)
