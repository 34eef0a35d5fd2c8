"""What people add: a hypothesis of their own, and hypotheses of the earlier system."""

from __future__ import annotations

import re

from carrel.core.errors import CarrelError
from carrel.core.pages import FieldValues, PageAnswer, PageRedirect, PageRequest, PageView
from carrel.rooms.research.pages.addresses import hypothesis_address, project_address

_STYLES = ("research/research.css",)
_BETWEEN = re.compile(r"[\s,;]+")


async def draw_submission(request: PageRequest) -> PageView:
    return await _draw_submission(request, request.query, None)


async def submit_hypothesis(request: PageRequest) -> PageAnswer:
    form = request.form
    try:
        added = await request.ask(
            "submit_hypothesis",
            research_id=request.variables["research_id"],
            title=form.text("title"),
            summary=form.whole_text("summary").strip(),
            rationale=form.whole_text("rationale").strip(),
            experimental_protocol=form.whole_text("experimental_protocol").strip(),
            citations=[name for name in _BETWEEN.split(form.text("citations")) if name],
        )
    except CarrelError as error:
        return await _draw_submission(request, form, error)
    notice = request.translate("research.submit.added")
    return PageRedirect(hypothesis_address(added.id), notice)


async def _draw_submission(
    request: PageRequest, given: FieldValues, problem: CarrelError | None
) -> PageView:
    research_id = request.variables["research_id"]
    status = await request.ask("get_research_status", research_id=research_id)
    names = ("title", "rationale", "summary", "experimental_protocol", "citations")
    return PageView(
        "research/submit.html",
        request.translate("research.submit.title"),
        {
            "status": status,
            "given": {name: given.whole_text(name) for name in names},
            "problem": problem,
            "project_path": project_address(research_id),
        },
        styles=_STYLES,
        status=200 if problem is None else 400,
    )


async def draw_import(request: PageRequest) -> PageView:
    return _draw_import(request, request.query, None, None)


async def import_file(request: PageRequest) -> PageAnswer:
    form = request.form
    try:
        report = await request.ask(
            "import_hypotheses",
            hypotheses=form.whole_text("hypotheses"),
            **({"goal": form.text("goal")} if form.text("goal") else {}),
        )
    except CarrelError as error:
        return _draw_import(request, form, error, None)
    return _draw_import(request, FieldValues({}), None, report)


def _draw_import(
    request: PageRequest, given: FieldValues, problem: CarrelError | None, report: object
) -> PageView:
    return PageView(
        "research/import.html",
        request.translate("research.import.title"),
        {
            "given": {name: given.whole_text(name) for name in ("goal", "hypotheses")},
            "problem": problem,
            "report": report,
        },
        modules=("research/import.js",),
        styles=_STYLES,
        status=200 if problem is None else 400,
    )
