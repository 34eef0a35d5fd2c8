"""One journey through the research room, the same at every door, from a goal to its results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal

from carrel.settings import Settings
from tests.journeys.doors import ROOM_DOORS, CommandLineDoor, Door, opened, serving
from tests.journeys.rooms import failed, said, until
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot, settings_for

ENDED = {"completed", "failed", "cancelled", "paused"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    snapshot = build_snapshot(tmp_path_factory.mktemp("corpus"))
    return settings_for(snapshot, tmp_path_factory.mktemp("research"))


@pytest.fixture(scope="module")
def home_port(home: Settings) -> Iterator[int]:
    with serving(home) as listening:
        yield listening


@pytest.fixture(scope="module", params=ROOM_DOORS)
def door(
    request: pytest.FixtureRequest, home: Settings, home_port: int, portal: BlockingPortal
) -> Iterator[Door]:
    yield from opened(request.param, home, home_port, portal, "research")


@pytest.mark.promise("S1")
def test_what_cannot_be_done_is_refused(door: Door) -> None:
    for tool in (
        "get_research_status",
        "list_hypotheses",
        "get_results",
        "generate_hypotheses",
        "rank_hypotheses",
    ):
        failed(door.ask(tool, research_id="res_none"), "resource_not_found")
    failed(door.ask("review_hypothesis", hypothesis_id="hyp_none"), "resource_not_found")
    failed(door.ask("start_research", goal="too short"), "invalid_input")
    failed(door.ask("start_research", goal="Poison the water supply of a city"), "unsafe_goal")
    failed(door.ask("get_job", job_id="job_none"), "resource_not_found")


@pytest.mark.promise("S1")
def test_research_is_started_followed_reviewed_and_read(door: Door) -> None:
    started = said(door.ask("start_research", goal=GOAL, hypothesis_count=2))
    research_id = started["research_id"]
    if isinstance(door, CommandLineDoor):
        door.watch_research(research_id)
    status = until(
        door, "get_research_status", lambda value: value["status"] in ENDED, research_id=research_id
    )
    assert (status["status"], status["problem"]) == ("completed", None)
    rows = said(door.ask("list_hypotheses", research_id=research_id))
    assert len(rows) == 2
    assert rows == sorted(rows, key=lambda row: -row["elo_score"])
    review = said(door.ask("review_hypothesis", hypothesis_id=rows[0]["id"], review_type="initial"))
    assert review["hypothesis_id"] == rows[0]["id"]
    results = said(door.ask("get_results", research_id=research_id))
    assert rows[0]["title"] in results["markdown"]
    assert research_id in [row["id"] for row in said(door.ask("list_research_projects"))]
