"""The order hypotheses are shown in, and who of them may lead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from carrel.rooms.research.records import Hypothesis

Place = Literal["ranked", "not yet compared", "rejected"]


def place_of(made: Hypothesis) -> Place:
    """Whether its place says anything: a rejected one and one without a match stand after all that have played."""
    if made.decision.approval == "rejected":
        return "rejected"
    return "ranked" if made.standing.matches else "not yet compared"


def by_elo(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Best first; where Elo is the same, the stronger, then the older. Who has not played comes after who has, then the rejected."""
    places: tuple[Place, ...] = ("ranked", "not yet compared", "rejected")
    return sorted(
        hypotheses,
        key=lambda made: (
            places.index(place_of(made)),
            -made.standing.elo_score,
            -made.standing.strength,
            made.created_at,
            made.id,
        ),
    )


def leading(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Those that may lead, best first: none that a person rejected, and once there were matches, only who has played."""
    there = [made for made in by_elo(hypotheses) if place_of(made) != "rejected"]
    return [made for made in there if place_of(made) == "ranked"] or there
