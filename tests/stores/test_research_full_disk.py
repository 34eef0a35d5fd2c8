"""A research run whose disk becomes full: it says so, and goes on when there is space again, with
nothing lost or paid for twice.
"""

from __future__ import annotations

import json
import secrets
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot
from tests.rooms.research.model_server import Asked, Script, model_server, usual_answers
from tests.rooms.research.served import Server, serving
from tests.stores.postgres_server import ordinary_user
from tests.stores.small_disk import SmallDisk, small_disk


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_snapshot(tmp_path_factory.mktemp("research"))


class FilledAfterFirstAnswer:
    """Lets the model answer its first question only when the disk has become full."""

    def __init__(self, script: Script) -> None:
        self.is_full = threading.Event()
        script.answers = dict.fromkeys(script.answers, self._answer)

    def _answer(self, asked: Asked) -> object:
        assert self.is_full.wait(60)
        return usual_answers()[asked.shape](asked)


def environment_of(script: Script, folder: Path, **more: str) -> dict[str, str]:
    model = {"PROVIDER": "openai", "NAME": "scripted-1", "URL": script.url, "API_KEY": "k"}
    # The audit log lies on another disk: here it is the run's own writing that fails.
    audit = {"CARREL_AUDIT_STORE": "file", "CARREL_AUDIT_FILE": str(folder / "audit.jsonl")}
    return {f"CARREL_MODEL_{name}": value for name, value in model.items()} | audit | more


def run_until_full(server: Server, script: Script, disk: SmallDisk) -> str:
    gate = FilledAfterFirstAnswer(script)
    research_id = str(server.ask("start_research", goal=GOAL, hypothesis_count=3)["research_id"])
    while not script.asked:
        assert server.ask("get_research_status", research_id=research_id)["status"] in {
            "initializing",
            "active",
        }
    disk.fill()
    gate.is_full.set()
    while (status := server.ask("get_research_status", research_id=research_id))["status"] in {
        "initializing",
        "active",
    }:
        pass
    assert status["status"] == "paused"
    assert "disk is full" in status["problem"]
    assert "resume_research" in status["problem"]
    assert status["working_on"] == []
    return research_id


def finish(server: Server, script: Script, research_id: str) -> None:
    while (status := server.ask("get_research_status", research_id=research_id))[
        "status"
    ] != "completed":
        assert status["status"] in {"active", "paused"}, status["problem"]
    whole: dict[str, Any] = json.loads(server.ask("export_research", research_id=research_id))
    kept = [output["id"] for output in whole["agent_outputs"] if output["is_model_call"]]
    assert len(script.asked) == len(kept) == len(set(kept))
    assert [match["number"] for match in whole["matches"]] == list(range(len(whole["matches"])))
    assert status["problem"] is None


@pytest.mark.promise("S2")
def test_a_run_on_a_full_disk_pauses_says_why_and_resumes_without_paying_twice(
    snapshot: Path, tmp_path: Path
) -> None:
    with (
        model_server() as script,
        small_disk(tmp_path / "home", "6m") as disk,
        serving(snapshot, disk.folder, **environment_of(script, tmp_path)) as server,
    ):
        research_id = run_until_full(server, script, disk)
        listed = [
            server.ask("list_research_projects", status=name) for name in ("paused", "active")
        ]
        assert [len(rows) for rows in listed] == [1, 0]
        refused = server.invoke("resume_research", research_id=research_id)
        assert not refused["success"]
        assert refused["error_type"] == "storage_full"
        assert not server.invoke("start_research", goal=GOAL)["success"]
        assert server.ask("get_research_status", research_id=research_id)["status"] == "paused"
        disk.empty()
        server.ask("resume_research", research_id=research_id)
        finish(server, script, research_id)
        assert len(server.ask("list_research_projects")) == 1


@pytest.mark.promise("S2")
def test_a_server_that_ends_on_a_full_disk_leaves_a_run_that_goes_on_when_it_is_started_again(
    snapshot: Path, tmp_path: Path
) -> None:
    with model_server() as script, small_disk(tmp_path / "home", "6m") as disk:
        environment = environment_of(script, tmp_path)
        with serving(snapshot, disk.folder, **environment) as server:
            research_id = run_until_full(server, script, disk)
        asked = len(script.asked)
        with serving(snapshot, disk.folder, **environment) as server:
            # Without space the run may be taken, or not even that; in both cases it does not stay
            # active.
            while (status := server.ask("get_research_status", research_id=research_id))[
                "status"
            ] == "active":
                pass
            assert (status["status"], "disk is full" in status["problem"]) == ("paused", True)
            disk.empty()
            while (status := server.ask("get_research_status", research_id=research_id))[
                "status"
            ] != "completed":
                if status["status"] == "paused":
                    server.invoke("resume_research", research_id=research_id)
            whole = json.loads(server.ask("export_research", research_id=research_id))
    kept = [output["id"] for output in whole["agent_outputs"] if output["is_model_call"]]
    # The one answer that the full disk could not hold when the process was killed is asked for
    # again.
    assert len(script.asked) <= len(kept) + 1
    assert len(script.asked) > asked


@pytest.mark.promise("S2")
def test_a_run_whose_postgres_is_full_pauses_says_why_and_resumes_without_paying_twice(
    snapshot: Path, tmp_path: Path, postgres_server_url: str
) -> None:
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    # The folder of a test is closed to the user that the server runs as.
    mounted = Path(tempfile.mkdtemp(prefix="carrel-full-"))
    with model_server() as script, small_disk(mounted, "20m", ordinary_user()) as disk:
        name = f"full_{secrets.token_hex(4)}"
        with psycopg.connect(postgres_server_url, autocommit=True) as connection:
            try:
                connection.execute(f"CREATE TABLESPACE {name} LOCATION '{mounted}'")
            except psycopg.Error as error:
                pytest.skip(f"this PostgreSQL cannot use a folder of ours: {error}")
            connection.execute(f"CREATE DATABASE {name} TABLESPACE {name}")
        try:
            url = f"{postgres_server_url.rpartition('/')[0]}/{name}"
            environment = environment_of(script, tmp_path, DATABASE_URL=url)
            with serving(snapshot, tmp_path / "home", **environment) as server:
                research_id = run_until_full(server, script, disk)
                disk.empty()
                server.ask("resume_research", research_id=research_id)
                finish(server, script, research_id)
        finally:
            with psycopg.connect(postgres_server_url, autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
                connection.execute(f"DROP TABLESPACE {name}")
    mounted.rmdir()
