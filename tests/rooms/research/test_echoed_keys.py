"""A provider that echoes the key it was sent."""

from __future__ import annotations

import base64
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import Asker, settings_for, visit
from tests.rooms.research.model_server import model_server

pytestmark = pytest.mark.promise("A7")

KEY = "vk/live+7f3a9c1e5b8d2046="
ECHOES = [
    KEY,
    quote(KEY, safe=""),
    base64.b64encode(f"x:{KEY}".encode()).decode(),
    json.dumps(KEY),
    f"{'.' * 190}{KEY}",
]


def stored_text(home: Path) -> str:
    """Everything that the research room keeps on disk."""
    files = [
        file for file in (home / "research").rglob("*") if file.is_file() and file.suffix != ".lock"
    ]
    return b"".join(file.read_bytes() for file in files).decode("latin-1")


@pytest.mark.parametrize("echo", ECHOES)
def test_a_key_that_a_provider_echoes_is_neither_kept_nor_shown(
    snapshot: Path, tmp_path: Path, echo: str
) -> None:
    with model_server() as script:
        script.first = [
            (
                401,
                {},
                json.dumps(
                    {"error": {"message": f"Incorrect API key: {echo}. Try again."}}
                ).encode(),
            )
        ] * 9
        model = {"provider": "openai", "name": "scripted-1", "url": script.url, "api_key": KEY}

        async def story(asker: Asker) -> None:
            started = await asker.ask("start_research", goal=GOAL, hypothesis_count=3)
            status = await asker.finished(started.research_id)
            assert status.status == "failed"
            assert "answered 401" in status.problem
            whole = (await asker.ask("export_research", research_id=started.research_id)).body
            for form in (echo, KEY, KEY[:10], KEY[-10:]):
                assert form not in status.problem
                assert form not in whole

        visit(settings_for(snapshot, tmp_path, model=model), story)
    kept = stored_text(tmp_path)
    assert "answered 401" in kept
    assert not [form for form in (echo, KEY, KEY[:10], KEY[-10:]) if form in kept]


def test_a_key_in_an_answer_that_could_be_read_is_not_kept_either(
    snapshot: Path, tmp_path: Path
) -> None:
    with model_server() as script:
        script.answers = dict.fromkeys(script.answers, lambda asked: f"My key is {KEY}")
        model = {"provider": "openai", "name": "scripted-1", "url": script.url, "api_key": KEY}

        async def story(asker: Asker) -> None:
            started = await asker.ask("start_research", goal=GOAL, hypothesis_count=3)
            await asker.finished(started.research_id)

        visit(settings_for(snapshot, tmp_path, model=model), story)
    kept = stored_text(tmp_path)
    assert "My key is" in kept
    assert KEY not in kept


def test_a_key_that_was_kept_before_is_taken_out_when_the_server_starts(
    snapshot: Path, tmp_path: Path
) -> None:
    settings = settings_for(snapshot, tmp_path, model={"api_key": KEY})
    found: list[str] = []

    async def first(asker: Asker) -> None:
        started = await asker.ask("start_research", goal=GOAL, hypothesis_count=2)
        await asker.finished(started.research_id)
        found.append(started.research_id)

    visit(settings, first)
    file = tmp_path / "research" / "research.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(
            "UPDATE research_projects SET status = 'failed', problem = ?", (f"401: {KEY}",)
        )
        connection.execute(
            "UPDATE research_jobs SET state = 'failed', problem = ?", (f"401: {KEY}",)
        )
        connection.commit()

    async def second(asker: Asker) -> None:
        status = await asker.ask("get_research_status", research_id=found[0])
        assert status.problem == "401: ***"
        while True:
            with closing(sqlite3.connect(file)) as connection:
                problems = connection.execute(
                    "SELECT problem FROM research_projects UNION SELECT problem FROM research_jobs"
                ).fetchall()
            if problems == [("401: ***",)]:
                return
            await asker.ask("list_research_projects")

    visit(settings, second, resumes_jobs=True)
