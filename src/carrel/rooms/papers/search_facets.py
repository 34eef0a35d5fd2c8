"""Facets of a search: which years, authors, venues and keywords the papers found have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Answer, Question
from carrel.core.quoting import QuotedSource
from carrel.libraries.text.folding import text_key
from carrel.rooms.papers.models import MAX_QUERY_CHARACTERS, FacetCount, PaperMetadata
from carrel.rooms.papers.resources import SCOPES
from carrel.rooms.papers.service import Papers

# Papers that are looked at, the best first: each costs about half a millisecond.
MOST_COUNTED = 100
_FACETS = ("year", "author", "venue", "keyword", "tag")


class CountSearchFacets(Question):
    """A search whose facets are counted."""

    query: str = Field(max_length=MAX_QUERY_CHARACTERS)
    limit: int = Field(default=8, ge=1, le=50, description="Values of each facet")


class SearchFacets(Answer):
    """Facets of the `counted` best papers of a search; `total` counts all, null if unknown."""

    counted: int
    total: int | None
    year: list[FacetCount]
    author: list[FacetCount]
    venue: list[FacetCount]
    keyword: list[FacetCount]
    tag: list[FacetCount]


def _corpus(
    arguments: Mapping[str, Any], answer: SearchFacets, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("corpus", "papers")]


class SearchFacetOperations:
    """Counts facets of searches."""

    def __init__(self, papers: Papers) -> None:
        self._papers = papers

    @operation(
        title="Count facets of a search",
        description=(
            f"Years, authors, venues, keywords and tags of the {MOST_COUNTED} best papers of a "
            "search, with how many of these have each."
        ),
        scopes=SCOPES,
        quotes=_corpus,
        command="search-facets",
        is_listed=False,
        is_for_people=True,
        phrases="which years and venues do the papers of a search have; narrow a search down",
    )
    async def count_search_facets(self, question: CountSearchFacets, call: Call) -> SearchFacets:
        hits = await self._papers.search(question.query, page=1, limit=MOST_COUNTED)
        papers = [await self._papers.stored_metadata(hit.paper_id) for hit in hits]
        counts = {name: _count(papers, name)[: question.limit] for name in _FACETS}
        total = hits[0].total if hits else 0
        return SearchFacets(counted=len(papers), total=total, **counts)


def _values(paper: PaperMetadata, facet: str) -> Sequence[str]:
    many = {"author": paper.authors, "keyword": paper.keywords, "tag": paper.tags}
    if facet in many:
        return many[facet]
    one = paper.year if facet == "year" else paper.venue
    return (one,) if one and one != "unknown" else ()


def _count(papers: Sequence[PaperMetadata], facet: str) -> list[FacetCount]:
    """The values, most frequent first; spellings that differ in case alone are one."""
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for paper in papers:
        for key, value in {text_key(each): each for each in _values(paper, facet)}.items():
            counts[key] += 1
            spelled.setdefault(key, value)
    ranked = sorted(counts.items(), key=lambda each: (-each[1], spelled[each[0]]))
    return [FacetCount(value=spelled[key], paper_count=count) for key, count in ranked]
