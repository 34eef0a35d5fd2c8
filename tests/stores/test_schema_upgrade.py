"""Older databases come forward by themselves, after a copy; newer ones are refused; a kill leaves
the old one.
"""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError
from carrel.libraries.query.notes import TitlePrefix
from carrel.policy.limits import Rate
from carrel.rooms.knowledge.notes import Mine, NoteSearch
from carrel.stores.sql.access import SCRIPTS as ACCESS
from carrel.stores.sql.access import SqlAccess
from carrel.stores.sql.research import SqlResearch
from carrel.stores.sql.research.schema import SCRIPTS as RESEARCH
from carrel.stores.sqlite.driver import SqliteDriver
from carrel.stores.sqlite.knowledge import STEPS, sqlite_knowledge
from carrel.stores.sqlite.limits import SqliteBuckets
from carrel.stores.sqlite.papers.build_state import SqlitePaperBuildState
from carrel.stores.sqlite.papers.build_tables import STEPS as BUILD_STATE
from carrel.stores.sqlite.schema import (
    NewerFileError,
    schema_version,
    upgrade_copy_name,
    upgrade_schema,
)
from tests.processes import warm
from tests.stores.first_home import RESEARCH_ID, first_home, rows_in

ROOT = Path(__file__).parents[2]
# A next version as somebody will write one some day: a column, and what old rows hold in it.
_NEXT = (
    "ALTER TABLE research_projects ADD COLUMN colour TEXT;\n"
    "UPDATE research_projects SET colour = 'blue'"
)
COLOURED = (*RESEARCH, _NEXT)


async def read_access(file: Path) -> None:
    store = SqlAccess(SqliteDriver(file, SqlAccess.schema_steps))
    try:
        assert [user.name for user in await store.users()] == ["ada"]
    finally:
        await store.close()


async def read_research(file: Path) -> None:
    store = SqlResearch(SqliteDriver(file, SqlResearch.schema_steps))
    try:
        assert [project.id for project, _ in await store.projects("local", None, 10)] == [
            RESEARCH_ID
        ]
    finally:
        await store.close()


async def read_notes(file: Path) -> None:
    store = sqlite_knowledge(file)[0]
    try:
        found = await store.search(NoteSearch(TitlePrefix("the first"), Mine("local"), "best", 5))
        assert len(found) == 1
    finally:
        await store.close()


async def read_build_state(file: Path) -> None:
    with SqlitePaperBuildState(file) as state:
        assert state.has_published()
        assert [Path(name).name for name in state.known_sources()] == ["lenses.md"]
        assert len(state.records([1])) == state.record_count() == 1
        assert state.known_paper("cf449c0c233d42e4f7c0ea3005a2cab5") is not None


async def read_buckets(file: Path) -> None:
    buckets = SqliteBuckets(file, SystemClock())
    try:
        await buckets.take("ada", 1.0, Rate(60.0, 10.0))
    finally:
        await buckets.close()


OF_FIRST_HOME: dict[str, Callable[[Path], Awaitable[None]]] = {
    "access.sqlite": read_access,
    "research/research.db": read_research,
    "knowledge.sqlite": read_notes,
    "papers/.carrel-build/state.db": read_build_state,
}


# The versions of files that have more than one.
VERSIONS = {
    "access.sqlite": len(ACCESS),
    "research/research.db": len(RESEARCH),
    "knowledge.sqlite": len(STEPS),
    "papers/.carrel-build/state.db": len(BUILD_STATE),
}


# Tables whose rows a later version keeps in another form; who reads the file checks them.
REWRITTEN = {"papers/.carrel-build/state.db": ("fact", "part", "published", "record", "source")}


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("name", OF_FIRST_HOME)
def test_a_file_of_the_first_version_opens_and_keeps_every_row(tmp_path: Path, name: str) -> None:
    file = first_home(tmp_path / "home") / name
    before = rows_in(file)
    for _ in range(2):
        asyncio.run(_run(OF_FIRST_HOME[name](file)))
    after = rows_in(file)
    # Word tables are made from the notes, and made anew.
    before = {table: rows for table, rows in before.items() if not table.startswith("note_words")}
    before = {table: rows for table, rows in before.items() if table not in REWRITTEN.get(name, ())}
    # A later version adds columns at the end.
    assert {
        table: [row[: len(before[table][0])] for row in after[table]]
        for table in before
        if before[table]
    } == {table: rows for table, rows in before.items() if rows}
    latest = VERSIONS.get(name, 1)
    assert schema_version(file) == latest
    copies = [copy.name for copy in file.parent.glob("*before-v*")]
    assert copies == ([upgrade_copy_name(file, 1, latest).name] if latest > 1 else []), (
        "what was brought forward was copied, once"
    )


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("name", [*OF_FIRST_HOME, "limits.sqlite"])
def test_a_file_of_a_newer_version_is_refused_in_words_and_left_as_it_is(
    tmp_path: Path, name: str
) -> None:
    file = first_home(tmp_path / "home") / name
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = file.read_bytes()
    ask = {**OF_FIRST_HOME, "limits.sqlite": read_buckets}[name]
    with pytest.raises(CarrelError, match="newer Carrel"):
        asyncio.run(_run(ask(file)))
    assert file.read_bytes() == before
    assert not list(file.parent.glob("*before-v*"))


async def _run(asked: Awaitable[None]) -> None:
    await asked


@pytest.mark.promise("Q5")
def test_an_older_file_is_copied_and_then_brought_forward(tmp_path: Path) -> None:
    file = first_home(tmp_path / "home") / "research" / "research.db"
    before = rows_in(file)

    async def ask() -> None:
        store = SqlResearch(SqliteDriver(file, COLOURED))
        project = await store.project(RESEARCH_ID)
        assert project is not None
        await store.close()

    asyncio.run(ask())
    assert schema_version(file) == len(COLOURED)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT id, colour FROM research_projects").fetchall() == [
            (RESEARCH_ID, "blue")
        ]
    copy = file.with_name(f"research.before-v1-to-v{len(COLOURED)}.db")
    assert rows_in(copy) == before
    assert schema_version(copy) == 0, "a copy of what was there"
    assert copy.stat().st_mode & 0o777 == file.stat().st_mode & 0o777 == 0o600
    made = copy.stat().st_mtime_ns
    asyncio.run(ask())
    assert copy.stat().st_mtime_ns == made, "an up-to-date file is not copied again"
    with pytest.raises(NewerFileError):
        upgrade_schema(file, RESEARCH)


@pytest.mark.promise("Q5")
def test_an_upgrade_that_fails_leaves_the_old_version_working(tmp_path: Path) -> None:
    file = first_home(tmp_path / "home") / "access.sqlite"
    before = rows_in(file)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        upgrade_schema(file, (*ACCESS, "DELETE FROM access_users;\nUPDATE nowhere SET x = 1"))
    assert rows_in(file) == before
    asyncio.run(read_access(file))


_OPENER = """
import sys
from pathlib import Path
from carrel.stores.sqlite.schema import upgrade_schema
print("ready", flush=True)
sys.stdin.readline()
upgrade_schema(Path(sys.argv[1]), ["CREATE TABLE IF NOT EXISTS t (x)", "INSERT INTO t VALUES (1)"])
"""


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("is_new", [True, False])
def test_processes_that_open_at_once_bring_it_forward_once(tmp_path: Path, is_new: bool) -> None:
    file = tmp_path / "shared.sqlite"
    if not is_new:
        upgrade_schema(file, ["CREATE TABLE IF NOT EXISTS t (x)"])
    openers = [
        warm.start(
            [sys.executable, "-c", _OPENER, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(ROOT / "src")},
        )
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    for opener in openers:
        _, said = opener.communicate(timeout=60)
        assert opener.returncode == 0, said
    assert rows_in(file)["t"] == [(1,)]
    assert schema_version(file) == 2


_KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from carrel.stores.sql.research.schema import SCRIPTS
from carrel.stores.sqlite.schema import upgrade_schema

moment = sys.argv[2]
die = lambda: os.kill(os.getpid(), signal.SIGKILL)

class Deadly(sqlite3.Connection):
    def execute(self, statement, *parameters):
        if moment in statement:
            die()
        return super().execute(statement, *parameters)
    def backup(self, *parameters, **options):
        super().backup(*parameters, **options)
        if moment == "copied":
            die()

connect = sqlite3.connect
sqlite3.connect = lambda *parameters, **options: connect(*parameters, **options, factory=Deadly)
upgrade_schema(Path(sys.argv[1]), (*SCRIPTS, sys.argv[3]))
"""


@pytest.mark.promise("Q5")
@pytest.mark.parametrize(
    "moment", ["copied", "UPDATE research_projects", f"user_version = {len(COLOURED)}", "COMMIT"]
)
def test_a_kill_in_the_middle_leaves_the_old_version(tmp_path: Path, moment: str) -> None:
    file = first_home(tmp_path / "home") / "research" / "research.db"
    before = rows_in(file)
    killed = warm.run(
        [sys.executable, "-c", _KILLED, str(file), moment, _NEXT],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert rows_in(file) == before
    assert schema_version(file) == 0
    asyncio.run(read_research(file))
    assert rows_in(upgrade_copy_name(file, 1, len(RESEARCH))) == before
    upgrade_schema(file, COLOURED)
    assert schema_version(file) == len(COLOURED)
