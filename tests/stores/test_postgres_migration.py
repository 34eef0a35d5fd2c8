"""`carrel migrate`: tables come forward once, all or none; servers refuse other versions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

psycopg: Any = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.parts import DATABASE_PARTS  # noqa: E402
from carrel.stores.postgres.schema import (  # noqa: E402
    read_versions,
    remember_version,
    run_steps,
    upgrade_tables,
)
from carrel.stores.postgres.statements import drive_blocking  # noqa: E402
from tests.processes import warm  # noqa: E402
from tests.stores.test_libraries_in_a_database import carrel  # noqa: E402
from tests.stores.test_postgres_pool import pgbouncer  # noqa: E402

HELD = {"CARREL_DATABASE_MIGRATE_AT_START": "false"}


def tables_in(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        )
        return {str(row[0]) for row in rows}


def set_version(url: str, part: str, version: int) -> None:
    with psycopg.connect(url) as connection:
        changed = connection.execute(
            "UPDATE carrel_versions SET version = %s WHERE part = %s", (version, part)
        )
        assert changed.rowcount == 1


def make_older(url: str, part: str, version: int) -> None:
    """The tables of one part as an earlier Carrel made them."""
    with psycopg.connect(url) as connection:
        drive_blocking(connection, upgrade_tables({}))
        connection.execute(
            "CREATE TABLE IF NOT EXISTS carrel_versions (part text PRIMARY KEY, version integer "
            "NOT NULL)"
        )

        def work() -> Any:
            yield from run_steps(DATABASE_PARTS[part].steps[:version])
            yield remember_version(part, version)

        drive_blocking(connection, work())


@pytest.mark.promise("Q9")
def test_a_server_that_may_not_migrate_refuses_older_tables_and_says_what_to_run(
    postgres_url: str, tmp_path: Path
) -> None:
    refused = carrel(tmp_path, postgres_url, "serve", "--port", "0", **HELD)
    assert refused.returncode == 5
    assert "Run carrel migrate" in refused.stderr and "Traceback" not in refused.stderr
    called = carrel(tmp_path, postgres_url, "knowledge", "save", "text", "--title", "T", **HELD)
    assert called.returncode == 5 and "carrel migrate" in called.stderr, called.stderr
    assert tables_in(postgres_url) == set(), "nothing was made"
    assert carrel(tmp_path, postgres_url, "migrate", "--check").returncode == 1
    assert tables_in(postgres_url) == set()
    done = carrel(tmp_path, postgres_url, "migrate", "--json")
    assert done.returncode == 0, done.stderr
    assert {each["part"] for each in json.loads(done.stdout)} == set(DATABASE_PARTS)
    assert carrel(tmp_path, postgres_url, "migrate", "--check").returncode == 0
    saved = carrel(tmp_path, postgres_url, "knowledge", "save", "text", "--title", "T", **HELD)
    assert saved.returncode == 0, saved.stderr
    logged = carrel(tmp_path, postgres_url, "audit", "list", "--json", **HELD)
    assert "database:migrate" in logged.stdout


@pytest.mark.promise("Q9")
def test_newer_tables_are_refused_by_servers_and_by_migrate_and_left_alone(
    postgres_url: str, tmp_path: Path
) -> None:
    assert carrel(tmp_path, postgres_url, "migrate").returncode == 0
    set_version(postgres_url, "research", 99)
    set_version(postgres_url, "access", 1)
    for command in (("serve", "--port", "0"), ("migrate",)):
        refused = carrel(tmp_path, postgres_url, *command)
        assert refused.returncode == 5 and "newer Carrel" in refused.stderr, refused.stderr
    with psycopg.connect(postgres_url) as connection:
        found = dict(connection.execute("SELECT part, version FROM carrel_versions").fetchall())
    assert (found["research"], found["access"]) == (99, 1), "all or none"


def test_without_a_database_there_is_nothing_to_migrate(tmp_path: Path) -> None:
    refused = carrel(tmp_path, "", "migrate")
    assert refused.returncode == 2 and "DATABASE_URL" in refused.stderr


@pytest.mark.promise("Q9")
def test_tables_of_an_earlier_version_come_forward_with_their_rows(
    postgres_url: str, tmp_path: Path
) -> None:
    make_older(postgres_url, "access", 1)
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "INSERT INTO access_users (name, password_hash, scopes, created_at) "
            "VALUES ('ada', 'x', 'papers:read', 1)"
        )
    before = {each["part"]: each["version"] for each in _migrate(tmp_path, postgres_url)}
    assert before["access"] == 1 and before["knowledge"] == 0
    users = carrel(tmp_path, postgres_url, "users", "list", **HELD)
    assert "ada" in users.stdout, users.stderr
    again = {each["part"]: each["version"] for each in _migrate(tmp_path, postgres_url)}
    assert again == {name: len(part.steps) for name, part in DATABASE_PARTS.items()}


@pytest.mark.promise("Q9")
def test_many_migrate_at_once_behind_a_transaction_pooler_and_it_happens_once(
    postgres_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "pooler"
    folder.mkdir()
    folder.chmod(0o755)
    make_older(postgres_url, "knowledge", 1)
    with pgbouncer(postgres_url, folder) as pooled:
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "DATABASE_URL": pooled}
        started = [
            warm.start(
                [sys.executable, "-m", "carrel", "migrate", "--home", str(tmp_path), "--json"],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        ended = [(process, *process.communicate(timeout=120)) for process in started]
    assert all(process.returncode == 0 for process, *_ in ended), ended
    firsts = [
        sum(each["version"] < each["known"] for each in json.loads(out)) for _, out, _ in ended
    ]
    assert sorted(firsts) == [0, 0, len(DATABASE_PARTS)]


def test_every_table_of_the_database_is_listed_with_its_part(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        steps = {name: part.steps for name, part in DATABASE_PARTS.items()}
        drive_blocking(connection, upgrade_tables(steps))
        found = drive_blocking(connection, read_versions(steps))
    assert not any(each.is_behind or each.is_newer for each in found)
    listed = {table for part in DATABASE_PARTS.values() for table in (*part.tables, *part.passing)}
    assert tables_in(postgres_url) == listed | {"carrel_versions"}


def _migrate(home: Path, url: str) -> list[dict[str, Any]]:
    done = carrel(home, url, "migrate", "--json")
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))
