"""Two real servers that cannot be told apart by hostname and process number share one database of
research jobs.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot
from tests.rooms.research.model_server import Asked, model_server, usual_answers
from tests.rooms.research.served import serving

LEASE_SECONDS = 4
# More renewals than pass between two looks of another server for work that it could take.
RENEWALS = 4
SAME_IDENTITY = """
import os, socket
os.getpid = lambda: 1
socket.gethostname = lambda: "carrel"
"""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_snapshot(tmp_path_factory.mktemp("research"))


@pytest.fixture
def same_identity(tmp_path: Path) -> str:
    """Makes every Python process believe that it is process 1 of a machine called carrel, as in a
    container.
    """
    folder = tmp_path / "identity"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SAME_IDENTITY)
    return str(folder)


def share_one_run(
    snapshot: Path,
    homes: tuple[Path, Path],
    environment: dict[str, str],
    lease: Callable[[], float],
) -> None:
    is_second_there = threading.Event()

    def late(asked: Asked) -> object:
        assert is_second_there.wait(60)
        return usual_answers()[asked.shape](asked)

    with model_server() as script:
        script.answers = dict.fromkeys(script.answers, late)
        model = {"PROVIDER": "openai", "NAME": "scripted-1", "URL": script.url, "API_KEY": "k"}
        environment |= {f"CARREL_MODEL_{name}": value for name, value in model.items()}
        environment["CARREL_RESEARCH_LEASE_SECONDS"] = str(LEASE_SECONDS)
        with serving(snapshot, homes[0], **environment) as first:
            research_id = first.ask("start_research", goal=GOAL, hypothesis_count=3)["research_id"]
            while not script.asked:
                assert first.ask("get_research_status", research_id=research_id)["status"] in {
                    "initializing",
                    "active",
                }
            with serving(snapshot, homes[1], **environment) as second:
                seen = {lease()}
                while len(seen) <= RENEWALS:
                    assert len(script.asked) == 1, (
                        "the second server took a job that the first one works on"
                    )
                    seen.add(lease())
                is_second_there.set()
                while (status := second.ask("get_research_status", research_id=research_id))[
                    "status"
                ] != "completed":
                    assert status["status"] == "active", status["problem"]
                whole = json.loads(second.ask("export_research", research_id=research_id))
    kept = [output["id"] for output in whole["agent_outputs"] if output["is_model_call"]]
    assert len(script.asked) == len(kept) == len(set(kept)) == status["model_calls"]


@pytest.mark.promise("S2")
def test_servers_with_one_hostname_and_number_share_a_home_and_no_call_is_made_twice(
    snapshot: Path, tmp_path: Path, same_identity: str
) -> None:
    home = tmp_path / "home"

    def lease() -> float:
        with closing(
            sqlite3.connect(f"file:{home / 'research' / 'research.db'}?mode=ro", uri=True)
        ) as connection:
            return float(connection.execute("SELECT lease_until FROM research_jobs").fetchone()[0])

    share_one_run(snapshot, (home, home), {"PYTHONPATH": same_identity}, lease)


@pytest.mark.promise("S2")
def test_servers_with_one_hostname_and_number_share_postgres_and_no_call_is_made_twice(
    snapshot: Path, tmp_path: Path, same_identity: str, postgres_url: str
) -> None:
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")

    def lease() -> float:
        with psycopg.connect(postgres_url) as connection:
            return float(connection.execute("SELECT lease_until FROM research_jobs").fetchone()[0])

    environment = {"PYTHONPATH": same_identity, "DATABASE_URL": postgres_url}
    share_one_run(snapshot, (tmp_path / "one", tmp_path / "two"), environment, lease)
