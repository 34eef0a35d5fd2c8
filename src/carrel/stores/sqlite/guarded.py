"""Opens a database that holds what nothing else does: only the one that was kept here, or a new one
where none was.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from carrel.stores.database_identity import (
    DatabaseReplacedError,
    read_identity,
    refuse_replaced,
    write_identity,
)
from carrel.stores.sqlite.errors import is_damaged, is_whole
from carrel.stores.sqlite.schema_upgrade import bring_forward

log = logging.getLogger("carrel.home")

_BUSY_MS = 60_000


def bring_guarded_forward(file: Path, scripts: Sequence[str]) -> None:
    """Like `bring_forward`; DatabaseReplacedError for a file that is not the database of this
    desk.
    """
    refuse_replaced(file)
    known = read_identity(file)
    try:
        if known is not None and _application_id(file) != known:
            raise DatabaseReplacedError(
                file, "is another database than the one this desk has kept data in"
            )
        bring_forward(file, scripts)
        if known is None:
            # Made first and remembered then: killed in between, the next start remembers it.
            try:
                write_identity(file, _stamped(file))
            except OSError as error:
                log.warning(
                    "database not remembered", extra={"file": file.name, "reason": error.strerror}
                )
    except sqlite3.DatabaseError as error:
        if is_damaged(error):
            raise DatabaseReplacedError(file, "is damaged or is not a database") from error
        raise


def refuse_damaged(file: Path) -> None:
    """Reads all of a database; DatabaseReplacedError where a part of it cannot be read as what it
    should be.
    """
    refuse_replaced(file)
    if not file.exists():
        return
    # Where it cannot be opened or is busy, whoever uses it says so.
    with (
        suppress(sqlite3.OperationalError),
        closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True)) as connection,
    ):
        if not is_whole(connection):
            raise DatabaseReplacedError(file, "is damaged")


def _application_id(file: Path) -> int:
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True)) as connection:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _stamped(file: Path) -> int:
    """The id of the database; one that has none gets one, the same for everybody who asks at
    once.
    """
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        present = int(connection.execute("PRAGMA application_id").fetchone()[0])
        if present:
            return present
        connection.execute("BEGIN IMMEDIATE")
        present = int(connection.execute("PRAGMA application_id").fetchone()[0])
        if not present:
            present = secrets.randbelow(2**31 - 1) + 1
            connection.execute(f"PRAGMA application_id = {present}")
        connection.execute("COMMIT")
        return present
