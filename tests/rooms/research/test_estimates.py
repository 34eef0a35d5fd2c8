"""How far a run is, and how long the rest will take."""

from __future__ import annotations

import pytest

from carrel.rooms.research.project_views import progress, remaining_seconds
from carrel.rooms.research.records import Project, StepDone, StepKey, StepKind

PROJECT = Project(
    id="res_1", owner="ada", goal="A goal of some length", domain="medicine", hypothesis_count=4,
    seed=1, created_at="", updated_at="",
    status="active",
)  # fmt: skip
EXPECTED = {StepKind.GENERATE: 2, StepKind.MATCH: 100}


def done(kind: StepKind, seconds: float, number: int = 1) -> StepDone:
    key = StepKey(kind, number=number)
    return StepDone(job_id="job_1", key=key, seconds=seconds, finished_at="")


@pytest.mark.promise("S2")
def test_what_is_left_is_counted_kind_by_kind_at_the_pace_of_this_run() -> None:
    steps = [
        done(StepKind.GENERATE, 10.0),
        *(done(StepKind.MATCH, 0.1, number) for number in range(10)),
    ]
    assert remaining_seconds(EXPECTED, steps, {}) == pytest.approx(10.0 + 90 * 0.1)


@pytest.mark.promise("S2")
def test_before_a_run_has_a_pace_that_of_earlier_ones_counts() -> None:
    pace = {StepKind.GENERATE: 3.0, StepKind.MATCH: 0.2}
    assert remaining_seconds(EXPECTED, [], pace) == pytest.approx(2 * 3.0 + 100 * 0.2)
    assert remaining_seconds(EXPECTED, [], {}) > 0


@pytest.mark.promise("S2")
def test_progress_weighs_steps_by_what_their_kind_takes_and_never_goes_back() -> None:
    assert progress(PROJECT, EXPECTED, []) == 0.0
    steps = [
        done(StepKind.GENERATE, 9.0),
        done(StepKind.GENERATE, 0.1, 2),
        *(done(StepKind.MATCH, 5.0, number) for number in range(100)),
    ]
    shown = [progress(PROJECT, EXPECTED, steps[:count]) for count in range(len(steps) + 1)]
    assert shown == sorted(shown)
    assert shown[1] > 10 * (shown[3] - shown[2])
    assert shown[-1] == 0.99
    assert progress(PROJECT.model_copy(update={"status": "completed"}), EXPECTED, steps) == 1.0
