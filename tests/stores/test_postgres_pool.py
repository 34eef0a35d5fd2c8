"""The pool of a process on a real PostgreSQL, also behind a transaction pooler."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from carrel.core.errors import UnavailableError
from carrel.doors.errors import find_retry_after
from tests.stores.postgres_server import free_port, ordinary_user, run_as_ordinary_user

psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.database import PostgresDatabase  # noqa: E402
from carrel.stores.postgres.pool import PoolOptions  # noqa: E402

_WORDS = ("CREATE TABLE IF NOT EXISTS words (text TEXT PRIMARY KEY)",)
_INSERT = "INSERT INTO words VALUES (:text)"
_COUNT = "SELECT count(*) FROM words"
_NAME = "carrel-pool-test"


def named(url: str) -> str:
    """The address with an application name, by which the server lists its connections."""
    return f"{url}{'&' if '?' in url else '?'}application_name={_NAME}"


def break_connections(url: str) -> int:
    """End every connection of the pools as a restart of the server does; returns how many."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
            (_NAME,),
        ).fetchall()
    return len(rows)


def test_a_server_that_is_away_is_told_with_a_time_to_come_back() -> None:
    async def story() -> None:
        database = PostgresDatabase(
            "postgresql://nobody@127.0.0.1:1/none", "words", _WORDS, options=PoolOptions(2, 0.2)
        )
        try:
            with pytest.raises(UnavailableError) as raised:
                await database.run((_COUNT, {}))
            assert find_retry_after(raised.value) == 2
        finally:
            await database.close()

    asyncio.run(story())


def test_why_there_is_no_connection_is_said_without_the_address(postgres_url: str) -> None:
    address = urlsplit(postgres_url)
    there = f"127.0.0.1:{address.port}"
    urls = {
        f"postgresql://{address.username}@{there}/is-not-there": "there is no such database",
        f"postgresql://is-nobody:hidden-word@{there}{address.path}": "refuses the credentials",
        "postgresql://someone:hidden-word@is-not-there.invalid/desk": "host is not known",
        "postgresql://someone:hidden-word@127.0.0.1:1/desk": "no connection to the server",
    }

    async def story(url: str) -> str:
        database = PostgresDatabase(url, "words", _WORDS, options=PoolOptions(2, 2.0))
        try:
            with pytest.raises(UnavailableError) as raised:
                await database.run((_COUNT, {}))
            return str(raised.value)
        finally:
            await database.close()

    for url, reason in urls.items():
        said = asyncio.run(story(url))
        assert reason in said
        assert "hidden-word" not in said and "is-not-there" not in said


def test_connections_that_a_restart_broke_fail_no_call(postgres_url: str) -> None:
    async def story() -> None:
        database = PostgresDatabase(named(postgres_url), "words", _WORDS)
        try:
            await asyncio.gather(
                *(database.run((_INSERT, {"text": f"before {one}"})) for one in range(24))
            )
            assert await asyncio.to_thread(break_connections, postgres_url) > 1
            await asyncio.gather(
                *(database.run((_INSERT, {"text": f"after {one}"})) for one in range(24))
            )
            assert await database.run((_COUNT, {})) == [[(48,)]]
        finally:
            await database.close()

    asyncio.run(story())


def test_all_parts_of_a_process_share_its_connections(postgres_url: str) -> None:
    async def story() -> None:
        options = PoolOptions(size=2, wait_seconds=10)
        parts = [
            PostgresDatabase(named(postgres_url), part, _WORDS, options=options)
            for part in ("one", "two", "three")
        ]
        try:
            await asyncio.gather(*(part.run((_COUNT, {})) for part in parts for _ in range(8)))
            ((rows,),) = await parts[0].run(
                (
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = :name",
                    {"name": _NAME},
                )
            )
            assert 1 <= rows[0] <= 2
            await parts[0].close()
            assert await parts[1].run((_COUNT, {})) == [[(0,)]]
        finally:
            for part in parts[1:]:
                await part.close()

    asyncio.run(story())


@contextmanager
def pgbouncer(url: str, folder: Path) -> Iterator[str]:
    """PgBouncer in transaction mode before a server, with fewer connections than clients."""
    program = shutil.which("pgbouncer")
    if program is None:
        pytest.skip("pgbouncer is not on the path")
    server, port = urlsplit(url), free_port()
    name = server.path.lstrip("/")
    (folder / "users.txt").write_text(f'"{server.username}" ""\n', encoding="utf-8")
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        f"[databases]\n{name} = host=127.0.0.1 port={server.port} dbname={name}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\n"
        f"auth_file = {folder}/users.txt\npool_mode = transaction\ndefault_pool_size = 3\n"
        f"unix_socket_dir =\nignore_startup_parameters = extra_float_digits\n",
        encoding="utf-8",
    )
    configuration.write_text(
        configuration.read_text().replace(
            f"dbname={name}\n", f"dbname={name} user={server.username}\n"
        )
    )
    with run_as_ordinary_user([program, str(configuration)], folder) as process:
        through = server._replace(netloc=f"{server.username}@127.0.0.1:{port}").geturl()
        wait_for(through, process)
        yield through


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Connect until it succeeds; each try waits for the program to listen or to end."""
    for _ in range(200):
        try:
            psycopg.connect(url, prepare_threshold=None).close()
            return
        except psycopg.OperationalError:
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            pytest.fail(f"pgbouncer ended as {ordinary_user()}")
    pytest.fail("pgbouncer does not listen")


def test_a_transaction_pooler_before_the_server_changes_nothing(
    postgres_url: str, tmp_path: Path
) -> None:
    async def story(url: str) -> None:
        databases = [
            PostgresDatabase(url, "words", _WORDS, options=PoolOptions(4, 10 + number))
            for number in range(3)
        ]
        try:
            await asyncio.gather(
                *(
                    database.run((_INSERT, {"text": f"{number} {one}"}))
                    for number, database in enumerate(databases)
                    for one in range(40)
                )
            )
            assert await databases[0].run((_COUNT, {})) == [[(120,)]]
        finally:
            for database in databases:
                await database.close()

    with pgbouncer(postgres_url, tmp_path) as url:
        asyncio.run(story(url))
