"""The first page of the papers: a search with facets, or what the corpus holds."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

from carrel.core.errors import CarrelError
from carrel.core.pages import (
    PageAnswer,
    PageFile,
    PageRedirect,
    PageRequest,
    PageView,
    local_address,
)
from carrel.rooms.papers.errors import CitationsUnknownError
from carrel.rooms.papers.models import FacetCount, PaperHit
from carrel.rooms.papers.pages.search_filters import (
    SearchFilters,
    find_places,
    query_words,
    read_filters,
)
from carrel.rooms.papers.pages.year_bars import draw_years

_PER_PAGE = 20
_MOST_RANKED = 40
_NEWEST = 8
_TOP_VALUES = 10
# Few: every question counts against the rate of the person.
_TOP_FACETS = ("keyword", "author", "venue")
_FOUND_FACETS = ("year", "author", "venue", "keyword", "tag")
_EXPORTED = 500
_EXPORTS = {
    "bibtex": ("papers.bib", "application/x-bibtex; charset=utf-8"),
    "ris": ("papers.ris", "application/x-research-info-systems; charset=utf-8"),
    "csl-json": ("papers.json", "application/json"),
    "jsonl": ("papers.jsonl", "application/jsonl"),
}
# Stars of emphasis in the text of a snippet, which marks matches by two.
_EMPHASIS = re.compile(r"(?<![\\*])\*(?!\*)")
# Of the values that only one paper has, so many are shown.
_MOST_SINGLE = 4
_STYLES = ("papers/papers.css",)


async def draw_search(request: PageRequest) -> PageAnswer:
    """What a search finds; without one, what there is."""
    filters = read_filters(request.query)
    if filters.is_empty:
        return await _draw_overview(request)
    find = _rank if filters.sort == "cited" else _search
    (hits, total, explanation), facets = await asyncio.gather(
        find(request, filters), request.ask("count_search_facets", query=filters.query)
    )
    groups = [
        (facet, _facet_rows(getattr(facets, facet), facet, filters)) for facet in _FOUND_FACETS
    ]
    is_last = len(hits) < _PER_PAGE or (total is not None and filters.page * _PER_PAGE >= total)
    facts = {
        "filters": filters,
        "hits": hits,
        "total": total,
        "explanation": explanation,
        "facets": [(facet, rows) for facet, rows in groups if rows],
        "counted": facets.counted,
        "chips": _chips(request, filters),
        "previous": filters.on_page(filters.page - 1).address() if filters.page > 1 else "",
        "next": ""
        if is_last or filters.sort == "cited"
        else filters.on_page(filters.page + 1).address(),
        "first_number": (filters.page - 1) * _PER_PAGE + 1,
        "exports": [(form, filters.address("/papers/export", format=form)) for form in _EXPORTS],
    }
    title = request.translate("papers.search.title", words=filters.words or filters.query)
    return PageView("papers/search.html", title, facts, styles=_STYLES)


async def draw_export(request: PageRequest) -> PageAnswer:
    """The papers of a search, or one paper, as a file of a bibliography."""
    form = request.query.text("format")
    name, media_type = _EXPORTS.get(form, _EXPORTS["bibtex"])
    asked: dict[str, Any] = {"format": form if form in _EXPORTS else "bibtex"}
    if named := request.query.texts("id"):
        text = await request.ask("export_papers", ids=named, **asked)
    else:
        query = read_filters(request.query).query or None
        text = await request.ask("export_papers", query=query, limit=_EXPORTED, **asked)
    return PageFile(text.body.encode(), media_type, name)


async def add_paper(request: PageRequest) -> PageAnswer:
    """Adds the paper of an identifier or of a text, and opens it."""
    given = {
        name: text for name in ("identifier", "markdown") if (text := request.form.whole_text(name))
    }
    added = await request.ask("add_paper", **{name: text.strip() for name, text in given.items()})
    paper_id = getattr(added, "paper_id", "")
    if not paper_id:
        return PageRedirect("/papers", request.translate("papers.add.under_way"))
    key = "papers.add.done" if added.is_new else "papers.add.known"
    return PageRedirect(local_address("/papers/paper", paper_id), request.translate(key))


async def _search(
    request: PageRequest, filters: SearchFilters
) -> tuple[list[dict[str, Any]], int | None, str]:
    hits, explanation = await request.ask_explained(
        "search_papers", query=filters.query, limit=_PER_PAGE, page=filters.page
    )
    words = query_words(filters.words)
    rows = [_describe_hit(request, hit, words, filters) for hit in hits]
    total = hits[0].total if hits else 0
    return rows, total, explanation.message if explanation else ""


async def _rank(
    request: PageRequest, filters: SearchFilters
) -> tuple[list[dict[str, Any]], int | None, str]:
    try:
        ranked, explanation = await request.ask_explained(
            "rank_papers", query=filters.query, by="cited_by", limit=_MOST_RANKED
        )
    except CitationsUnknownError as error:
        return [], 0, error.message
    rows = [
        {
            "paper_id": paper.paper_id,
            "title": paper.title,
            "path": local_address("/papers/paper", paper.paper_id, q=filters.words),
            "byline": _byline(request, paper.authors, paper.year, ""),
            "snippet": "",
            "why": request.translate("papers.cited_here", count=paper.cited_by_count),
            "notices": (),
            "inferred": (),
        }
        for paper in ranked
    ]
    return rows, len(rows), explanation.message if explanation else ""


def _describe_hit(
    request: PageRequest, hit: PaperHit, words: Sequence[str], filters: SearchFilters
) -> dict[str, Any]:
    places = find_places(
        words,
        title=hit.title,
        authors=" ".join(hit.authors),
        venue=hit.venue,
        text=hit.snippet_markdown,
    )
    names = [request.translate(f"papers.places.{place}") for place in places]
    why = request.translate("papers.found_in", places=", ".join(names)) if names else ""
    return {
        "paper_id": hit.paper_id,
        "title": hit.title,
        "path": local_address("/papers/paper", hit.paper_id, q=filters.words),
        "byline": _byline(request, hit.authors, hit.year, hit.venue),
        "snippet": _EMPHASIS.sub("", hit.snippet_markdown),
        "why": why or (request.translate("papers.found_otherwise") if words else ""),
        "notices": hit.notices,
        "inferred": hit.inferred,
    }


def _byline(request: PageRequest, authors: Sequence[str], year: str, venue: str) -> str:
    people = ", ".join(authors) or request.translate("papers.no_authors")
    shown = year if year != "unknown" else request.translate("papers.no_year")
    return " · ".join(part for part in (people, shown, venue) if part)


def _facet_rows(
    counts: Sequence[FacetCount], facet: str, filters: SearchFilters
) -> list[dict[str, Any]]:
    single = [
        each for each in counts if each.paper_count == 1 and not filters.has(facet, each.value)
    ]
    dropped = [] if facet == "year" else single[_MOST_SINGLE:]
    shown = [each for each in counts if each not in dropped]
    if facet == "year":
        shown = sorted(shown, key=lambda each: each.value, reverse=True)
    return [
        {
            "label": each.value,
            "count": each.paper_count,
            "is_on": (is_on := filters.has(facet, each.value)),
            "path": (
                filters.without_value(facet, each.value)
                if is_on
                else filters.with_value(facet, each.value)
            ).address(),
        }
        for each in shown
    ]


def _chips(request: PageRequest, filters: SearchFilters) -> list[dict[str, str]]:
    chips = [
        {
            "label": f"{request.translate(f'papers.facets.{facet}')}: {value}",
            "remove_path": filters.without_value(facet, value).address(),
        }
        for facet, value in filters.chosen
    ]
    if filters.first_year is not None or filters.last_year is not None:
        years = f"{filters.first_year or '…'}–{filters.last_year or '…'}"
        if filters.first_year == filters.last_year:
            years = str(filters.first_year)
        label = f"{request.translate('papers.facets.year')}: {years}"
        chips.append({"label": label, "remove_path": filters.without_value("year", "").address()})
    return chips


async def _draw_overview(request: PageRequest) -> PageView:
    statistics = await request.ask("get_corpus_statistics")
    newest: list[dict[str, Any]] = []
    top: list[tuple[str, list[dict[str, Any]]]] = []
    if statistics.papers:
        newest = await _find_newest(request)
        counted = await asyncio.gather(
            *(
                request.ask("list_top_facets", category=facet, limit=_TOP_VALUES)
                for facet in _TOP_FACETS
            )
        )
        nothing = SearchFilters()
        top = [
            (facet, _facet_rows(counts, facet, nothing))
            for facet, counts in zip(_TOP_FACETS, counted, strict=True)
            if counts
        ]
    by_year = {int(each.year): each.paper_count for each in statistics.years if each.year.isdigit()}
    years = draw_years(by_year)
    facts = {
        "filters": SearchFilters(),
        "statistics": statistics,
        "years": years,
        "earlier": sum(count for year, count in by_year.items() if years and year < years[0].year),
        "newest": newest,
        "top": top,
        "doubtful": await count_doubtful(request),
    }
    title = request.translate("papers.title")
    return PageView("papers/overview.html", title, facts, styles=_STYLES)


async def _find_newest(request: PageRequest) -> list[dict[str, Any]]:
    text = await request.ask("export_papers", format="jsonl", limit=_NEWEST)
    papers = [json.loads(line) for line in text.body.splitlines() if line]
    return [
        {
            "title": paper["title"],
            "path": local_address("/papers/paper", paper["paper_id"]),
            "byline": _byline(request, paper["authors"][:3], paper["year"], paper["venue"]),
        }
        for paper in papers
    ]


async def count_doubtful(request: PageRequest) -> int:
    """How many papers have doubtful fields; none where the corpus does not say so."""
    if not request.offers("review_papers"):
        return 0
    try:
        found = await request.ask("review_papers", limit=1)
    except CarrelError:
        return 0
    return found[0].total if found else 0
