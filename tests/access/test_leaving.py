"""`carrel users leave`: what somebody leaves is counted, exported, handed over or erased, whole."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.core.clock import SystemClock
from carrel.settings import Settings
from carrel.stores.sql.personal_rows import (
    FORMER_MEMBER,
    NOBODYS_TABLES,
    PERSONAL_TABLES,
    ROOMS_TABLES,
)
from carrel.wiring.leavers import open_leaving
from tests.processes import warm
from tests.stores.conftest import postgres_server_url, postgres_url
from tests.stores.test_libraries_in_a_database import ENTRY

__all__ = ["postgres_server_url", "postgres_url"]

NAME, OTHER = "ada-lovelace", "grace"
# Columns whose values are names of people, wherever they stand.
NAMING = {"owner", "user_name", "user_id", "subject", "changed_by", "member", "author"}
OWNED_BODIES = {
    table.table for part in PERSONAL_TABLES.values() for table in part if table.has_owner_in_body
}
PARENTS = {
    "research_id": "research_projects-1",
    "alert_id": "literature_alerts-1",
    "grant_id": "access_grants-1",
    "job_id": "research_jobs-1",
}


@dataclass(frozen=True)
class Desk:
    """A desk in a home, or beside a database."""

    home: Path
    url: str

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command, in this process: a desk takes many."""
        out, err = io.StringIO(), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            for name in [name for name in os.environ if name.startswith("CARREL_")]:
                patch.delenv(name)
            patch.setenv("CARREL_AUTH_MODE", "builtin")
            patch.setenv("DATABASE_URL", self.url)
            # A machine that does much else is no database that is gone.
            patch.setenv("CARREL_DATABASE_POOL_WAIT_SECONDS", "30")
            try:
                code = main([*words, "--home", str(self.home)])
            except SystemExit as end:
                code = int(end.code or 0)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def done(self, *words: str) -> str:
        result = self.run(*words)
        assert result.returncode == 0, (words, result.stderr)
        return result.stdout

    @property
    def settings(self) -> Settings:
        return Settings.model_validate(
            {
                "home": self.home,
                "auth": {"mode": "builtin"},
                "database": {"url": self.url or None},
            }
        )

    def tables(self) -> dict[str, list[tuple[str, str]]]:
        """Every table that the stores made, with the names and types of its columns."""
        return {
            table: columns
            for _, connection in self._connections()
            for table, columns in _describe(connection, self.url)
        }

    def values(self, *, but: frozenset[str]) -> Iterator[tuple[str, str, str]]:
        """Each text in each table: table, column, text."""
        for _, connection in self._connections():
            for table, columns in _describe(connection, self.url):
                if table in but:
                    continue
                names = [name for name, kind in columns if "tsvector" not in kind]
                listed = ", ".join(f'"{name}"' for name in names)
                for row in connection.execute(f'SELECT {listed} FROM "{table}"').fetchall():
                    for name, value in zip(names, row, strict=True):
                        if isinstance(value, str | dict | list):
                            yield table, name, str(value)

    def seed(self) -> None:
        """A row for the person in every table that is known to name people, and their children."""
        tables = self.tables()
        for _, connection in self._connections():
            present = {table for table, _ in _describe(connection, self.url)}
            for part in PERSONAL_TABLES.values():
                for table in part:
                    if table.table not in present or table.table == "access_users":
                        continue
                    owner = table.prefix + NAME
                    _insert(connection, table.table, tables[table.table], {table.column: owner})
                    for child in table.children:
                        if child.table in present:
                            _insert(connection, child.table, tables[child.table], {})
            connection.commit()

    def _connections(self) -> Iterator[tuple[str, Any]]:
        if self.url:
            psycopg = pytest.importorskip("psycopg")
            with psycopg.connect(self.url) as connection:
                yield "database", connection
            return
        for file in sorted((*self.home.glob("*.sqlite"), *self.home.glob("*/*.db"))):
            if file.name not in {"search.sqlite", "limits.sqlite"}:
                with closing(sqlite3.connect(file)) as rows:
                    yield file.name, rows


def _describe(connection: Any, url: str) -> list[tuple[str, list[tuple[str, str]]]]:
    if url:
        rows = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = 'public' ORDER BY table_name, ordinal_position"
        ).fetchall()
        found: dict[str, list[tuple[str, str]]] = {}
        for table, column, kind in rows:
            found.setdefault(table, []).append((column, kind))
        return list(found.items())
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    return [
        (
            name,
            [(row[1], row[2]) for row in connection.execute(f'PRAGMA table_info("{name}")')],
        )
        for (name,) in names
        # The tables of the full-text index hold words, no names of columns.
        if not name.startswith("note_shelf_words") and "note_word_" not in name
    ]


def _insert(
    connection: Any, table: str, columns: list[tuple[str, str]], given: dict[str, str]
) -> None:
    facts: dict[str, object] = {}
    for column, kind in columns:
        if column in given:
            facts[column] = given[column]
        elif column in PARENTS and table != "access_grants":
            facts[column] = PARENTS[column]
        elif column in {"id", "grant_id"}:
            facts[column] = f"{table}-1"
        elif column == "role":
            facts[column] = "reader"
        elif column in {"services", "group_names", "holders"}:
            facts[column] = "[]"
        elif column in {"body", "input"}:
            facts[column] = json.dumps({"owner": NAME} if table in OWNED_BODIES else {})
        elif "text" in kind.lower():
            facts[column] = f"{table}-{column}"
        else:
            facts[column] = 1
    names = ", ".join(facts)
    is_sqlite = isinstance(connection, sqlite3.Connection)
    places = ", ".join("?" if is_sqlite else "%s" for _ in facts)
    connection.execute(
        f"INSERT INTO {table} ({names}) VALUES ({places}) ON CONFLICT DO NOTHING",
        tuple(facts.values()),
    )


@pytest.fixture(params=["home", "database"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """A desk on which somebody has left something of every kind."""
    url = "" if request.param == "home" else request.getfixturevalue("postgres_url")
    made = Desk(tmp_path / "home", url)
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(b"%PDF-1.4 hers")
    for name in (NAME, OTHER):
        made.done("users", "add", name, "--admin", "--generate")
    for words in (
        ("knowledge", "save", "What she thought", "--title", "Hers", "--user", NAME),
        ("knowledge", "save", "What all think", "--title", "Ours", "--user", NAME),
        ("references", "add", ENTRY, "--user", NAME),
        ("references", "attach", "noether-1918", str(paper), "--user", NAME),
        ("alerts", "add", "graph networks", "--user", NAME),
        ("alerts", "add", "graph networks", "--user", OTHER),
        ("references", "add", ENTRY, "--user", OTHER),
        ("tokens", "create", "nightly", "--scopes", "papers:read", "--user", NAME),
        ("quotas", "set", NAME, "--calls", "5"),
        ("jobs", "list"),
        ("research", "list"),
    ):
        made.done(*words)
    ours = json.loads(made.done("knowledge", "search", "all think", "--json", "--user", NAME))
    note = ours[0]["id"]
    made.done("knowledge", "propose", note, "--user", NAME)
    made.done("knowledge", "promote", note, "--user", NAME)
    asyncio.run(_open_every_store(made))
    made.seed()
    return made


async def _open_every_store(desk: Desk) -> None:
    async with open_leaving(desk.settings, NAME, SystemClock()) as leaving:
        await leaving.count()


@pytest.mark.promise("A4")
def test_every_table_says_whose_its_rows_are(desk: Desk) -> None:
    personal = {table.table: table.column for part in PERSONAL_TABLES.values() for table in part}
    children = {
        child.table
        for part in PERSONAL_TABLES.values()
        for table in part
        for child in table.children
    }
    known = {*personal, *children, *ROOMS_TABLES, *NOBODYS_TABLES}
    tables = desk.tables()
    assert set(tables) - known == set(), "say in stores/sql/personal_rows.py whose they are"
    for table, columns in tables.items():
        naming = {name for name, _ in columns} & NAMING
        if table in personal:
            # At an institute a person has a subject, too, which is in the same row.
            assert naming - {"subject"} <= {personal[table]}, table
        elif table in children or (table in NOBODYS_TABLES and not table.startswith("audit_")):
            # The subject of an institute is no column of these.
            assert not naming - {"author"}, f"{table} names people by {naming}"


def test_who_is_not_there_and_whom_nobody_knows_are_refused(desk: Desk) -> None:
    before = sorted(desk.values(but=frozenset({"audit_log", "audit_anchors"})))
    refusals: list[tuple[tuple[str, ...], str]] = [
        (("nobody",), "nobody"),
        (("local",), "this machine"),
        ((NAME, "--yes"), "what is to become"),
        ((NAME, "--hand-over-to", "nobody", "--yes"), "nobody"),
        ((NAME, "--hand-over-to", NAME, "--yes"), "themselves"),
        ((NAME, "--hand-over-to", OTHER, "--erase"), "not allowed with"),
    ]
    for words, said in refusals:
        refused = desk.run("users", "leave", *words)
        assert refused.returncode != 0 and said in refused.stderr, (words, refused.stderr)
    for more in ((), ("--erase",), ("--hand-over-to", OTHER)):
        counted = json.loads(desk.done("users", "leave", NAME, *more, "--json"))
        assert not counted["is_done"]
        assert counted["counts"]["notes"] == 2 and counted["counts"]["references"] == 1
        assert counted["counts"]["notes of the team by them"] == 1
        assert counted["counts"]["attached files"] == 1 and counted["counts"]["alerts"] == 2
    told = desk.run("users", "leave", NAME)
    assert "Nothing was changed" in told.stderr + told.stdout
    assert "audit log" in told.stderr
    assert sorted(desk.values(but=frozenset({"audit_log", "audit_anchors"}))) == before


def test_after_erasing_no_table_has_the_name_but_the_audit_log(desk: Desk, tmp_path: Path) -> None:
    export = tmp_path / "hers.tar.gz"
    desk.done("users", "leave", NAME, "--export", str(export), "--erase", "--yes")
    found = [
        each
        for each in desk.values(but=frozenset({"audit_log", "audit_anchors"}))
        if NAME in each[2]
    ]
    assert not found, found[:5]
    team = {
        (table, text) for table, _, text in desk.values(but=frozenset()) if text == FORMER_MEMBER
    }
    assert team, "what the team has stays, by nobody"
    kept = desk.done("knowledge", "search", "all think", "--user", OTHER)
    assert "Ours" in kept
    assert not list(desk.home.glob("references/users/*/*-attachments"))
    with tarfile.open(export) as archive:
        names = set(archive.getnames())
        notes = json.load(archive.extractfile("notes.json"))  # type: ignore[arg-type]
        tokens = archive.extractfile("access/access_tokens.json").read()  # type: ignore[union-attr]
        library = json.load(archive.extractfile("library.json"))  # type: ignore[arg-type]
    assert {note["title"] for note in notes} == {"Hers", "Ours"}
    assert library[0]["id"] == "noether-1918"
    assert [name for name in names if name.startswith("attachments/")]
    assert "research/research_projects.json" in names and b"token_hash" not in tokens
    assert not {name for name in names if "refresh" in name or "codes" in name}
    assert export.stat().st_mode & 0o077 == 0
    again = desk.run("users", "leave", NAME, "--erase", "--yes")
    assert again.returncode == 3, "nothing is left to leave"


def _make_library(desk: Desk, name: str) -> None:
    desk.done("references", "create-library", name, "--user", NAME)


def _libraries(desk: Desk, user: str) -> str:
    return desk.done("references", "libraries", "--json", "--user", user)


def test_a_new_account_of_the_name_owns_no_shared_library(desk: Desk) -> None:
    _make_library(desk, "Lab")
    counted = json.loads(desk.done("users", "leave", NAME, "--json"))
    assert counted["counts"]["memberships of shared libraries"] == 2, "one of the seed"
    refused = desk.run("users", "leave", NAME, "--erase", "--yes")
    assert refused.returncode != 0 and "only owner" in refused.stderr and "Lab" in refused.stderr
    assert "Lab" in _libraries(desk, NAME), "nothing was changed"
    desk.done("users", "leave", NAME, "--hand-over-to", OTHER, "--yes")
    desk.done("users", "add", NAME, "--generate")
    assert "Lab" not in _libraries(desk, NAME)
    shown = _libraries(desk, OTHER)
    assert "Lab" in shown and "owner" in shown


def test_what_is_handed_over_is_the_others_and_the_account_is_gone(desk: Desk) -> None:
    desk.done("users", "leave", NAME, "--hand-over-to", OTHER, "--yes")
    assert NAME not in desk.done("users", "list")
    notes = desk.done("knowledge", "list", "--user", OTHER)
    assert "Hers" in notes and "Ours" in notes
    alerts = desk.done("alerts", "list", "--user", OTHER)
    assert f"graph networks (from {NAME})" in alerts
    listed = json.loads(desk.done("references", "list", "--json", "--user", OTHER))
    ids = [each["id"] for each in listed["references"]]
    assert ids == ["noether-1918"], "one work is one reference"
    text = json.loads(
        desk.done("references", "fulltext", "noether-1918", "--json", "--user", OTHER)
    )
    assert Path(text["pdf"]["path"]).read_bytes() == b"%PDF-1.4 hers"
    left = {
        (table, column)
        for table, column, text in desk.values(
            but=frozenset({"audit_log", "audit_anchors", "note_history", "knowledge_history"})
        )
        if text in {NAME, f"user:{NAME}"} or f'"{NAME}"' in text
    }
    # Who wrote a version before stays written; nothing else names the person.
    assert not left


def test_a_leaving_that_was_killed_is_finished_by_the_next_one(desk: Desk) -> None:
    """Killed when the account is locked, which is the first that is done."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(desk.home),
        "CARREL_AUTH_MODE": "builtin",
        **({"DATABASE_URL": desk.url} if desk.url else {}),
    }
    words = ("users", "leave", NAME, "--hand-over-to", OTHER, "--yes", "--home", str(desk.home))
    process = warm.start(
        [sys.executable, "-m", "carrel", *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not _is_disabled(desk):
        pass
    process.kill()
    process.wait(30)
    if NAME in desk.done("users", "list"):
        desk.done(*words[:-2])
    assert NAME not in desk.done("users", "list")
    assert "Hers" in desk.done("knowledge", "list", "--user", OTHER)


def _is_disabled(desk: Desk) -> bool:
    for _, connection in desk._connections():
        if "access_users" in dict(_describe(connection, desk.url)):
            rows = connection.execute("SELECT name, is_disabled FROM access_users").fetchall()
            return bool(dict(rows).get(NAME, 1))
    return False
