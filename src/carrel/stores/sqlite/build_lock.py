"""A lock that the operating system lets go when its holder dies: an SQLite file with an exclusive
transaction open.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from carrel.rooms.papers.errors import BuildInProgressError


class SqliteBuildLock:
    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def held(self) -> Iterator[None]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(
            sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        ) as connection:
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                raise BuildInProgressError from error
            try:
                yield
            finally:
                connection.execute("ROLLBACK")
