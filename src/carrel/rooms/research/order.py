"""The order hypotheses are shown in, and who of them may lead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from carrel.rooms.research.records import Hypothesis

Place = Literal["ranked", "not yet compared", "rejected"]


_PLACES: tuple[Place, ...] = ("ranked", "not yet compared", "rejected")


def place_of(made: Hypothesis) -> Place:
    """Whether its place says anything: a rejected one and one without a match stand after all that
    have played.
    """
    if made.decision.approval == "rejected":
        return "rejected"
    return "ranked" if made.standing.matches else "not yet compared"


def by_elo(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Highest Elo first; where it is the same, those that have played, then the stronger, then the
    older.
    """
    return sorted(
        hypotheses,
        key=lambda made: (-made.standing.elo_score, _PLACES.index(place_of(made)), *_tie(made)),
    )


def by_place(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """For reports: those that have played, highest Elo first, then those that have not, then the
    rejected.
    """
    return sorted(
        hypotheses,
        key=lambda made: (_PLACES.index(place_of(made)), -made.standing.elo_score, *_tie(made)),
    )


def _tie(made: Hypothesis) -> tuple[float, str, str]:
    return -made.standing.strength, made.created_at, made.id


def leading(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Those that may lead, best first: none that a person rejected, and once there were matches,
    only who has played.
    """
    there = [made for made in by_place(hypotheses) if place_of(made) != "rejected"]
    return [made for made in there if place_of(made) == "ranked"] or there
