"""A paper to read: outline, text, and a margin with what belongs to it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from carrel.core.answer import Binary, Embedded, Text
from carrel.core.errors import CarrelError, NotFoundError
from carrel.core.pages import (
    PageAnswer,
    PageFile,
    PageRequest,
    PageView,
    local_address,
)
from carrel.rooms.papers.errors import CitationsUnknownError
from carrel.rooms.papers.pages.corrections_page import find_doubts
from carrel.rooms.papers.pages.search_filters import query_words
from carrel.rooms.papers.pages.year_bars import draw_years

_PER_TAB = 100
_SIMILAR = 10
_CLAIM_WIDTH = 4_000
_LONGEST_PAGE_NUMBER = 9
# A day: what a hash names never changes, but the paper may get another PDF.
_KEEP_SECONDS = 86_400
_DEPTHS = ("this", "all")
VERDICT_KINDS = {
    "supports": "good",
    "contradicts": "danger",
    "mixed": "warn",
    "undecided": "info",
    "silent": "plain",
}

Facts = dict[str, object]


async def draw_paper(request: PageRequest) -> PageAnswer:
    """The paper with one part of its text and one tab of its margin."""
    query = request.query
    tab = query.text("tab")
    if tab not in _TABS:
        tab = "found" if query.text("q") or query.text("passage") else "details"
    if query.text("only") == "part":
        return await _draw_part(request)
    return await _draw(request, tab, await _TABS[tab](request, request.variables["paper_id"]))


async def check_claim(request: PageRequest) -> PageAnswer:
    """A claim that was posted, with what this paper or the whole corpus says of it."""
    paper_id = request.variables["paper_id"]
    text = request.form.text("claim")[:_CLAIM_WIDTH]
    depth = request.form.text("within")
    facts: Facts = {"claim": text, "within": depth if depth in _DEPTHS else "this"}
    within = {} if depth == "all" else {"within": [paper_id]}
    try:
        facts["checked"] = await request.ask("check_claim", text=text, **within)
    except CarrelError as error:
        facts["claim_error"] = error
    return await _draw(request, "claim", {**_no_claim(), **facts})


async def draw_figure(request: PageRequest) -> PageAnswer:
    """The image of a figure; a kind that browsers do not show is a file to save."""
    blocks = await request.ask(
        "get_paper_figure",
        paper_id=request.variables["paper_id"],
        figure=request.query.text("label"),
    )
    for part in blocks.parts:
        if isinstance(part, Binary):
            return PageFile(part.body, part.media_type, keep_seconds=_KEEP_SECONDS)
        if isinstance(part, Embedded) and isinstance(part.content, Binary):
            kind = part.content.media_type.rpartition("/")[2].partition("+")[0]
            return PageFile(part.content.body, part.content.media_type, f"figure.{kind}")
    raise NotFoundError(
        "image", request.query.text("label"), next_step="The text of the paper may describe it."
    )


async def draw_page_image(request: PageRequest) -> PageAnswer:
    """A page of the PDF as a picture."""
    blocks = await request.ask(
        "get_paper_page",
        paper_id=request.variables["paper_id"],
        page=_read_page_number(request.variables["page"]),
        width=request.query.integer("width", 800, least=120, most=1_600),
    )
    image = next(part for part in blocks.parts if isinstance(part, Binary))
    return PageFile(image.body, image.media_type, keep_seconds=_KEEP_SECONDS)


def _read_page_number(text: str) -> int:
    """The number, or 0, which no page has."""
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_PAGE_NUMBER else 0


async def _find_in_library(request: PageRequest, doi: str | None) -> str:
    """The page of the work in the library; empty where it is not there or has no DOI."""
    if not doi or not request.offers("search_references"):
        return ""
    try:
        found = await request.ask("search_references", query=f'doi:"{doi}"', limit=1)
    except CarrelError:
        return ""
    return local_address("/references/item", found.references[0]["id"]) if found.total else ""


async def _draw(request: PageRequest, tab: str, tab_facts: Mapping[str, object]) -> PageView:
    paper = await request.ask("get_paper_metadata", paper_id=request.variables["paper_id"])
    reading, doubts, library_path = await asyncio.gather(
        _read_part(request, paper.paper_id),
        find_doubts(request, paper.paper_id),
        _find_in_library(request, paper.doi),
    )
    place = _PaperAddresses(request, paper.paper_id)
    facts: Facts = {
        "paper": paper,
        "reading": reading,
        "doubts": doubts,
        "library_path": library_path,
        "tab": tab,
        "tabs": _tab_links(request, paper, reading, place, tab),
        "place": place,
        "words": query_words(request.query.text("q")),
        "query": request.query.text("q"),
        "verdict_kinds": VERDICT_KINDS,
        "short_citation": _cite_shortly(paper),
        **tab_facts,
    }
    if tab == "details":
        facts |= await _cite(request, paper.paper_id)
    return PageView(
        "papers/paper.html",
        paper.title,
        facts,
        modules=("papers/reader.js",),
        styles=("papers/papers.css", "papers/reader.css"),
    )


async def _draw_part(request: PageRequest) -> PageView:
    """One part of the text alone, for a reader who scrolls on."""
    reading = await _read_part(request, request.variables["paper_id"])
    place = _PaperAddresses(request, reading.paper_id)
    return PageView("papers/part.html", reading.title, {"reading": reading, "place": place})


async def _read_part(request: PageRequest, paper_id: str) -> Any:
    query = request.query
    asked = {
        "part": query.optional_integer("part", least=1, most=100_000),
        "section": query.text("section") or None,
        "query": query.text("q") or None,
        "passage_id": query.text("passage") or None,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    return await request.ask("read_paper_part", paper_id=paper_id, **given)


class _PaperAddresses:
    """Addresses of the same paper that keep what is looked for."""

    def __init__(self, request: PageRequest, paper_id: str) -> None:
        self._paper_id = paper_id
        names = ("q", "passage", "part", "tab")
        self._kept = {name: request.query.text(name) for name in names}

    def at(self, anchor: str = "", **fields: object) -> str:
        """The address with other fields; an empty one is left out."""
        address = local_address("/papers/paper", self._paper_id, **(self._kept | fields))
        return f"{address}#{anchor}" if anchor else address

    def near(self, anchor: str = "", **fields: object) -> str:
        """The same as seen from the page itself: an outline may have hundreds of these."""
        fields_only = local_address("", **(self._kept | fields)).removeprefix("/") or "?"
        return f"{fields_only}#{anchor}" if anchor else fields_only

    def page_image(self, page: int, width: int) -> str:
        return local_address("/papers/page", str(page), self._paper_id, width=width)

    def figure(self, label: str) -> str:
        return local_address("/papers/figure", self._paper_id, label=label)


def _tab_links(
    request: PageRequest, paper: Any, reading: Any, place: _PaperAddresses, tab: str
) -> list[dict[str, object]]:
    counts = {"found": len(reading.found), "figures": paper.figures, "cites": paper.references}
    is_shown = {
        "found": bool(request.query.text("q") or request.query.text("passage")),
        "figures": bool(paper.figures),
        "pages": reading.has_pdf,
        "claim": request.offers("check_claim"),
    }
    return [
        {
            "name": name,
            "label": request.translate(f"papers.tabs.{name}"),
            "path": place.near("margin", tab=name),
            "is_on": name == tab,
            "count": counts.get(name) or None,
        }
        for name in _TABS
        if is_shown.get(name, True)
    ]


def _cite_shortly(paper: Any) -> str:
    """Such as `Vaswani et al. 2017`, to stand behind a quotation."""
    families = (each.partition(",")[0].split() for each in paper.authors)
    names = [family[-1] for family in families if family]
    people = names[0] if names else paper.title
    if len(names) == 2:
        people = f"{names[0]} & {names[1]}"
    elif len(names) > 2:
        people = f"{names[0]} et al."
    return f"{people} {paper.year}" if paper.year != "unknown" else people


async def _cite(request: PageRequest, paper_id: str) -> Facts:
    """The paper as BibTeX and in the usual style; a paper that cannot be cited has none."""
    bibtex = await request.ask("get_paper_bibtex", paper_id=paper_id)
    citation = ""
    if request.offers("cite_references"):
        try:
            citation = (await request.ask("cite_references", ids=[paper_id])).text.strip()
        except CarrelError:
            citation = ""
    return {"bibtex": bibtex.body, "citation": citation}


async def _tab_of_nothing(request: PageRequest, paper_id: str) -> Facts:
    return {}


async def _tab_figures(request: PageRequest, paper_id: str) -> Facts:
    figures = await request.ask("list_paper_figures", paper_id=paper_id)
    label = request.query.text("figure")
    table = ""
    if label:
        blocks = await request.ask("get_paper_figure", paper_id=paper_id, figure=label)
        table = "\n\n".join(part.body for part in blocks.parts if isinstance(part, Text))
    return {"figures": figures, "chosen_figure": label, "figure_text": table}


async def _tab_pages(request: PageRequest, paper_id: str) -> Facts:
    counted = await request.ask("count_paper_pages", paper_id=paper_id)
    page = request.query.integer("page", 1, least=1, most=100_000)
    return {"page": min(page, counted.pages or 1), "pages": counted.pages}


async def _tab_citations(request: PageRequest, paper_id: str, direction: str) -> Facts:
    page = request.query.integer("list", 1, least=1, most=200)
    found = await request.ask(
        "get_citations", paper_id=paper_id, direction=direction, limit=_PER_TAB, page=page
    )
    listed = [*(found.references or ()), *(found.cited_by or ())]
    years = Counter(int(each.year) for each in listed if str(each.year or "").isdigit())
    return {
        "citations": found,
        "list_page": page,
        "per_list": _PER_TAB,
        "years": draw_years(years) if len(years) > 1 else [],
    }


async def _tab_cites(request: PageRequest, paper_id: str) -> Facts:
    return await _tab_citations(request, paper_id, "out")


async def _tab_cited(request: PageRequest, paper_id: str) -> Facts:
    return await _tab_citations(request, paper_id, "in")


async def _tab_similar(request: PageRequest, paper_id: str) -> Facts:
    coupled, message = await _find_related(request, paper_id, "coupling")
    together, _ = await _find_related(request, paper_id, "co-citation")
    paper = await request.ask("get_paper_metadata", paper_id=paper_id)
    words = " ".join(query_words(paper.title)[:20])
    alike = await request.ask("search_papers", query=words, limit=_SIMILAR) if words else []
    return {
        "coupled": coupled,
        "together": together,
        "alike": [hit for hit in alike if hit.paper_id != paper.paper_id],
        "similar_message": message,
    }


async def _find_related(request: PageRequest, paper_id: str, by: str) -> tuple[list[Any], str]:
    """Papers near it, and why there are none; nothing may be known of its citations."""
    try:
        found, explanation = await request.ask_explained(
            "find_related_papers", papers=[paper_id], by=by, limit=_SIMILAR
        )
    except CitationsUnknownError as error:
        return [], error.message
    return found, explanation.message if explanation else ""


def _no_claim() -> Facts:
    return {"claim": "", "within": "this", "checked": None, "claim_error": None}


async def _tab_claim(request: PageRequest, paper_id: str) -> Facts:
    return {**_no_claim(), "claim": request.query.text("claim")[:_CLAIM_WIDTH]}


_TABS: dict[str, Callable[[PageRequest, str], Awaitable[Facts]]] = {
    "found": _tab_of_nothing,
    "details": _tab_of_nothing,
    "figures": _tab_figures,
    "pages": _tab_pages,
    "cites": _tab_cites,
    "cited": _tab_cited,
    "similar": _tab_similar,
    "claim": _tab_claim,
}
