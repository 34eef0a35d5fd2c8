"""Looking at a database that is open leaves its locks, so that nothing is lost when another process
closes it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from carrel.stores.database_identity import refuse_replaced
from carrel.stores.sqlite.driver import SqliteDriver
from tests.processes import warm

_TABLES = ("CREATE TABLE IF NOT EXISTS word (text TEXT)",)
_ANOTHER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(*(row[0] for row in connection.execute("SELECT text FROM word")))
connection.close()
"""


def read_elsewhere(file: Path) -> list[str]:
    """The words that another process reads; it closes the database when it has."""
    done = warm.run(
        [sys.executable, "-c", _ANOTHER, str(file)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.split()


@pytest.mark.skipif(
    os.name == "nt", reason="closing a descriptor drops locks only where locks are POSIX's"
)
def test_a_look_at_an_open_database_loses_nothing_when_another_process_closes_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "words.db"

    async def story() -> None:
        driver = SqliteDriver(file, _TABLES)
        try:
            await driver.run(("INSERT INTO word VALUES (:text)", {"text": "first"}))
            refuse_replaced(file)
            assert read_elsewhere(file) == ["first"]
            assert file.with_name("words.db-wal").exists()
            await driver.run(("INSERT INTO word VALUES (:text)", {"text": "second"}))
            assert read_elsewhere(file) == ["first", "second"]
        finally:
            await driver.close()

    asyncio.run(story())
    assert read_elsewhere(file) == ["first", "second"]
