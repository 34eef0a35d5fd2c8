"""Work that goes on after its call, begun at one door and followed or stopped at every other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal

from carrel.settings import Settings
from tests.journeys.doors import ROOM_DOORS, Door, RestDoor, opened, serving
from tests.journeys.rooms import failed, said, until
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot, settings_for

pytestmark = pytest.mark.promise("D16")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    snapshot = build_snapshot(tmp_path_factory.mktemp("corpus"))
    # No call waits for its work, so that every answer names a job.
    return settings_for(
        snapshot, tmp_path_factory.mktemp("jobs"), research={"patience_seconds": 0.001}
    )


@pytest.fixture(scope="module")
def home_port(home: Settings) -> Iterator[int]:
    with serving(home) as listening:
        yield listening


@pytest.fixture(scope="module")
def begin(home_port: int) -> RestDoor:
    return RestDoor(home_port)


@pytest.fixture(scope="module", params=ROOM_DOORS)
def door(
    request: pytest.FixtureRequest, home: Settings, home_port: int, portal: BlockingPortal
) -> Iterator[Door]:
    yield from opened(request.param, home, home_port, portal, "research")


def test_a_job_that_is_not_there_is_said_to_be_missing(door: Door) -> None:
    failed(door.ask("get_job", job_id="job_none"), "resource_not_found")
    failed(door.ask("cancel_job", job_id="job_none"), "resource_not_found")


def test_a_job_is_followed_to_its_result_and_another_stopped(door: Door, begin: RestDoor) -> None:
    research_id = said(begin.ask("start_research", goal=GOAL, hypothesis_count=1))["research_id"]
    going = said(begin.ask("generate_hypotheses", research_id=research_id, count=1))
    assert set(going) >= {"pending", "job_id"}
    ended = until(
        door,
        "get_job",
        lambda job: job["state"] != "running",
        job_id=going["job_id"],
        wait_seconds=5,
    )
    assert ended["state"] == "completed"
    assert ended["result"]
    assert said(door.ask("cancel_job", job_id=going["job_id"]))["state"] == "completed"
    other = said(begin.ask("generate_hypotheses", research_id=research_id, count=20))
    stopped = said(door.ask("cancel_job", job_id=other["job_id"]))
    # It may have ended by itself before it was stopped; it does not go on either way.
    assert stopped["state"] in {"cancelled", "completed"}
    assert said(door.ask("get_job", job_id=other["job_id"]))["state"] == stopped["state"]


def test_jobs_are_listed_newest_first_and_by_state(begin: RestDoor) -> None:
    research_id = said(begin.ask("start_research", goal=GOAL, hypothesis_count=1))["research_id"]
    first = said(begin.ask("generate_hypotheses", research_id=research_id, count=1))["job_id"]
    until(begin, "get_job", lambda job: job["state"] != "running", job_id=first, wait_seconds=5)
    second = said(begin.ask("generate_hypotheses", research_id=research_id, count=1))["job_id"]
    until(begin, "get_job", lambda job: job["state"] != "running", job_id=second, wait_seconds=5)
    listed = said(begin.ask("list_jobs", limit=2))
    assert [job["job_id"] for job in listed] == [second, first]
    assert {job["operation"] for job in listed} == {"generate_hypotheses"}
    assert all("result" not in job for job in listed)
    assert second in [job["job_id"] for job in said(begin.ask("list_jobs", state="completed"))]
    assert said(begin.ask("list_jobs", state="running")) == []
