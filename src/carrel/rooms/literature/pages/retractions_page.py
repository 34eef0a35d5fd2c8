"""Retracted, corrected and doubted works of the corpus, the library or a draft."""

from __future__ import annotations

from typing import Any

from carrel.core.pages import PageAnswer, PageRequest, PageView
from carrel.core.work_notices import describe_notice
from carrel.rooms.literature.pages.sections import (
    SHOWN_ERRORS,
    find_status,
    make_refusal,
    make_view,
)

_SCOPES = ("library", "corpus", "draft")
_SHOWN = 200


async def draw_retractions(request: PageRequest) -> PageAnswer:
    scope = request.query.text("scope")
    is_outside = request.query.flag("outside")
    if scope not in ("library", "corpus"):
        return _draw(request, scope if scope == "draft" else "library", {"outside": is_outside})
    asked = {"scope": scope, "outside": is_outside, "limit": _SHOWN}
    return await _check(request, scope, asked)


async def check_draft(request: PageRequest) -> PageAnswer:
    """A draft is long and nobody's business, so it is never part of an address."""
    text = request.form.whole_text("text")
    asked = {
        "scope": "draft",
        "text": text,
        "outside": request.form.flag("outside"),
        "limit": _SHOWN,
    }
    return await _check(request, "draft", asked)


async def _check(request: PageRequest, scope: str, asked: dict[str, Any]) -> PageAnswer:
    facts = {"outside": asked["outside"], "draft": asked.get("text", "")}
    try:
        checked = await request.ask("check_retractions", **asked)
    except SHOWN_ERRORS as error:
        return _draw(
            request, scope, {**facts, "refusal": make_refusal(error)}, status=find_status(error)
        )
    return _draw(request, scope, {**facts, "checked": checked})


def _draw(
    request: PageRequest, scope: str, facts: dict[str, Any], *, status: int = 200
) -> PageView:
    tabs = [
        {
            "label": request.translate(f"literature.retractions.scope.{each}"),
            "path": f"/literature/retractions?scope={each}",
            "is_on": each == scope,
            "count": None,
        }
        for each in _SCOPES
    ]
    return make_view(
        request,
        "retractions",
        "retractions",
        {
            "scope": scope,
            "scope_tabs": tabs,
            "draft": "",
            "checked": None,
            "describe_notice": describe_notice,
            **facts,
        },
        modules=("literature/search.js",),
        status=status,
    )
