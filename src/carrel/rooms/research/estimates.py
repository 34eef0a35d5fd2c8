"""How far a run is and how long the rest will take: from its own pace once it has one, before that from earlier runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from carrel.rooms.research.records import Job, Pace, Project, StepDone

# What a step of each kind is taken to last before any was ever done, in seconds.
_FIRST_GUESS = {"generate": 2.0, "review": 0.05, "match": 0.02, "evolve": 0.5}
_SHARES = {"generate": 0.02, "review": 0.2, "match": 0.7, "evolve": 0.05}
_ENOUGH_STEPS = 10


def remaining_seconds(expected_steps: int, done: Sequence[StepDone], pace: Mapping[str, Pace]) -> float:
    """What is left to do, at the pace of this run where it has one, else of earlier ones."""
    left = max(0, expected_steps - len(done))
    if len(done) >= _ENOUGH_STEPS:
        return left * sum(step.seconds for step in done) / len(done)
    known = {kind: pace[kind].seconds if kind in pace else guess for kind, guess in _FIRST_GUESS.items()}
    return left * sum(_SHARES[kind] * seconds for kind, seconds in known.items())


def progress(project: Project, run: Job | None, done: Sequence[StepDone]) -> float:
    """The share of the expected steps that is finished; 1 only when all of it is."""
    if project.status == "completed":
        return 1.0
    if run is None or not run.planned_steps:
        return 0.0
    return round(min(0.99, len(done) / run.planned_steps), 4)
