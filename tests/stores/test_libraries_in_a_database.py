"""Libraries where DATABASE_URL is set, from the command line of two homes on one database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import warm

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

ENTRY = "@book{noether-1918, title={Invariante Variationsprobleme}, author={Noether, Emmy}}"


def carrel(
    home: Path, url: str, *words: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return warm.run(
        [sys.executable, "-m", "carrel", *words, "--home", str(home)],
        env={
            **kept,
            "HOME": str(home),
            "DATABASE_URL": url,
            # A machine that does much else is no database that is gone.
            "CARREL_DATABASE_POOL_WAIT_SECONDS": "30",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.promise("Q9")
def test_files_of_the_home_are_not_hidden_by_a_database_that_is_set_later(
    postgres_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "references" / "library.json"
    file.parent.mkdir(parents=True)
    file.write_text('[{"id": "old", "type": "book", "title": "Kept"}]')
    refused = carrel(tmp_path, postgres_url, "references", "list")
    assert refused.returncode != 0 and "references.store" in refused.stderr
    environment = {
        "CARREL_REFERENCES_STORE": "files",
        "CARREL_SERVER_HOME_IS_PERSISTENT": "true",
    }
    served = carrel(tmp_path, postgres_url, "references", "list", **environment)
    assert "Kept" in served.stdout, served.stderr
    rows = carrel(tmp_path, postgres_url, "references", "list", CARREL_REFERENCES_STORE="database")
    assert rows.returncode == 0 and "Kept" not in rows.stdout


@pytest.mark.promise("Q9")
@pytest.mark.promise("L10")
def test_what_one_home_adds_and_attaches_another_home_reads_searches_and_restores(
    postgres_url: str, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(b"%PDF-1.4 a small one")
    added = carrel(first, postgres_url, "references", "add", ENTRY, "--json")
    assert added.returncode == 0, added.stderr
    attached = carrel(first, postgres_url, "references", "attach", "noether-1918", str(paper))
    assert attached.returncode == 0, attached.stderr
    assert not (first / "references").exists()
    found = carrel(second, postgres_url, "references", "search", "invariante", "--json")
    assert json.loads(found.stdout)["references"][0]["id"] == "noether-1918", found.stderr
    text = carrel(second, postgres_url, "references", "fulltext", "noether-1918", "--json")
    copy = Path(json.loads(text.stdout)["pdf"]["path"])
    assert copy.is_relative_to(second) and copy.read_bytes() == paper.read_bytes()
    removed = carrel(second, postgres_url, "references", "remove", "noether-1918", "--force")
    assert removed.returncode == 0, removed.stderr
    history = carrel(first, postgres_url, "references", "history", "noether-1918", "--json")
    assert len(json.loads(history.stdout)["changes"]) == 3, history.stderr
    restored = carrel(first, postgres_url, "references", "restore", "noether-1918")
    assert restored.returncode == 0, restored.stderr
    listed = carrel(second, postgres_url, "references", "list")
    assert "Invariante" in listed.stdout, listed.stderr


@pytest.mark.promise("L8")
def test_a_file_that_is_named_stays_a_file(postgres_url: str, tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "mine.json"
    named = ("--library", str(file))
    added = carrel(home, postgres_url, "references", "add", ENTRY, *named)
    assert added.returncode == 0, added.stderr
    assert json.loads(file.read_bytes())[0]["id"] == "noether-1918"
    rows = carrel(home, postgres_url, "references", "list")
    assert rows.returncode == 0 and "Invariante" not in rows.stdout
    inside = ("--library", str(home / "mine.json"))
    refused = carrel(home, postgres_url, "references", "add", ENTRY, *inside)
    assert refused.returncode == 2 and "references.library" in refused.stderr, refused.stderr


def test_a_database_that_is_away_is_told_in_one_line(tmp_path: Path) -> None:
    soon = {"CARREL_DATABASE_POOL_WAIT_SECONDS": "1"}
    done = carrel(tmp_path, "postgresql://nobody@127.0.0.1:1/none", "references", "list", **soon)
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert "no connection to the server" in line
