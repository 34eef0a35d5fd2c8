"""What a driver says goes to the log, without the values it quotes, and to no answer."""

from __future__ import annotations

import asyncio
import io
import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from carrel.core.errors import UnavailableError, describe_error
from carrel.doors.logs import configure_logs
from carrel.stores.sql.access import SCRIPTS
from carrel.stores.sqlite.driver import SqliteDriver
from carrel.wiring.desk import open_desk
from carrel.wiring.http import http_app
from tests.rooms.knowledge.desk import settings_at

SECRET = "the-text-of-a-note"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure_logs("info", "json")
    yield written
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize(
    "message",
    [
        f'syntax error in tsvector: "{SECRET}"',
        f"near '{SECRET}': it's broken '{SECRET}'",
        f'null value in column "x"\nDETAIL:  Failing row contains (1, {SECRET}).',
        f'"{SECRET} with a " inside of it {SECRET}"',
    ],
)
def test_a_described_error_quotes_nothing(message: str) -> None:
    told = describe_error(sqlite3.OperationalError(message))
    assert told.startswith("sqlite3.OperationalError") and SECRET not in told


def invoke(home: Path, query: str) -> httpx2.Response:
    async def ask() -> httpx2.Response:
        desk = open_desk(settings_at(home))
        async with desk.session():
            transport = httpx2.ASGITransport(app=http_app(desk))
            async with httpx2.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:8080"
            ) as client:
                return await client.post(
                    "/mcp/invoke",
                    json={"tool_name": "search_knowledge", "params": {"query": query}},
                )

    return asyncio.run(ask())


def _a_failing_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Iterator[None]:
        yield from ()
        raise sqlite3.OperationalError(f'fts5: syntax error near "{SECRET}"')

    monkeypatch.setattr("carrel.stores.sql.knowledge.SqlNoteStore.search_statements", fail)


def test_a_503_shows_nothing_of_the_driver_and_the_log_names_tool_user_path_and_error_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: io.StringIO
) -> None:
    _a_failing_search(monkeypatch)
    told = invoke(tmp_path, "nerves")
    assert told.status_code == 503
    body = told.json()
    assert SECRET not in told.text and "fts5" not in told.text
    assert body["retryable"] is True
    (line,) = [line for line in log.getvalue().splitlines() if "call not answered" in line]
    for part in (
        '"action":"tool:search_knowledge"',
        '"user":"local"',
        '"path":"/mcp/invoke"',
        f'"error_id":"{body["error_id"]}"',
    ):
        assert part in line
    assert "sqlite3.OperationalError" in line and SECRET not in log.getvalue()


def test_a_500_shows_nothing_of_the_inside_and_its_traceback_quotes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: io.StringIO
) -> None:
    def fail(*_: Any) -> Iterator[None]:
        yield from ()
        raise KeyError(SECRET)

    monkeypatch.setattr("carrel.stores.sql.knowledge.SqlNoteStore.search_statements", fail)
    told = invoke(tmp_path, "x")
    assert told.status_code == 500 and SECRET not in told.text
    (line,) = [line for line in log.getvalue().splitlines() if '"message":"call failed"' in line]
    for part in (
        '"action":"tool:search_knowledge"',
        '"user":"local"',
        '"path":"/mcp/invoke"',
        told.json()["error_id"],
        "KeyError",
    ):
        assert part in line
    assert SECRET not in log.getvalue()


def test_the_shared_sql_driver_shows_its_own_words_only(tmp_path: Path) -> None:
    async def ask() -> None:
        driver = SqliteDriver(tmp_path / "access.sqlite", SCRIPTS)
        try:
            await driver.run((f"SELECT '{SECRET}' FROM nowhere", {}))
        finally:
            await driver.close()

    with pytest.raises(UnavailableError) as refused:
        asyncio.run(ask())
    assert refused.value.message == "access.sqlite cannot be used: it failed"
