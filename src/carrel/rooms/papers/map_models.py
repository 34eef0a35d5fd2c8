"""The map of the corpus as callers see it, and what they ask of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from carrel.core.operation import Answer, Question

MOST_POINTS_ASKED = 1_000
MOST_SELECTED = 2_000
_MOST_CORNERS = 500


class UpdatePaperMap(Question):
    again: bool = Field(
        default=False, description="lay out everything anew; papers move to other places"
    )


class GetMapTile(Question):
    tile: str = Field(pattern=r"^\d{1,2}-\d{1,5}-\d{1,5}$", description="such as 0-0-0")


class LocateOnMap(Question):
    """Papers by their numbers on the map, or by their ids."""

    points: list[int] = Field(
        default=[], max_length=MOST_POINTS_ASKED, description="Numbers on the map"
    )
    paper_ids: list[str] = Field(
        default=[], max_length=MOST_POINTS_ASKED, description="Ids of papers"
    )


class MapCorner(Question):
    x: float = Field(ge=-10, le=10)
    y: float = Field(ge=-10, le=10)


class SelectOnMap(Question):
    """Papers within an outline, from the upper left corner (0, 0) to the lower right (1, 1)."""

    outline: list[MapCorner] = Field(
        min_length=3, max_length=_MOST_CORNERS, description="Corners, x and y from 0 to 1"
    )
    limit: int = Field(default=200, ge=1, le=MOST_SELECTED, description="Papers at most")


class MapRegion(Answer):
    """A part of the map with the terms that set its papers apart; `colour` is one of eight."""

    number: int
    label: str
    terms: list[str]
    x: float
    y: float
    colour: int
    papers: int
    first_year: int | None = None
    last_year: int | None = None


class MapLabel(Answer):
    """A label for a near look."""

    text: str
    x: float
    y: float


class PaperMap(Answer):
    """The map without its points, which are in tiles; `is_current` is false once papers changed."""

    state: Literal["none", "drawn"]
    papers: int = 0
    not_placed: int = 0
    in_corpus: int = 0
    is_current: bool = False
    drawn_at: str | None = None
    version: str = ""
    first_year: int | None = None
    last_year: int | None = None
    regions: list[MapRegion] = Field(default=[])
    labels: list[MapLabel] = Field(default=[])
    tiles: dict[str, int] = Field(default={})


class MapPaper(Answer):
    """A paper on the map."""

    point: int
    paper_id: str
    title: str
    year: int | None = None
    region: int
    x: float
    y: float


class MapSelection(Answer):
    """The papers within an outline: how many, and the first of them, nearest to its middle."""

    count: int
    papers: list[MapPaper]


class MapReport(Answer):
    """What an update did: `placed` are new on the map, `left` are gone from it."""

    papers: int
    placed: int
    left: int
    not_placed: int
    is_drawn_anew: bool
    job_id: str | None = None
    next_step: str | None = None
