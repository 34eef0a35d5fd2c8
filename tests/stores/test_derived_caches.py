"""Caches that are broken are made again from the truth, once, and the log says so."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from carrel.wiring.desk import open_desk
from tests.rooms.knowledge.desk import ADA, Ask, asking, at_the_desk, settings_at

BODY = {"query": {"match": {"content": "magnesium"}}}


async def _save_some(ask: Ask) -> None:
    for number in range(60):
        await ask(
            ADA,
            "save_knowledge",
            title=f"note {number}",
            content=f"magnesium and {number} more words " * 20,
        )
    await _ask(ask)


async def _ask(ask: Ask) -> int:
    return int(
        (await ask(ADA, "elasticsearch", index="knowledge", query=BODY)).hits["total"]["value"]
    )


def _damage(file: Path, how: str) -> None:
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    whole = file.read_bytes()
    match how:
        case "no database":
            file.write_bytes(b"this is not a database " * 1000)
        case "empty":
            file.write_bytes(b"")
        case "cut":
            file.write_bytes(whole[: len(whole) // 2])
        case "torn pages":
            # Everything after the first page is noise: it opens, and fails when it is asked.
            file.write_bytes(
                whole[:4096] + bytes((7 * at) % 251 for at in range(len(whole) - 4096))
            )
        case "lost tables":
            _drop_tables(file)
        case "first version":
            file.unlink()
            with sqlite3.connect(file) as connection:
                connection.execute(
                    "CREATE TABLE indices (number INTEGER PRIMARY KEY, name TEXT, fields TEXT, "
                    "cursor TEXT)"
                )
                connection.execute("PRAGMA user_version = 1")
        case "later version":
            with sqlite3.connect(file) as connection:
                connection.execute("PRAGMA user_version = 99")


def _drop_tables(file: Path) -> None:
    """Damage that every open connection sees at its next question, whatever it has in memory."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'words_%_places'"
        ).fetchall():
            connection.execute(f"DROP TABLE {name}")
        connection.execute("DROP TABLE group_sizes")


@pytest.mark.parametrize(
    "how",
    ["no database", "empty", "cut", "torn pages", "lost tables", "first version", "later version"],
)
def test_a_broken_search_cache_is_filled_again_at_the_next_question(
    tmp_path: Path, how: str
) -> None:
    at_the_desk(tmp_path, _save_some)
    _damage(tmp_path / "search.sqlite", how)
    for _ in range(2):
        assert at_the_desk(tmp_path, _ask) == 60


def test_a_search_cache_that_breaks_while_the_server_runs_is_filled_again_and_it_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        first, second = open_desk(settings_at(tmp_path)), open_desk(settings_at(tmp_path))
        async with first.session(), second.session():
            await _save_some(asking(first))
            assert await _ask(asking(second)) == 60
            with caplog.at_level(logging.WARNING, "carrel.cache"):
                _drop_tables(tmp_path / "search.sqlite")
                for _ in range(2):
                    assert await _ask(asking(first)) == 60
                    # Another process that had the broken file open goes over to the new one.
                    assert await _ask(asking(second)) == 60
            await asking(second)(ADA, "save_knowledge", title="after", content="magnesium")
            assert await _ask(asking(first)) == await _ask(asking(second)) == 61

    asyncio.run(work())
    assert [record.message for record in caplog.records if record.name == "carrel.cache"] == [
        "cache is made again"
    ]
