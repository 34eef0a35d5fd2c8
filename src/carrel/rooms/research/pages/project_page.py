"""One project: its run while it goes on, hypotheses, tournament, evidence, tasks and record."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.pages import PageRequest, PageView
from carrel.rooms.research.detail_models import TaskSummary
from carrel.rooms.research.models import ResearchStatus
from carrel.rooms.research.pages.addresses import project_address, report_address
from carrel.rooms.research.pages.evidence_view import split_sides
from carrel.rooms.research.pages.run_state import GOING_ON, is_over, status_badge
from carrel.rooms.research.pages.tournament_view import view_tournament

_VIEWS = ("hypotheses", "tournament", "evidence", "tasks", "record")
_MOST_EVIDENCE = 5
_MOST_HYPOTHESES = 200
_PLACES = ("ranked", "not yet compared", "rejected")
_PAGE = 40
_MOST_MATCHES = 20


def project_tabs(request: PageRequest, status: ResearchStatus, on: str) -> list[dict[str, object]]:
    """The tabs of a project's pages; the report is a page of its own."""
    counts = {
        "hypotheses": status.hypotheses_generated,
        "tournament": status.matches_played,
        "tasks": sum(status.tasks_left.values()) or None,
    }
    tabs: list[dict[str, object]] = [
        {
            "label": request.translate(f"research.tabs.{name}"),
            "path": project_address(status.research_id, view="" if name == "hypotheses" else name),
            "is_on": name == on,
            "count": counts.get(name),
        }
        for name in _VIEWS
    ]
    tabs.append(
        {
            "label": request.translate("research.tabs.report"),
            "path": report_address(status.research_id),
            "is_on": on == "report",
            "count": None,
        }
    )
    return tabs


async def draw_project(request: PageRequest) -> PageView:
    research_id = request.variables["research_id"]
    view = request.query.text("view")
    view = view if view in _VIEWS else "hypotheses"
    status = await request.ask("get_research_status", research_id=research_id)
    facts: dict[str, object] = {
        "status": status,
        "badge": status_badge(status.status),
        "is_over": is_over(status),
        "is_going_on": status.status in GOING_ON,
        "may_resume": status.status in {"paused", "failed"},
        "may_cancel": status.status in {"held", "initializing", "active", "paused", "failed"},
        "here": project_address(research_id, view="" if view == "hypotheses" else view),
        "view": view,
        "tabs": project_tabs(request, status, view),
        "live_words": _live_words(request),
        **await _read_view(request, research_id, view),
    }
    modules = ("research/run.js",) if view != "tournament" else (
        "research/run.js",
        "research/tournament.js",
    )  # fmt: skip
    return PageView(
        "research/project.html",
        status.goal,
        facts,
        modules=modules,
        styles=("research/research.css",),
    )


async def _read_view(request: PageRequest, research_id: str, view: str) -> dict[str, object]:
    match view:
        case "tournament":
            found = await request.ask("get_tournament", research_id=research_id)
            is_whole = request.query.flag("matches")
            newest = found.matches[::-1]
            return {
                "tournament": found,
                "shown": view_tournament(request, found),
                "matches": newest if is_whole else newest[:_MOST_MATCHES],
                "all_matches_path": ""
                if is_whole or len(newest) <= _MOST_MATCHES
                else project_address(research_id, view=view, matches="1"),
            }
        case "evidence":
            limit = request.query.integer("limit", _MOST_EVIDENCE, least=1, most=200)
            found = await request.ask("list_evidence", research_id=research_id, limit=limit)
            return {
                "evidence": [(one, split_sides(one)) for one in found],
                "more_path": project_address(research_id, view=view, limit=200)
                if len(found) == limit < 200
                else "",
            }
        case "tasks":
            tasks = await request.ask("list_research_tasks", research_id=research_id)
            return {"tasks": tasks, "titles": await _read_titles(request, research_id, tasks)}
        case "record":
            return {"record": await request.ask("get_research_record", research_id=research_id)}
        case _:
            return await _read_hypotheses(request, research_id)


async def _read_titles(
    request: PageRequest, research_id: str, tasks: Sequence[TaskSummary]
) -> dict[str, str]:
    """Titles of the hypotheses that tasks made."""
    if not any(task.made for task in tasks) or not request.offers("list_hypotheses"):
        return {}
    rows = await request.ask("list_hypotheses", research_id=research_id, limit=_MOST_HYPOTHESES)
    return {row.id: row.title for row in rows}


async def _read_hypotheses(request: PageRequest, research_id: str) -> dict[str, object]:
    rows = await request.ask("list_hypotheses", research_id=research_id, limit=_MOST_HYPOTHESES)
    live = [row for row in rows if row.place != "superseded"]
    # As the tournament and the report rank them: by strength, which counts more than matches.
    live.sort(
        key=lambda row: (_PLACES.index(row.place), -row.strength.value, -row.elo_score, row.id)
    )
    limit = request.query.integer("limit", _PAGE, least=1, most=_MOST_HYPOTHESES)
    bounds = [value for row in live for value in (row.strength.low, row.strength.high)] or [0.0]
    return {
        "hypotheses": live[:limit],
        "more_path": project_address(research_id, limit=_MOST_HYPOTHESES)
        if len(live) > limit
        else "",
        "total": len(live),
        "superseded": [row for row in rows if row.place == "superseded"],
        "least": min(bounds),
        "most": max(bounds),
    }


def _live_words(request: PageRequest) -> dict[str, str]:
    """Messages that a module puts a state in, by their keys."""
    names = (
        *(f"status.{name}" for name in ("initializing", "active", "completed")),
        *(f"status.{name}" for name in ("paused", "cancelled", "failed", "held")),
        *(f"stage.{name}" for name in _STAGES),
    )
    words = {name: request.translate(f"research.{name}") for name in names}
    marks = {name: f"{{{name}}}" for name in ("hypotheses", "reviewed", "matches")}
    words["counts"] = request.translate("research.run.counts", **marks)
    words["trouble"] = request.translate("research.run.trouble")
    return words


_STAGES = (
    "outside",
    "goal",
    "generate",
    "review",
    "match",
    "settle",
    "proximity",
    "meta-review",
    "evolve",
    "compare",
)
