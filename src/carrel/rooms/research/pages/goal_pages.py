"""Starting in two steps: the goal as understood with every setting, then the start.

Also the goals in doubt, which wait for an administrator.
"""

from __future__ import annotations

from carrel.core.errors import CarrelError
from carrel.core.pages import FieldValues, PageAnswer, PageRedirect, PageRequest, PageView
from carrel.rooms.research.detail_models import ResearchPlan
from carrel.rooms.research.models import GoalUnderstood
from carrel.rooms.research.pages.addresses import project_address

_DEFAULT_COUNT = 20
_STYLES = ("research/research.css",)


def _read_settings(fields: FieldValues) -> dict[str, object]:
    return {
        "goal": " ".join(fields.text("goal").split()),
        "domain": fields.text("domain") or None,
        "hypothesis_count": fields.integer("hypothesis_count", _DEFAULT_COUNT, least=1, most=100),
        "look_outside": fields.flag("look_outside"),
    }


async def draw_start(request: PageRequest) -> PageView:
    """The empty form, or the goal as it is understood."""
    return await _draw(request, _read_settings(request.query))


async def start_project(request: PageRequest) -> PageAnswer:
    settings = _read_settings(request.form)
    try:
        started = await request.ask("start_research", **settings)
    except CarrelError as error:
        return await _draw(request, settings, error)
    held = started.status == "held"
    notice = request.translate("research.start.held" if held else "research.start.started")
    return PageRedirect(project_address(started.research_id), notice)


async def _draw(
    request: PageRequest, settings: dict[str, object], problem: CarrelError | None = None
) -> PageView:
    reading = plan = unread = None
    if settings["goal"]:
        try:
            plan = await request.ask("plan_research", **settings)
            reading, unread = await _read_goal(request, plan)
        except CarrelError as error:
            problem = problem or error
        if unread is not None and not settings["look_outside"]:
            problem = problem or unread
    return PageView(
        "research/start.html",
        request.translate("research.start.title"),
        {
            "settings": settings,
            "reading": reading,
            "plan": plan,
            "problem": problem,
            # What is found outside may be what the goal speaks of, so the run reads it then.
            "is_read_later": unread is not None and problem is None,
            "may_start": plan is not None
            and plan.outcome != "refuse"
            and (settings["look_outside"] or (reading is not None and reading.can_start))
            and not (settings["look_outside"] and plan.outside_problem),
        },
        styles=_STYLES,
        status=200 if problem is None else 400,
    )


async def _read_goal(
    request: PageRequest, plan: ResearchPlan
) -> tuple[GoalUnderstood | None, CarrelError | None]:
    """The reading, or why there is none; neither for a goal that is refused."""
    if plan.outcome == "refuse":
        return None, None
    try:
        return await request.ask("understand_goal", goal=plan.goal), None
    except CarrelError as error:
        return None, error


async def draw_held_goals(request: PageRequest) -> PageView:
    """Everybody's for administrators, else the caller's own."""
    is_admin = request.offers("list_held_goals")
    if is_admin:
        goals = await request.ask("list_held_goals", limit=200)
    else:
        rows = await request.ask("list_research_projects", status="held", limit=100)
        goals = [
            {
                "research_id": row.id,
                "owner": request.caller.user_id,
                "goal": row.goal,
                "problem": row.problem,
                "created_at": row.created_at,
            }
            for row in rows
        ]
    return PageView(
        "research/goals.html",
        request.translate("research.goals.title"),
        {"goals": goals, "is_admin": is_admin},
        styles=_STYLES,
    )
