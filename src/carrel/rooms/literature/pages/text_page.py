"""The open text of a work, fetched when somebody asks for it."""

from __future__ import annotations

from typing import Any

from carrel.core.pages import PageAnswer, PageRequest, PageView, local_address
from carrel.rooms.literature.fulltext_models import FullText
from carrel.rooms.literature.pages.sections import (
    SHOWN_ERRORS,
    find_status,
    make_refusal,
    make_view,
)


async def draw_text_offer(request: PageRequest) -> PageAnswer:
    """Fetching leaves this machine and may change the corpus, so it waits for the button."""
    return _draw(request, {"text": None})


async def find_text(request: PageRequest) -> PageAnswer:
    keep = request.form.flag("add_to_corpus")
    asked: dict[str, Any] = {
        "identifier": request.variables["work_id"],
        "add_to_corpus": keep,
        "offset": request.form.integer("offset", 0),
    }
    try:
        found: FullText = await request.ask("find_fulltext", **asked)
    except SHOWN_ERRORS as error:
        status = find_status(error)
        return _draw(request, {"text": None, "refusal": make_refusal(error)}, status=status)
    return _draw(request, {"text": found}, title=found.title)


def _draw(
    request: PageRequest, facts: dict[str, Any], *, title: str = "", status: int = 200
) -> PageView:
    work_id = request.variables["work_id"]
    return make_view(
        request,
        "text",
        "search",
        {
            "work_id": work_id,
            "work_path": local_address("/literature/work", work_id),
            "here": local_address("/literature/text", work_id),
            "may_keep": "papers:write" in request.caller.scopes,
            **facts,
        },
        title=request.translate("literature.text.of", title=title or work_id),
        modules=("literature/search.js",),
        status=status,
    )
