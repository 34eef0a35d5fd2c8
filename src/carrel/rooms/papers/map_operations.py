"""Operations on the map of the corpus, for people: models have no use for places in a plane."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from carrel.core.answer import Binary, Blocks, Job
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.papers.errors import MapTileNotFoundError
from carrel.rooms.papers.map_jobs import MapJobs, as_job
from carrel.rooms.papers.map_models import (
    GetMapTile,
    LocateOnMap,
    MapPaper,
    MapReport,
    MapSelection,
    PaperMap,
    SelectOnMap,
    UpdatePaperMap,
)
from carrel.rooms.papers.map_ports import MapReader
from carrel.rooms.papers.models import NoQuestion

READ = frozenset({"papers:read"})
WRITE = frozenset({"papers:write"})
# A map shows dozens of tiles at once; together they cost about as much as one search.
_TILE_COST = 0.05
TILE_MEDIA_TYPE = "application/octet-stream"


def _labels(arguments: Mapping[str, Any], answer: PaperMap, caller: Caller) -> list[QuotedSource]:
    return [QuotedSource("corpus", "papers")] if answer.regions else []


def _located(
    arguments: Mapping[str, Any], answer: list[MapPaper], caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("paper", paper.paper_id, paper.title) for paper in answer]


def _selected(
    arguments: Mapping[str, Any], answer: MapSelection, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("paper", paper.paper_id, paper.title) for paper in answer.papers]


class MapOperations:
    """The map: what it shows, its tiles, who lies where, and bringing it up to date."""

    def __init__(
        self,
        reader: MapReader,
        jobs: MapJobs,
        read_state: Callable[[], Awaitable[str]],
        count_papers: Callable[[], Awaitable[int]],
    ) -> None:
        """`read_state` is a text that changes when the corpus does."""
        self._reader = reader
        self._jobs = jobs
        self._read_state = read_state
        self._count_papers = count_papers

    @operation(
        title="Get the map of the corpus",
        description="Regions with their labels, years and the names of the tiles of the map.",
        scopes=READ,
        quotes=_labels,
        is_listed=False,
        command="map-regions",
        is_for_people=True,
    )
    async def get_paper_map(self, question: NoQuestion, call: Call) -> PaperMap:
        papers = await self._count_papers()
        found = await self._reader.overview()
        if found is None:
            return PaperMap(state="none", in_corpus=papers)
        is_current = papers > 0 and await self._reader.corpus_state() == await self._read_state()
        return found.model_copy(update={"in_corpus": papers, "is_current": is_current})

    @operation(
        title="Get a tile of the map",
        description="Points of a square of the map, ten bytes each (x, y, number, year, region).",
        scopes=READ,
        cost=_TILE_COST,
        is_listed=False,
        command="map-tile",
        is_for_people=True,
    )
    async def get_map_tile(self, question: GetMapTile, call: Call) -> Blocks:
        body = await self._reader.tile(question.tile)
        if body is None:
            raise MapTileNotFoundError(question.tile)
        return Blocks((Binary(body, TILE_MEDIA_TYPE),))

    @operation(
        title="Locate papers on the map",
        description="Papers by their numbers on the map or by their ids, with their places.",
        scopes=READ,
        quotes=_located,
        cost=0.2,
        is_listed=False,
        command="map-places",
        is_for_people=True,
    )
    async def locate_on_map(self, question: LocateOnMap, call: Call) -> list[MapPaper]:
        found = await self._reader.points(question.points) if question.points else []
        if question.paper_ids:
            found += await self._reader.locate(question.paper_ids)
        return found

    @operation(
        title="Select papers on the map",
        description="The papers within an outline on the map, those in its middle first.",
        scopes=READ,
        quotes=_selected,
        is_listed=False,
        command="map-select",
        is_for_people=True,
    )
    async def select_on_map(self, question: SelectOnMap, call: Call) -> MapSelection:
        outline = [(corner.x, corner.y) for corner in question.outline]
        count, papers = await self._reader.within(outline, question.limit)
        return MapSelection(count=count, papers=papers)

    @operation(
        title="Update the map of the corpus",
        description=(
            "Places papers that are new on the map, in a job; with again, draws it anew. What is "
            "on the map does not move otherwise."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        is_idempotent=True,
        cost=5.0,
        is_listed=False,
        command="map-update",
        is_for_people=True,
    )
    async def update_paper_map(self, question: UpdatePaperMap, call: Call) -> MapReport | Job:
        record = await self._jobs.start(question, call)
        if call.can_follow:
            return as_job(record)
        return MapReport(
            papers=0,
            placed=0,
            left=0,
            not_placed=0,
            is_drawn_anew=question.again,
            job_id=record.id,
            next_step="get_job with this job_id tells when it is done.",
        )
