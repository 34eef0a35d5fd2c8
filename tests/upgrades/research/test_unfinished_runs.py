"""Runs that an earlier version left unfinished go on with this code, and keep what they had."""

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
_KINDS = {
    "hypotheses": "hypotheses",
    "reviews": "reviews",
    "matches": "matches",
    "agent_outputs": "outputs",
    "events": "events",
}
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


def bodies_before(home: Path) -> dict[str, dict[str, list[Any]]]:
    """What the earlier version had stored of each run when it ended, by kind."""
    with closing(sqlite3.connect(home / "research" / "research.db")) as kept:
        return {
            research_id: {
                kind: [
                    without_times(json.loads(body))
                    for (body,) in kept.execute(
                        f"SELECT body FROM research_{table} WHERE research_id = ?", (research_id,)
                    )
                ]
                for kind, table in _KINDS.items()
            }
            for (research_id,) in kept.execute("SELECT id FROM research_projects")
        }


def check_ends(before: Any, answered: Any, told: Any) -> None:
    """Each run has as much as the earlier version made of it, and all that it had made is there.

    What is made after the stop may read otherwise: papers are read better than they were.
    """
    assert len(answered) == len(told) == 6
    finished = 0
    for research_id, run in without_times(told).items():
        export, earlier = without_times(answered[research_id])["export"], run["export"]
        assert only_known(export["project"], earlier["project"]) == earlier["project"]
        parts = {part for part in earlier if part != "project"}
        assert {part: len(export[part]) for part in parts} == {
            part: len(earlier[part]) for part in parts
        }
        for kind, bodies in before[research_id].items():
            for body in bodies:
                content = body["draft"] if kind == "hypotheses" else body
                there = [one["draft"] if kind == "hypotheses" else one for one in export[kind]]
                assert any(only_known(one, content) == content for one in there), content
        if all(len(earlier[kind]) == len(before[research_id][kind]) for kind in _KINDS):
            finished += 1
            assert only_known(export, earlier) == earlier
    assert finished == 2


@pytest.mark.promise("Q11")
@pytest.mark.promise("S2")
def test_runs_killed_in_the_middle_by_an_earlier_version_come_to_their_end(
    unpacked: Path,
) -> None:
    told = json.loads((unpacked / "told.json").read_text(encoding="utf-8"))
    before = bodies_before(unpacked / "home")
    check_ends(before, asyncio.run(go_on(unpacked / "home")), told)


@pytest.mark.promise("Q11")
@pytest.mark.promise("S2")
def test_runs_of_an_earlier_version_on_postgresql_come_to_their_end(
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
    before = bodies_before(unpacked / "home")
    file.unlink()
    told = json.loads((unpacked / "told.json").read_text(encoding="utf-8"))
    check_ends(before, asyncio.run(go_on(unpacked / "home", postgres_url)), told)


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
