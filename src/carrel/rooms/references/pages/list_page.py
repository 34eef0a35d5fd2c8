"""The library as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from carrel.core.pages import PageAnswer, PageRequest, PageView
from carrel.rooms.references.browsing_models import MAX_SELECTED, BrowsedReferences
from carrel.rooms.references.pages.group_rows import GroupRows, list_group_rows
from carrel.rooms.references.pages.labels import type_label
from carrel.rooms.references.pages.library_filters import SORTS, LibraryFilters

ROWS_PER_PAGE = 100
STYLES = ("references/references.css",)


async def draw_library(request: PageRequest) -> PageAnswer:
    filters = LibraryFilters.read(request.query)
    position = request.query.integer("at", 0, most=10**7)
    answer: BrowsedReferences = await request.ask(
        "browse_references",
        **filters.question(),
        **_read_place(request),
        position=position,
        limit=ROWS_PER_PAGE,
    )
    groups = await list_group_rows(request, filters) if answer.library_total else GroupRows()
    return PageView(
        "references/library.html",
        request.translate("references.title"),
        {
            "answer": answer,
            "filters": filters,
            "explanation": await _explain_empty(request, filters, answer),
            "question": filters.question(),
            "heads": [_head(request, filters, sort) for sort in SORTS],
            "type_rows": _type_rows(request, filters, answer),
            "text_rows": _text_rows(request, filters),
            "groups": groups,
            "best_path": replace(filters, sort="relevance", is_descending=False).address(),
            "chips": _chips(request, filters),
            "previous": _previous_address(filters, answer),
            "next": _next_address(filters, answer),
            "removed": request.query.texts("removed")[:MAX_SELECTED],
            "max_selected": MAX_SELECTED,
            "may_write": request.offers("remove_references"),
            "may_organize": request.offers("organize_references"),
            "may_share": request.offers("list_libraries"),
        },
        modules=("references/table.js",),
        styles=STYLES,
    )


async def _explain_empty(
    request: PageRequest, filters: LibraryFilters, answer: BrowsedReferences
) -> str:
    """Why a search finds nothing, and what comes near; empty where something is found."""
    if answer.rows or not filters.words:
        return ""
    _, explanation = await request.ask_explained("search_references", query=filters.query_text())
    return "" if explanation is None else explanation.message


def _read_place(request: PageRequest) -> dict[str, Any]:
    """The place of a cursor in the address: its value and the id of the row beside it."""
    for name in ("after", "before"):
        reference_id = request.query.text(f"{name}_id")
        if reference_id:
            value = request.query.text(name)[:500]
            return {name: {"value": value, "id": reference_id[:500]}}
    return {}


def _previous_address(filters: LibraryFilters, answer: BrowsedReferences) -> str:
    if answer.previous is not None:
        if answer.position <= ROWS_PER_PAGE:
            return filters.address()
        return filters.address(before=answer.previous.value, before_id=answer.previous.id)
    if filters.sort == "relevance" and answer.position > 0:
        return filters.address(at=max(0, answer.position - ROWS_PER_PAGE) or None)
    return ""


def _next_address(filters: LibraryFilters, answer: BrowsedReferences) -> str:
    if answer.next is not None:
        return filters.address(after=answer.next.value, after_id=answer.next.id)
    follows = answer.position + len(answer.rows)
    if filters.sort == "relevance" and answer.rows and follows < answer.total:
        return filters.address(at=follows)
    return ""


def _head(request: PageRequest, filters: LibraryFilters, sort: str) -> dict[str, str]:
    direction = "descending" if filters.is_descending else "ascending"
    return {
        "sort": sort,
        "label": request.translate(f"references.columns.{sort}"),
        "path": filters.sorted_by(sort).address(),
        "direction": direction if filters.sort == sort else "",
    }


def _type_rows(
    request: PageRequest, filters: LibraryFilters, answer: BrowsedReferences
) -> list[dict[str, object]]:
    return [
        {
            "label": type_label(request, row.type),
            "count": row.count,
            "path": replace(filters, type="" if row.type == filters.type else row.type).address(),
            "is_on": row.type == filters.type,
        }
        for row in answer.types
    ]


def _text_rows(request: PageRequest, filters: LibraryFilters) -> list[dict[str, object]]:
    return [
        {
            "label": request.translate(f"references.text.{name}"),
            "path": replace(filters, text="" if name == filters.text else name).address(),
            "is_on": name == filters.text,
        }
        for name in ("yes", "no")
    ]


def _chips(request: PageRequest, filters: LibraryFilters) -> list[dict[str, str]]:
    chips: list[tuple[str, LibraryFilters]] = []
    if filters.words:
        without = replace(filters, words="")
        if without.sort == "relevance":
            without = replace(without, sort="added", is_descending=True)
        chips.append((f"“{filters.words}”", without))
    if filters.type:
        chips.append((type_label(request, filters.type), replace(filters, type="")))
    if filters.first_year is not None or filters.last_year is not None:
        first = "" if filters.first_year is None else filters.first_year
        last = "" if filters.last_year is None else filters.last_year
        label = str(first) if first == last else f"{first}–{last}"
        chips.append((label, replace(filters, first_year=None, last_year=None)))
    if filters.text:
        label = request.translate(f"references.text.{filters.text}")
        chips.append((label, replace(filters, text="")))
    if filters.collection:
        chips.append((filters.collection, replace(filters, collection="")))
    if filters.tag:
        chips.append((f"#{filters.tag}", replace(filters, tag="")))
    if filters.read_state:
        label = request.translate(f"references.read.{filters.read_state}")
        chips.append((label, replace(filters, read_state="")))
    return [{"label": label, "remove_path": rest.address()} for label, rest in chips]
