"""The list of notes: search, tags, whose they are, and pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from carrel.core.errors import CarrelError, InvalidInputError, UnavailableError
from carrel.core.pages import PageRequest, PageView, local_address
from carrel.rooms.knowledge.list_models import MAX_FILTER_TAGS, MAX_OFFSET, KnowledgeList
from carrel.rooms.knowledge.pages.addresses import LIST, NEW

PAGE_NOTES = 25
STYLES = ("knowledge/knowledge.css",)
_WHOSE = ("all", "mine", "team", "proposed")
_ORDERS = ("best", "newest")


@dataclass(frozen=True, slots=True)
class NoteFilters:
    """What the address of a list says."""

    query: str
    tags: tuple[str, ...]
    whose: str
    order: str

    @classmethod
    def read(cls, request: PageRequest) -> NoteFilters:
        """Raises InvalidInputError."""
        whose = request.query.text("whose") or "all"
        order = request.query.text("order") or "best"
        if whose not in _WHOSE or order not in _ORDERS:
            raise InvalidInputError(
                "whose or order is not one that notes have", next_step="Correct the address."
            )
        tags = tuple(dict.fromkeys(request.query.texts("tag")))[:MAX_FILTER_TAGS]
        return cls(request.query.text("q"), tags, whose, order)

    def address(self, **changes: object) -> str:
        """The address of the list with some of it changed; it begins at the first page."""
        fields: dict[str, object] = {
            "q": self.query,
            "tag": list(self.tags),
            "whose": "" if self.whose == "all" else self.whose,
            "order": "" if self.order == "best" else self.order,
        }
        return local_address(LIST, **(fields | changes))


async def draw_list(request: PageRequest) -> PageView:
    """Notes that fit the filters; where the question cannot be read, why."""
    filters = NoteFilters.read(request)
    start = request.query.integer("start", 0, most=MAX_OFFSET)
    problem: CarrelError | None = None
    explanation = None
    notes = KnowledgeList(notes=(), total=0, offset=0, reachable=0, tags=())
    try:
        notes, explanation = await request.ask_explained(
            "list_knowledge",
            query=filters.query or "*",
            tags=list(filters.tags),
            whose=filters.whose,
            order=filters.order,
            limit=PAGE_NOTES,
            offset=start,
        )
    except (InvalidInputError, UnavailableError) as error:
        problem = error
    return PageView(
        "knowledge/list.html",
        request.translate("knowledge.title"),
        {
            "filters": filters,
            "notes": notes,
            "problem": problem,
            "explanation": explanation,
            "tabs": _tabs(request, filters),
            "chips": [
                {
                    "label": f"#{tag}",
                    "remove_path": filters.address(tag=_without(filters.tags, tag)),
                }
                for tag in filters.tags
            ],
            "facets": _facets(filters, notes),
            "hidden": [
                *(("tag", tag) for tag in filters.tags),
                *([("whose", filters.whose)] if filters.whose != "all" else []),
                *([("order", filters.order)] if filters.order != "best" else []),
            ],
            **page_facts(filters.address, start, len(notes.notes), PAGE_NOTES, notes.reachable),
            "new_path": NEW,
            "may_write": request.offers("save_knowledge"),
        },
        styles=STYLES,
        status=_status(problem),
    )


def page_facts(
    address: Callable[..., str], start: int, count: int, per_page: int, total: int
) -> dict[str, object]:
    """Which notes a page shows, and the addresses of the pages beside it."""
    end = start + count
    return {
        "first": start + 1,
        "last": end,
        "previous": address(start=max(0, start - per_page) or "") if start else "",
        "next": address(start=end) if count and end < total else "",
    }


def _status(problem: CarrelError | None) -> int:
    if problem is None:
        return 200
    return 503 if isinstance(problem, UnavailableError) else 422


def _tabs(request: PageRequest, filters: NoteFilters) -> list[dict[str, object]]:
    offered = _WHOSE if request.offers("promote_knowledge") else _WHOSE[:-1]
    return [
        {
            "label": request.translate(f"knowledge.whose.{whose}"),
            "path": "/knowledge/proposals"
            if whose == "proposed"
            else filters.address(whose="" if whose == "all" else whose),
            "is_on": whose == filters.whose,
        }
        for whose in offered
    ]


def _facets(filters: NoteFilters, notes: KnowledgeList) -> list[dict[str, object]]:
    chosen = {tag.casefold() for tag in filters.tags}
    return [
        {
            "label": each.tag,
            "count": each.count,
            "is_on": each.tag.casefold() in chosen,
            "path": filters.address(
                tag=_without(filters.tags, each.tag)
                if each.tag.casefold() in chosen
                else [*filters.tags, each.tag]
            ),
        }
        for each in notes.tags
    ]


def _without(tags: Sequence[str], gone: str) -> list[str]:
    return [tag for tag in tags if tag.casefold() != gone.casefold()]
