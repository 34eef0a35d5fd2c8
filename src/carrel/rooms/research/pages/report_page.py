"""The report of a project: a page to read and to print, and files to keep."""

from __future__ import annotations

from carrel.core.errors import InvalidInputError
from carrel.core.pages import PageAnswer, PageFile, PageRequest, PageView, local_address
from carrel.rooms.research.pages.evidence_view import draw_bridge, split_sides
from carrel.rooms.research.pages.project_page import project_tabs
from carrel.rooms.research.pages.run_state import status_badge
from carrel.rooms.research.pages.texts import PaperNumbers
from carrel.rooms.research.pages.tournament_view import view_tournament
from carrel.rooms.research.report_references import format_reference, reference_url

_SHOWN = 10
_MOST = 200
_FILES = {
    "html": ("text/html; charset=utf-8", "html"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "json": ("application/json", "json"),
}


async def draw_report(request: PageRequest) -> PageView:
    research_id = request.variables["research_id"]
    count = request.query.integer("limit", _SHOWN, least=1, most=_MOST)
    status = await request.ask("get_research_status", research_id=research_id)
    results = await request.ask(
        "get_results", research_id=research_id, format="detailed", top_n=count
    )
    tournament = await request.ask("get_tournament", research_id=research_id)
    evidence = await request.ask("list_evidence", research_id=research_id, limit=count)
    by_id = {one.hypothesis_id: one for one in evidence}
    numbers = PaperNumbers(
        [str(item["id"]) for item in results.bibliography]
        + [name for one in results.top_hypotheses for name in one.citations]
    )
    return PageView(
        "research/report.html",
        request.translate("research.report.title", goal=status.goal),
        {
            "status": status,
            "badge": status_badge(status.status),
            "tabs": project_tabs(request, status, "report"),
            "results": results,
            "tournament": tournament,
            "shown": view_tournament(request, tournament),
            "hypotheses": [
                (one, split_sides(by_id[one.id]), draw_bridge(by_id[one.id]))
                for one in results.top_hypotheses
                if one.id in by_id
            ],
            "record": await request.ask("get_research_record", research_id=research_id),
            "numbers": numbers,
            "references": [
                (str(item["id"]), format_reference(item), reference_url(item))
                for item in results.bibliography
            ],
            "more_path": local_address("/research/report", research_id, limit=_MOST)
            if results.total_hypotheses > count
            else "",
        },
        modules=("research/report.js",),
        styles=("research/research.css",),
    )


async def send_export(request: PageRequest) -> PageAnswer:
    """The report or the whole project as a file."""
    research_id = request.variables["research_id"]
    asked = request.query.text("format", "html")
    if asked == "bibtex":
        results = await request.ask("get_results", research_id=research_id, top_n=_MOST)
        body, media_type, ending = results.bibliography_bibtex, "application/x-bibtex", "bib"
    elif asked in _FILES:
        media_type, ending = _FILES[asked]
        body = (await request.ask("export_research", research_id=research_id, format=asked)).body
    else:
        raise InvalidInputError(
            "format must be html, markdown, json or bibtex", next_step="Correct the address."
        )
    name = "".join(each for each in research_id if each.isalnum() or each in "-_")
    return PageFile(body.encode(), media_type, f"research-{name}.{ending}")
