"""Doubtful records, to be worked through one after the other."""

from __future__ import annotations

from typing import Any

from carrel.core.pages import PageAnswer, PageRequest, PageView, local_address
from carrel.rooms.papers.building.doubts import DOUBT_KINDS
from carrel.rooms.papers.pages.corrections_page import LIST_FIELDS

_PER_PAGE = 20


async def draw_review(request: PageRequest) -> PageAnswer:
    """The papers with doubtful fields, by kind of doubt."""
    kind = request.query.text("kind")
    kind = kind if kind in DOUBT_KINDS else ""
    page = request.query.integer("page", 1, least=1, most=10_000)
    asked: dict[str, Any] = {"kind": kind} if kind else {}
    papers, explanation = await request.ask_explained(
        "review_papers", limit=_PER_PAGE, page=page, **asked
    )
    total = papers[0].total if papers else 0
    here = local_address("/papers/review", kind=kind, page=page if page > 1 else None)
    facts = {
        "papers": papers,
        "explanation": explanation.message if explanation else "",
        "kind": kind,
        "tabs": [
            {
                "label": request.translate(f"papers.doubts.{each or 'all'}"),
                "path": local_address("/papers/review", kind=each),
                "is_on": (each or "") == kind,
                "count": total if (each or "") == kind else None,
            }
            for each in (None, *DOUBT_KINDS)
        ],
        "here": here,
        "previous": local_address("/papers/review", kind=kind, page=page - 1) if page > 1 else "",
        "next": local_address("/papers/review", kind=kind, page=page + 1)
        if page * _PER_PAGE < total
        else "",
        "list_fields": LIST_FIELDS,
        "may_correct": request.offers("edit_paper"),
    }
    title = request.translate("papers.review.title")
    return PageView("papers/review.html", title, facts, styles=("papers/papers.css",))
