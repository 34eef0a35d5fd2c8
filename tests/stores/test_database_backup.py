"""`carrel backup` and `carrel restore` with a shared database: one file holds all of it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

psycopg: Any = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.parts import DATABASE_PARTS  # noqa: E402
from carrel.stores.postgres.table_copies import PostgresCopies  # noqa: E402
from tests.processes import warm  # noqa: E402
from tests.stores.test_libraries_in_a_database import ENTRY, carrel  # noqa: E402
from tests.stores.test_postgres_migration import make_older  # noqa: E402

NewDatabase = Callable[[], str]


@pytest.fixture
def new_database(postgres_server_url: str) -> Iterator[NewDatabase]:
    """Makes empty databases of the test's own."""
    names: list[str] = []

    def make() -> str:
        name = f"test_{os.getpid()}_{secrets.token_hex(4)}"
        with psycopg.connect(postgres_server_url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        names.append(name)
        return f"{postgres_server_url.rpartition('/')[0]}/{name}"

    yield make
    with psycopg.connect(postgres_server_url, autocommit=True) as connection:
        for name in names:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def fill(home: Path, url: str) -> None:
    """Something in every part that commands can fill."""
    paper = home.with_suffix(".pdf")
    paper.write_bytes(b"%PDF-1.4 " + bytes(range(256)) * 5000)
    for words in (
        ("migrate",),
        ("knowledge", "save", "Körper \\ mit\tTabulator\nund Zeile", "--title", "Ein Titel"),
        ("references", "add", ENTRY),
        ("references", "attach", "noether-1918", str(paper)),
        ("users", "add", "ada", "--generate"),
        ("tokens", "create", "nightly", "--scopes", "papers:read", "--user", "ada"),
        ("alerts", "add", "weekly", "graph neural networks"),
    ):
        done = carrel(home, url, *words)
        assert done.returncode == 0, (words, done.stderr)


def rows_of(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every carried row without the numbers of transactions, sorted."""
    found = {}
    with psycopg.connect(url) as connection:
        for part in DATABASE_PARTS.values():
            for table in part.tables:
                rows = connection.execute(f"SELECT to_jsonb(t) - 'changed_in' FROM {table} t")
                found[table] = sorted((json.dumps(row[0], sort_keys=True),) for row in rows)
    return found


@pytest.mark.promise("Q9")
def test_a_backup_of_a_database_is_restored_only_into_an_empty_one(
    postgres_url: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    home, archive = tmp_path / "home", tmp_path / "desk.tar.gz"
    fill(home, postgres_url)
    assert carrel(home, postgres_url, "backup", str(archive)).returncode == 0
    unnamed = carrel(tmp_path / "other", "", "restore", str(archive))
    assert unnamed.returncode != 0 and "DATABASE_URL" in unnamed.stderr
    assert not (tmp_path / "other" / "carrel.toml").exists()
    full = new_database()
    assert carrel(tmp_path / "third", full, "users", "add", "eve", "--generate").returncode == 0
    before = rows_of(full) if carrel(tmp_path, full, "migrate").returncode == 0 else {}
    refused = carrel(tmp_path / "fourth", full, "restore", str(archive))
    assert refused.returncode != 0 and "holds other data" in refused.stderr, refused.stderr
    assert "access_users (1)" in refused.stderr and rows_of(full) == before


@pytest.mark.promise("Q9")
def test_a_restored_database_has_every_row_and_goes_on(
    postgres_url: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    home, archive = tmp_path / "home", tmp_path / "desk.tar.gz"
    fill(home, postgres_url)
    made = carrel(home, postgres_url, "backup", str(archive))
    assert made.returncode == 0, made.stderr
    assert carrel(home, postgres_url, "backup", "--verify", str(archive)).returncode == 0
    # The log has a line more than the file: that of the end of the backup.
    expected = rows_of(postgres_url)
    target, place = new_database(), tmp_path / "restored"
    done = carrel(place, target, "restore", str(archive))
    assert done.returncode == 0, done.stderr
    found = rows_of(target)
    for table in expected:
        if table.startswith("audit_"):
            continue
        assert found[table] == expected[table], table
    assert sum(map(len, expected.values())) > 20 and expected["reference_file_chunks"]
    later = set(expected["audit_log"]) - set(found["audit_log"])
    assert len(later) <= 2 < len(expected["audit_log"]), "the end of the backup itself"
    shown = carrel(place, target, "knowledge", "search", "Tabulator")
    assert "Ein Titel" in shown.stdout, shown.stderr
    text = carrel(place, target, "references", "fulltext", "noether-1918", "--json")
    copy = Path(json.loads(text.stdout)["pdf"]["path"])
    assert copy.read_bytes() == home.with_suffix(".pdf").read_bytes()
    # Sequences count on, the log is whole, and what is new can be written.
    assert carrel(place, target, "users", "add", "grace", "--generate").returncode == 0
    verified = carrel(place, target, "audit", "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr


@pytest.mark.promise("Q9")
def test_a_database_that_was_written_to_after_its_restore_is_refused(
    postgres_url: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    home, archive = tmp_path / "home", tmp_path / "desk.tar.gz"
    fill(home, postgres_url)
    assert carrel(home, postgres_url, "backup", str(archive)).returncode == 0
    target, place = new_database(), tmp_path / "restored"
    assert carrel(place, target, "restore", str(archive)).returncode == 0
    # What the backup brought is there, whole: files alone are put in place.
    again = carrel(place, target, "restore", str(archive), "--force")
    assert again.returncode == 0, again.stderr
    for words in (("users", "add", "grace", "--generate"), ("users", "disable", "ada")):
        assert carrel(place, target, *words).returncode == 0
        before, files = rows_of(target), sorted(place.rglob("*"))
        refused = carrel(place, target, "restore", str(archive), "--force")
        assert refused.returncode != 0, "a restore that restores nothing is no success"
        assert "written to since: access_users" in refused.stderr, refused.stderr
        assert "createdb" in refused.stderr
        assert rows_of(target) == before and sorted(place.rglob("*")) == files


@pytest.mark.promise("Q9")
def test_a_restore_that_was_killed_is_finished_by_the_next_one(
    postgres_url: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    home, archive = tmp_path / "home", tmp_path / "desk.tar.gz"
    fill(home, postgres_url)
    assert carrel(home, postgres_url, "backup", str(archive)).returncode == 0
    target, place = new_database(), tmp_path / "restored"
    unpacked = place / ".carrel-restore" / "new" / ".carrel-database" / "tables.json"

    def is_loaded() -> bool:
        with psycopg.connect(target) as connection:
            row = connection.execute("SELECT to_regclass('carrel_imports')").fetchone()
            return bool(row[0])

    for is_reached in (unpacked.exists, is_loaded):
        process = warm.start(
            [sys.executable, "-m", "carrel", "restore", str(archive), "--home", str(place)],
            env={**os.environ, "DATABASE_URL": target, "HOME": str(place)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # Killed at that moment, or a little later; each of them must be one to go on from.
        while process.poll() is None and not is_reached():
            pass
        process.kill()
        process.wait(30)
    done = carrel(place, target, "restore", str(archive), "--force")
    assert done.returncode == 0, done.stderr
    found, expected = rows_of(target), rows_of(postgres_url)
    assert found["access_users"] == expected["access_users"]
    assert found["knowledge_notes"] == expected["knowledge_notes"]


def test_tables_of_an_earlier_version_are_restored_and_come_forward(
    postgres_url: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    make_older(postgres_url, "access", 1)
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "INSERT INTO access_users (name, password_hash, scopes, created_at) "
            "VALUES ('ada', 'x', 'papers:read', 1)"
        )
    PostgresCopies(postgres_url).dump(tmp_path / "copy")
    target = new_database()
    assert carrel(tmp_path, target, "users", "list").returncode == 0
    assert PostgresCopies(target).load(tmp_path / "copy", "one")
    assert not PostgresCopies(target).load(tmp_path / "copy", "one"), "once"
    users = carrel(tmp_path, target, "users", "list")
    assert "ada" in users.stdout, users.stderr


def test_a_file_that_was_changed_is_not_taken(
    postgres_url: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    fill(tmp_path / "home", postgres_url)
    copy, target = tmp_path / "copy", new_database()
    PostgresCopies(postgres_url).dump(copy)
    users = copy / "access_users.copy"
    users.write_bytes(users.read_bytes().replace(b"ada", b"eve"))
    with pytest.raises(Exception, match="not what was copied"):
        PostgresCopies(target).load(copy, "one")
    with psycopg.connect(target) as connection:
        assert connection.execute("SELECT to_regclass('access_users')").fetchone() == (None,)
