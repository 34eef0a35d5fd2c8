"""One work from outside: the merged record, who says what, and its citations outside."""

from __future__ import annotations

from typing import Any

from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, local_address
from carrel.rooms.literature.models import WholeWork
from carrel.rooms.literature.pages.search_page import list_places
from carrel.rooms.literature.pages.sections import (
    SHOWN_ERRORS,
    find_status,
    make_refusal,
    make_view,
)
from carrel.rooms.literature.pages.services import list_identifiers

_PER_PAGE = 20
_MOST_PAGES = 50
# Kinds of identifiers by which services know citations, the best first.
_CITED_BY = ("doi", "arxiv", "pmcid", "pmid")


async def open_work(request: PageRequest) -> PageAnswer:
    """The page of the identifier that was typed."""
    name = request.query.text("id")
    return PageRedirect(local_address("/literature/work", name) if name else "/literature")


async def draw_work(request: PageRequest) -> PageAnswer:
    work_id = request.variables["work_id"]
    facts: dict[str, Any] = {
        "work_id": work_id,
        "work": None,
        "list_identifiers": list_identifiers,
        "into_options": list_places(request),
        "can_find_text": request.offers("find_fulltext"),
        "citations_path": "",
        "here": local_address("/literature/work", work_id),
    }
    status, title = 200, work_id
    try:
        work: WholeWork = await request.ask("get_work", identifier=work_id)
    except SHOWN_ERRORS as error:
        facts["refusal"] = make_refusal(error)
        status = find_status(error)
    else:
        title = work.title or work_id
        facts["work"] = work
        name = citation_name(work.ids)
        if name and request.offers("get_citations"):
            facts["citations_path"] = local_address("/literature/citations", name)
    return make_view(
        request,
        "work",
        "search",
        facts,
        title=title,
        modules=("literature/search.js",),
        status=status,
    )


def citation_name(ids: dict[str, str]) -> str:
    """The identifier by which citations are asked for; empty where there is none."""
    return next((ids[kind] for kind in _CITED_BY if kind in ids), "")


async def draw_citations(request: PageRequest) -> PageAnswer:
    """What services outside list as citing or cited by a work, which need not be on the desk."""
    work_id = request.variables["work_id"]
    direction = "out" if request.query.text("direction") == "out" else "in"
    page = request.query.integer("page", 1, least=1, most=_MOST_PAGES)

    def address(which: str, number: int) -> str:
        return local_address(
            "/literature/citations",
            work_id,
            direction=which,
            page=number if number > 1 else None,
        )

    facts: dict[str, Any] = {
        "work_id": work_id,
        "direction": direction,
        "outside": None,
        "cited": None,
        "work_title": work_id,
        "tabs": [
            {
                "label": request.translate(f"literature.citations.{which}"),
                "path": address(which, 1),
                "is_on": which == direction,
                "count": None,
            }
            for which in ("in", "out")
        ],
        "list_identifiers": list_identifiers,
        "into_options": list_places(request),
        "here": address(direction, page),
        "previous": address(direction, page - 1) if page > 1 else "",
        "next": "",
    }
    status = 200
    try:
        answer = await request.ask(
            "get_citations",
            paper_id=work_id,
            direction=direction,
            outside=True,
            limit=_PER_PAGE,
            page=page,
        )
    except SHOWN_ERRORS as error:
        facts["refusal"] = make_refusal(error)
        status = find_status(error)
    else:
        outside = answer.outside
        listed = outside.cited_by if direction == "in" else outside.references
        facts["work_title"] = answer.title or work_id
        facts["outside"] = outside
        facts["cited"] = listed
        if listed is not None and page * _PER_PAGE < listed.count:
            facts["next"] = address(direction, page + 1)
    return make_view(
        request,
        "citations",
        "search",
        facts,
        title=request.translate("literature.citations.of", title=str(facts["work_title"])),
        modules=("literature/search.js",),
        status=status,
    )
