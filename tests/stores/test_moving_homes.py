"""`carrel move`: a home's data go into PostgreSQL whole, once, and the home stays as it is."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

psycopg: Any = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.home.lock import serve_home  # noqa: E402
from carrel.stores.postgres.parts import DATABASE_PARTS  # noqa: E402
from tests.processes import warm  # noqa: E402
from tests.stores.test_libraries_in_a_database import ENTRY, carrel  # noqa: E402
from tests.upgrades.test_earlier_homes import KEPT, NEWEST, OLDEST  # noqa: E402

IN_DATABASE = {"CARREL_KNOWLEDGE_STORE": "postgres", "CARREL_REFERENCES_STORE": "database"}
AS_OTHERS = {**IN_DATABASE, "CARREL_AUTH_MODE": "builtin"}
KINDS = {
    "people and access",
    "research",
    "alerts and completions",
    "jobs",
    "quotas",
    "members of shared libraries",
    "notes",
    "nodes",
    "libraries",
    "audit log",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with something of each kind that commands can make."""
    home = tmp_path_factory.mktemp("filled") / "home"
    paper = home.with_suffix(".pdf")
    paper.write_bytes(b"%PDF-1.4 " + bytes(range(256)) * 4000)
    nodes = home.with_suffix(".jsonl")
    nodes.write_text('{"name": "Ørsted", "node_type": "person", "metadata": {"b": 1, "a": 2.5}}\n')
    for words in (
        ("knowledge", "save", "Erste Fassung mit Ö", "--title", "Ein Titel", "--tags", "eins"),
        ("users", "add", "ada", "--generate"),
        ("knowledge", "save", "other", "--title", "Another", "--user", "ada"),
        ("knowledge", "import-nodes", str(nodes)),
        ("references", "add", ENTRY),
        ("references", "add", ENTRY.replace("noether-1918", "second").replace("Inv", "New")),
        ("references", "remove", "second", "--force"),
        ("references", "attach", "noether-1918", str(paper)),
        ("references", "add", ENTRY.replace("noether-1918", "hers"), "--user", "ada"),
        ("references", "create-library", "Lab papers", "--user", "ada"),
        (
            *("references", "add", ENTRY.replace("noether-1918", "ours")),
            *("--shared-library", "Lab papers", "--user", "ada"),
        ),
        ("tokens", "create", "nightly", "--scopes", "papers:read", "--user", "ada"),
        ("alerts", "add", "weekly", "graph neural networks"),
    ):
        done = carrel(home, "", *words, CARREL_AUTH_MODE="builtin")
        assert done.returncode == 0, (words, done.stderr)
    return home


def state_of(home: Path) -> dict[str, str]:
    """Every file of a home but the lock of the moment."""
    return {
        str(file.relative_to(home)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(home.rglob("*"))
        if file.is_file() and file.name != ".carrel.lock"
    }


def row_counts(url: str) -> dict[str, int]:
    with psycopg.connect(url) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for part in DATABASE_PARTS.values()
            for table in part.tables
        }


def move(home: Path, url: str, *more: str) -> dict[str, dict[str, Any]]:
    done = carrel(home, "", "move", "--to", url, "--json", *more)
    assert done.returncode == 0, done.stderr
    return {each["kind"]: each for each in json.loads(done.stdout)["kinds"]}


@pytest.mark.promise("Q9")
def test_a_home_in_use_and_a_database_with_other_data_are_refused(
    postgres_url: str, filled: Path, tmp_path: Path
) -> None:
    before = state_of(filled)
    with serve_home(filled, stays=True):
        refused = carrel(filled, "", "move", "--to", postgres_url)
    assert refused.returncode != 0 and "in use" in refused.stderr.lower(), refused.stderr
    missing = carrel(tmp_path / "nowhere", "", "move", "--to", postgres_url)
    assert missing.returncode == 3 and not (tmp_path / "nowhere").exists()
    assert carrel(tmp_path / "o", postgres_url, "users", "add", "eve", "--generate").returncode == 0
    for option in ("--check", "--json"):
        refused = carrel(filled, "", "move", "--to", postgres_url, option)
        assert refused.returncode != 0 and "other data" in refused.stderr, refused.stderr
        assert "access_users" in refused.stderr
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM access_users").fetchone() == (1,)
    assert state_of(filled) == before


@pytest.mark.promise("Q9")
def test_all_of_a_home_is_there_afterwards_and_the_home_is_as_it_was(
    postgres_url: str, filled: Path, tmp_path: Path
) -> None:
    before = state_of(filled)
    looked = move(filled, postgres_url, "--check")
    assert set(looked) == KINDS and looked["notes"]["state"] == "to move"
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT to_regclass('access_users')").fetchone() == (None,)
    printed = carrel(filled, "", "move", "--to", postgres_url, "--check").stdout.splitlines()
    rows = [line for line in printed if not line.startswith("Stays")]
    assert len(rows) == len(KINDS) and len({len(row) for row in rows}) == 1, "one column each"
    moved = move(filled, postgres_url)
    assert {name: each["rows"] for name, each in moved.items()} == {
        name: each["rows"] for name, each in looked.items()
    }
    assert state_of(filled) == before
    other = tmp_path / "elsewhere"
    found = carrel(other, postgres_url, "knowledge", "search", "Fassung", **IN_DATABASE)
    assert "Ein Titel" in found.stdout, found.stderr
    listed = carrel(other, postgres_url, "users", "list", **IN_DATABASE)
    assert "ada" in listed.stdout
    text = carrel(
        other, postgres_url, "references", "fulltext", "noether-1918", "--json", **IN_DATABASE
    )
    copy = Path(json.loads(text.stdout)["pdf"]["path"])
    assert copy.read_bytes() == filled.with_suffix(".pdf").read_bytes()
    hers = carrel(other, postgres_url, "references", "list", "--user", "ada", **AS_OTHERS)
    assert "hers" in hers.stdout, hers.stderr
    shared = ("references", "list", "--shared-library", "Lab papers", "--user", "ada")
    ours = carrel(other, postgres_url, *shared, **AS_OTHERS)
    assert "ours" in ours.stdout and "hers" not in ours.stdout, ours.stderr
    # The past is there, too: what was removed comes back, and changes are listed as before.
    here = carrel(filled, "", "references", "history", "second", "--json")
    there = carrel(other, postgres_url, "references", "history", "second", "--json", **IN_DATABASE)
    assert json.loads(there.stdout)["changes"] == json.loads(here.stdout)["changes"]
    restored = carrel(other, postgres_url, "references", "restore", "second", **IN_DATABASE)
    assert restored.returncode == 0, restored.stderr
    listed = carrel(other, postgres_url, "references", "list", **IN_DATABASE)
    assert "Newariante" in listed.stdout and "Invariante" in listed.stdout
    verified = carrel(other, postgres_url, "audit", "verify", **IN_DATABASE)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    logged = carrel(other, postgres_url, "audit", "list", "--json", **IN_DATABASE)
    assert "home:move" in logged.stdout


@pytest.mark.promise("Q9")
def test_vocabularies_that_stay_behind_are_named_with_what_to_set(
    postgres_url: str, tmp_path: Path
) -> None:
    home, terms = tmp_path / "home", tmp_path / "terms.csv"
    terms.write_text("heart attack,myocardial infarction\n", encoding="utf-8")
    assert carrel(home, "", "vocabularies", "add", str(terms)).returncode == 0
    printed = carrel(home, "", "move", "--to", postgres_url, "--check").stdout
    (line,) = [line for line in printed.splitlines() if "vocabularies" in line]
    assert line.startswith("Stays in the home:") and "research.vocabulary" in line


@pytest.mark.promise("Q9")
def test_a_move_that_was_killed_after_each_kind_is_finished_by_the_next_one(
    postgres_url: str, filled: Path
) -> None:
    for wanted in range(1, len(KINDS)):
        process = warm.start(
            [sys.executable, "-m", "carrel", "move", "--to", postgres_url, "--home", str(filled)],
            env={"PATH": os.environ["PATH"], "HOME": str(filled)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and _marks(postgres_url) < wanted:
            pass
        process.kill()
        process.wait(30)
        if _marks(postgres_url) >= len(KINDS) - 1:
            break
    moved = move(filled, postgres_url)
    assert "moved before" in {each["state"] for each in moved.values()}
    counts = row_counts(postgres_url)
    assert (counts["knowledge_notes"], counts["access_users"]) == (2, 1)
    assert counts["reference_libraries"] == 3 and counts["literature_alerts"] == 1
    again = move(filled, postgres_url)
    assert {each["state"] for each in again.values()} <= {"moved before", "nothing"}


def _marks(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT to_regclass('carrel_imports')").fetchone()
        if row[0] is None:
            return 0
        return int(connection.execute("SELECT count(*) FROM carrel_imports").fetchone()[0])


@pytest.mark.promise("Q9")
def test_a_home_that_changed_since_is_not_mixed_with_what_was_moved(
    postgres_url: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    assert carrel(home, "", "knowledge", "save", "one", "--title", "One").returncode == 0
    move(home, postgres_url)
    assert carrel(home, "", "knowledge", "save", "two", "--title", "Two").returncode == 0
    refused = carrel(home, "", "move", "--to", postgres_url)
    assert refused.returncode != 0 and "changed since" in refused.stderr, refused.stderr
    assert row_counts(postgres_url)["knowledge_notes"] == 1


@pytest.fixture(
    params=[file for file in KEPT if file.name.removesuffix(".tar.xz") in {OLDEST, NEWEST}],
    ids=lambda file: file.name.removesuffix(".tar.xz"),
)
def earlier_home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A home as an earlier version left it."""
    with tarfile.open(request.param) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "home"


@pytest.mark.promise("Q11")
def test_homes_of_earlier_versions_move_whole(earlier_home: Path, postgres_url: str) -> None:
    before = state_of(earlier_home)
    moved = move(earlier_home, postgres_url)
    assert set(moved) <= KINDS and sum(each["rows"] for each in moved.values())
    assert state_of(earlier_home) == before
