"""How far a run is, and how long the rest will take."""

from __future__ import annotations

import pytest

from carrel.rooms.research.project_views import progress, remaining_seconds
from carrel.rooms.research.records import Pace, Project, StepDone

PROJECT = Project(
    id="res_1", owner="ada", goal="A goal of some length", domain="medicine", hypothesis_count=4,
    seed=1, created_at="", updated_at="",
    status="active",
)  # fmt: skip
EXPECTED = {"generate": 2, "match": 100}


def done(kind: str, seconds: float, number: int = 1) -> StepDone:
    return StepDone(job_id="job_1", name=f"{kind}:{number}", kind=kind, seconds=seconds, at="")


@pytest.mark.promise("S2")
def test_what_is_left_is_counted_kind_by_kind_at_the_pace_of_this_run() -> None:
    steps = [done("generate", 10.0), *(done("match", 0.1, number) for number in range(10))]
    assert remaining_seconds(EXPECTED, steps, {}) == pytest.approx(10.0 + 90 * 0.1)


@pytest.mark.promise("S2")
def test_before_a_run_has_a_pace_that_of_earlier_ones_counts() -> None:
    pace = {"generate": Pace(seconds=3.0, count=5), "match": Pace(seconds=0.2, count=50)}
    assert remaining_seconds(EXPECTED, [], pace) == pytest.approx(2 * 3.0 + 100 * 0.2)
    assert remaining_seconds(EXPECTED, [], {}) > 0


@pytest.mark.promise("S2")
def test_progress_weighs_steps_by_what_their_kind_takes_and_never_goes_back() -> None:
    assert progress(PROJECT, EXPECTED, []) == 0.0
    steps = [
        done("generate", 9.0),
        done("generate", 0.1, 2),
        *(done("match", 5.0, number) for number in range(100)),
    ]
    shown = [progress(PROJECT, EXPECTED, steps[:count]) for count in range(len(steps) + 1)]
    assert shown == sorted(shown)
    assert shown[1] > 10 * (shown[3] - shown[2])
    assert shown[-1] == 0.99
    assert progress(PROJECT.model_copy(update={"status": "completed"}), EXPECTED, steps) == 1.0
