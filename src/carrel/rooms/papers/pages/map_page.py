"""The map of the corpus: a picture to move about in, and the same as a list of regions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from carrel.core.answer import Binary
from carrel.core.errors import CarrelError, NotFoundError
from carrel.core.jobs import JobReport
from carrel.core.pages import (
    LiveView,
    PageAnswer,
    PageFile,
    PageRedirect,
    PageRequest,
    PageView,
    local_address,
)
from carrel.rooms.papers.map_models import MapRegion, PaperMap

_STYLES = ("papers/map.css",)
_TILE_SECONDS = 7 * 24 * 3600
_MOST_PROJECTS = 50
_MOST_HITS = 300
_HITS_PER_QUESTION = 100
# Texts that the modules say.
_SAID = (
    "no_hits",
    "hits",
    "selected",
    "selected_first",
    "nothing_selected",
    "added",
    "copied",
    "bridge_between",
    "bridge_within",
    "no_bridges",
    "rectangle_help",
    "no_year",
    "cleared",
    "topic",
    "year",
    "query",
)

MAP_LIVE = LiveView(
    name="paper_map",
    operation="get_job",
    arguments=lambda job_id: {"job_id": job_id},
    is_over=lambda job: job.state != "running",
    summarise=lambda job: {
        "state": job.state,
        "message": job.message,
        "done": job.done,
        "total": job.total,
    },
    every_seconds=0.5,
)


async def draw_map(request: PageRequest) -> PageAnswer:
    """The map; a page that offers to draw it where there is none."""
    drawn: PaperMap = await request.ask("get_paper_map")
    job = await _find_job(request)
    title = request.translate("papers.map.title")
    facts: dict[str, Any] = {"map": drawn, "job": job}
    if drawn.state == "none":
        return PageView(
            "papers/map_missing.html", title, facts, ("papers/map_job.js",), _STYLES, room=None
        )
    words = request.query.text("q")
    hits = await _find_hits(request, words) if words else []
    projects = await _list_projects(request)
    chosen = request.query.text("project")
    facts |= {
        "regions": _describe_regions(drawn.regions),
        "words": words,
        "hits": hits,
        "projects": projects,
        "chosen": chosen,
        "facts": _facts_for_modules(request, drawn, words, hits, chosen),
        "years": _year_steps(drawn),
    }
    modules = ("papers/map.js", *(("papers/map_job.js",) if job is not None else ()))
    return PageView("papers/map.html", title, facts, modules, _STYLES)


async def start_drawing(request: PageRequest) -> PageAnswer:
    """Starts the job that brings the map up to date, or draws it anew."""
    started = await request.ask("update_paper_map", again=request.form.flag("again"))
    return PageRedirect(local_address("/papers/map", job=started.job_id))


async def draw_tile(request: PageRequest) -> PageAnswer:
    """A tile; its address names the version of the map, so that browsers may keep it."""
    answer = await request.ask("get_map_tile", tile=request.variables["tile"])
    body = next(part.body for part in answer.parts if isinstance(part, Binary))
    return PageFile(body, "application/octet-stream", keep_seconds=_TILE_SECONDS)


async def _find_job(request: PageRequest) -> JobReport | None:
    """The job of the address; None where it is over and forgotten, or somebody else's."""
    job_id = request.query.text("job")
    if not job_id:
        return None
    try:
        job: JobReport = await request.ask("get_job", job_id=job_id)
    except NotFoundError:
        return None
    return job


async def _find_hits(request: PageRequest, words: str) -> list[dict[str, Any]]:
    """Papers that a search finds, with their places, best first."""
    found: list[str] = []
    for page in range(1, _MOST_HITS // _HITS_PER_QUESTION + 1):
        hits = await request.ask("search_papers", query=words, limit=_HITS_PER_QUESTION, page=page)
        found += [hit.paper_id for hit in hits]
        if len(hits) < _HITS_PER_QUESTION:
            break
    if not found:
        return []
    located = await request.ask("locate_on_map", paper_ids=found)
    return [
        {
            "point": paper.point,
            "paper_id": paper.paper_id,
            "title": paper.title,
            "year": paper.year,
            "region": paper.region,
            "x": paper.x,
            "y": paper.y,
        }
        for paper in located
    ]


async def _list_projects(request: PageRequest) -> list[tuple[str, str]]:
    """Research projects whose hypotheses can be drawn; none where that room is closed."""
    if not request.offers("list_research_projects") or not request.offers("list_evidence"):
        return []
    try:
        projects = await asyncio.wait_for(
            request.ask("list_research_projects", limit=_MOST_PROJECTS), 10
        )
    except (CarrelError, TimeoutError):
        # The map is whole without them.
        return []
    return [(project.id, project.goal) for project in projects]


def _describe_regions(regions: Sequence[MapRegion]) -> list[dict[str, Any]]:
    """Regions with the search that finds their papers and their shape."""
    shapes = _choose_shapes(regions)
    described = []
    for region in regions:
        query = " OR ".join(f'"{term}"' if " " in term else term for term in region.terms)
        described.append(
            {
                "region": region,
                "shape": shapes[region.number],
                "path": local_address("/papers", q=query),
                "radius": round(6 + 60 * (region.papers / max(1, regions[0].papers)) ** 0.5, 1),
            }
        )
    return described


def _choose_shapes(regions: Sequence[MapRegion]) -> dict[int, int]:
    """For each region one of three shapes, so that two of one colour differ."""
    used: dict[int, int] = {}
    shapes = {}
    for region in sorted(regions, key=lambda each: each.number):
        shapes[region.number] = used.get(region.colour, 0) % 3
        used[region.colour] = used.get(region.colour, 0) + 1
    return shapes


def _year_steps(drawn: PaperMap) -> list[tuple[int, int]]:
    """At most eight spans of years of the same length, oldest first."""
    if drawn.first_year is None or drawn.last_year is None:
        return []
    span = drawn.last_year - drawn.first_year + 1
    length = -(-span // 8)
    starts = range(drawn.first_year, drawn.last_year + 1, length)
    return [(start, min(drawn.last_year, start + length - 1)) for start in starts]


def _facts_for_modules(
    request: PageRequest, drawn: PaperMap, words: str, hits: list[dict[str, Any]], chosen: str
) -> dict[str, Any]:
    shapes = _choose_shapes(drawn.regions)
    return {
        "version": drawn.version,
        "papers": drawn.papers,
        "firstYear": drawn.first_year or 0,
        "years": _year_steps(drawn),
        "regions": [
            {
                "number": region.number,
                "terms": region.terms,
                "x": region.x,
                "y": region.y,
                "colour": region.colour,
                "shape": shapes[region.number],
                "papers": region.papers,
            }
            # Modules find a region by its number.
            for region in sorted(drawn.regions, key=lambda each: each.number)
        ],
        "labels": [{"text": each.text, "x": each.x, "y": each.y} for each in drawn.labels],
        "tiles": drawn.tiles,
        "query": words,
        "hits": hits,
        "project": chosen,
        "mayAdd": request.offers("add_references"),
        "said": {key: request.translate(f"papers.map.said.{key}") for key in _SAID},
    }
