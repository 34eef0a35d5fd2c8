"""Runs that an earlier version left unfinished go on with this code, to the same end."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.upgrades.research.make_unfinished import go_on

KEPT = Path(__file__).with_name("unfinished.tar.xz")
_TABLES = (
    "projects",
    "hypotheses",
    "reviews",
    "matches",
    "outputs",
    "safety",
    "events",
    "jobs",
    "steps",
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00")


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    with tarfile.open(KEPT) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def without_times(told: Any) -> Any:
    """The same with every moment left out."""
    return json.loads(_TIME.sub("then", json.dumps(told)))


def only_known(answered: Any, told: Any) -> Any:
    """The answer without fields that the earlier version did not have."""
    if isinstance(answered, dict) and isinstance(told, dict):
        return {key: only_known(answered[key], told[key]) for key in told if key in answered}
    if isinstance(answered, list) and isinstance(told, list) and len(answered) == len(told):
        return [only_known(one, other) for one, other in zip(answered, told, strict=True)]
    return answered


@pytest.mark.promise("Q11")
@pytest.mark.promise("S2")
def test_runs_killed_in_the_middle_by_an_earlier_version_come_to_the_same_end(
    unpacked: Path,
) -> None:
    told = json.loads((unpacked / "told.json").read_text(encoding="utf-8"))
    answered = asyncio.run(go_on(unpacked / "home"))
    assert len(answered) == len(told) == 6
    for research_id, run in without_times(told).items():
        assert only_known(without_times(answered[research_id]), run) == run


@pytest.mark.promise("Q11")
@pytest.mark.promise("S2")
def test_runs_of_an_earlier_version_on_postgresql_come_to_the_same_end(
    unpacked: Path, postgres_url: str
) -> None:
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    from carrel.stores.sql.research.schema import SCRIPTS

    file = unpacked / "home" / "research" / "research.db"
    with closing(sqlite3.connect(file)) as kept, psycopg.connect(postgres_url) as server:
        for script in SCRIPTS[:2]:
            server.execute(script)
        server.execute("CREATE TABLE carrel_versions (part text PRIMARY KEY, version integer)")
        server.execute("INSERT INTO carrel_versions VALUES ('research', 2)")
        for table in _TABLES:
            rows = kept.execute(f"SELECT * FROM research_{table}")
            columns = [column[0] for column in rows.description]
            places = ", ".join(["%s"] * len(columns))
            insert = f"INSERT INTO research_{table} ({', '.join(columns)}) VALUES ({places})"
            for row in rows:
                server.execute(insert, row)
    file.unlink()
    told = json.loads((unpacked / "told.json").read_text(encoding="utf-8"))
    answered = asyncio.run(go_on(unpacked / "home", postgres_url))
    assert only_known(without_times(answered), without_times(told)) == without_times(told)


@pytest.mark.promise("Q11")
def test_steps_of_an_earlier_version_have_their_parts_in_columns(unpacked: Path) -> None:
    file = unpacked / "home" / "research" / "research.db"
    with closing(sqlite3.connect(file)) as before:
        names = {
            (job, name) for job, name in before.execute("SELECT job_id, name FROM research_steps")
        }
    asyncio.run(go_on(unpacked / "home"))
    with closing(sqlite3.connect(file)) as after:
        rows = after.execute(
            "SELECT job_id, kind, round, number, hypothesis_id FROM research_steps"
        ).fetchall()
    labels = {(job, ":".join(str(part) for part in parts if part)) for job, *parts in rows}
    assert names <= labels
    assert {kind for _, kind, *_ in rows} >= {"goal", "review", "match", "settle", "meta-review"}
