"""How far a run is and how long the rest will take: from its own pace once it has one, before that
from earlier runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from carrel.rooms.research.records import Pace, Project, StepDone

# What a step of each kind is taken to last before any was ever done, in seconds.
_FIRST_GUESS = {"generate": 2.0, "review": 0.05, "match": 0.02, "evolve": 0.5}
_ANY_STEP = 0.05


def remaining_seconds(
    expected: Mapping[str, int], done: Sequence[StepDone], pace: Mapping[str, Pace]
) -> float:
    """What is left to do, kind by kind, at the pace of this run where it has one, else of earlier
    ones.
    """
    counts = Counter(step.kind for step in done)
    spent: dict[str, float] = {}
    for step in done:
        spent[step.kind] = spent.get(step.kind, 0.0) + step.seconds
    seconds = 0.0
    for kind, count in expected.items():
        left = max(0, count - counts[kind])
        if counts[kind]:
            seconds += left * spent[kind] / counts[kind]
        elif kind in pace:
            seconds += left * pace[kind].seconds
        else:
            seconds += left * _FIRST_GUESS.get(kind, _ANY_STEP)
    return seconds


def progress(project: Project, expected: Mapping[str, int], done: Sequence[StepDone]) -> float:
    """How much of the run is behind it, each step weighed by what its kind usually takes; 1 only
    when all of it is.

    The weights are fixed, so that what is learned on the way never takes a share back that was
    shown.
    """
    if project.status == "completed":
        return 1.0
    counts = Counter(step.kind for step in done)
    whole = sum(_weight(kind) * max(count, counts[kind]) for kind, count in expected.items())
    behind = sum(_weight(kind) * counts[kind] for kind in expected)
    return round(min(0.99, behind / whole), 4) if whole else 0.0


def _weight(kind: str) -> float:
    return _FIRST_GUESS.get(kind, _ANY_STEP)
