"""The tournament for a page: a table with intervals, sorted, and the plots of its lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from carrel.core.pages import PageRequest, local_address
from carrel.rooms.research.detail_models import Entrant, Tournament
from carrel.rooms.research.drawings import (
    MOST_LINES,
    RatingCourse,
    RatingPlot,
    plot_ratings,
)

_SORTS: dict[str, tuple[Callable[[Entrant], float | str], bool]] = {
    "rank": (lambda one: one.rank, False),
    "title": (lambda one: one.title.casefold(), False),
    "elo": (lambda one: one.elo_score, True),
    "strength": (lambda one: one.strength.value, True),
    "wins": (lambda one: one.wins, True),
    "chance": (lambda one: one.strength.chance_to_be_best or 0.0, True),
}
_NARROW = {"width": 360, "height": 260, "left": 38, "right": 24}


@dataclass(frozen=True, slots=True)
class SortHead:
    """A head of a column: where it leads, and how it is sorted now."""

    key: str
    path: str
    direction: str


@dataclass(frozen=True, slots=True)
class TournamentView:
    """Entrants in the order asked for, the scale of their intervals, and the plots."""

    entrants: list[Entrant]
    heads: dict[str, SortHead]
    least: float
    most: float
    wide: RatingPlot | None
    narrow: RatingPlot | None
    titles: dict[str, str]
    drawn: int


def view_tournament(request: PageRequest, found: Tournament) -> TournamentView:
    sort = request.query.text("sort")
    sort = sort if sort in _SORTS else "rank"
    key, falls = _SORTS[sort]
    is_reversed = request.query.text("order") == "reverse"
    entrants = sorted(found.entrants, key=key, reverse=falls != is_reversed)
    heads = {
        name: SortHead(
            name,
            local_address(
                request.path,
                view="tournament",
                sort=name,
                order="reverse" if name == sort and not is_reversed else "",
            ),
            _direction(falls != is_reversed) if name == sort else "",
        )
        for name, (_, falls) in _SORTS.items()
    }
    bounds = [
        value for one in found.entrants for value in (one.strength.low, one.strength.high)
    ] or [0.0]
    courses = [
        RatingCourse(one.id, one.title, [(step.match, step.elo) for step in one.course])
        for one in found.entrants[:MOST_LINES]
    ]
    is_drawn = bool(courses and found.matches)
    return TournamentView(
        entrants,
        heads,
        min(bounds),
        max(bounds),
        plot_ratings(courses, len(found.matches)) if is_drawn else None,
        plot_ratings(courses, len(found.matches), **_NARROW) if is_drawn else None,
        {one.id: one.title for one in found.entrants},
        len(courses),
    )


def _direction(falls: bool) -> str:
    return "descending" if falls else "ascending"
