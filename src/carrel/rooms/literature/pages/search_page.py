"""Searching outside: what each service was asked, what it gave, and what of it is here."""

from __future__ import annotations

from typing import Any

from carrel.core.pages import PageAnswer, PageRequest, local_address
from carrel.rooms.literature.models import MAX_DEPTH, MAX_QUERY_CHARACTERS, FoundLiterature
from carrel.rooms.literature.pages.sections import (
    SHOWN_ERRORS,
    find_status,
    make_refusal,
    make_view,
)
from carrel.rooms.literature.pages.services import SEARCHED_SERVICES, list_identifiers, name_service

_PER_PAGE = 20
_ORDERS = ("relevance", "newest", "most_cited")


async def draw_search(request: PageRequest) -> PageAnswer:
    query = request.query.text("q")
    page = request.query.integer("page", 1, least=1, most=MAX_DEPTH // _PER_PAGE)
    chosen = [each for each in request.query.texts("services") if each in SEARCHED_SERVICES]
    order = request.query.text("order") or _ORDERS[0]
    asked: dict[str, Any] = {
        "query": query,
        "limit": _PER_PAGE,
        "page": page,
        "services": chosen,
        "order": order if order in _ORDERS else _ORDERS[0],
        "include_preprints": not request.query.flag("no_preprints"),
    }
    facts: dict[str, Any] = {
        "asked": asked,
        "orders": [
            (each, request.translate(f"literature.search.order.{each}")) for each in _ORDERS
        ],
        "services": [(each, name_service(each), each in chosen) for each in SEARCHED_SERVICES],
        "most_characters": MAX_QUERY_CHARACTERS,
        "found": None,
        "previous": "",
        "next": "",
        "here": _address(asked, page),
        "list_identifiers": list_identifiers,
        "can_add": request.offers("add_works"),
        "into_options": list_places(request),
    }
    status = 200
    if query:
        try:
            found: FoundLiterature = await request.ask("search_literature", **asked)
        except SHOWN_ERRORS as error:
            facts["refusal"] = make_refusal(error)
            status = find_status(error)
        else:
            facts["found"] = found
            facts["previous"] = _address(asked, page - 1) if page > 1 else ""
            is_more = page * _PER_PAGE < found.total and (page + 1) * _PER_PAGE <= MAX_DEPTH
            facts["next"] = _address(asked, page + 1) if is_more else ""
    title = request.translate("literature.search.of", query=query) if query else ""
    return make_view(
        request,
        "search",
        "search",
        facts,
        title=title,
        modules=("literature/search.js",),
        status=status,
    )


def _address(asked: dict[str, Any], page: int) -> str:
    return local_address(
        "/literature",
        q=asked["query"],
        services=asked["services"],
        order=asked["order"] if asked["order"] != _ORDERS[0] else None,
        no_preprints=None if asked["include_preprints"] else "1",
        page=page if page > 1 else None,
    )


def list_places(request: PageRequest) -> list[tuple[str, str]]:
    """Where the caller may put works."""
    scopes = request.caller.scopes
    may = {"library": "references:write" in scopes, "papers": "papers:write" in scopes}
    may["both"] = may["library"] and may["papers"]
    return [
        (place, request.translate(f"literature.add.into.{place}"))
        for place in ("library", "papers", "both")
        if may[place]
    ]
