"""Snowballing: following citations from seeds in rounds, with stop rules and counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.core.paging import explain_past_end
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.papers.citation_models import (
    BriefPaper,
    FoundBySnowball,
    PrismaCounts,
    Snowball,
    SnowballPapers,
    SnowballRound,
)
from carrel.rooms.papers.citation_ports import CitationNeighbours, CitationStore
from carrel.rooms.papers.citations import PaperCitations
from carrel.rooms.papers.service import first_of_page

# Papers whose neighbours are asked for at once.
_FOLLOWED_AT_ONCE = 500

Stopped = Literal["nothing new", "few new", "papers", "rounds"]


@dataclass(frozen=True, slots=True)
class _Find:
    """A paper met: in which round, from which paper, and whether it cites that one."""

    paper: BriefPaper
    round: int
    origin: str
    cites_origin: bool


class Snowballing:
    """Follows citations over a store of them."""

    def __init__(self, citations: PaperCitations, store: CitationStore) -> None:
        self._citations = citations
        self._store = store

    async def run(self, question: SnowballPapers) -> Snowball:
        """PaperNotFoundError for a seed that does not exist; CitationsUnknownError."""
        seeds = list(dict.fromkeys(await self._citations.find_ids(question.seeds)))
        coverage = await self._citations.need_lists()
        search = _Search(question, self._store, seeds)
        stopped = await search.run()
        found = list(search.found.values())
        first = first_of_page(question.page, question.limit)
        missing = await self._store.list_missing([*seeds, *search.found], question.limit)
        unread = sum(each.without_references for each in search.rounds)
        rounds = search.rounds
        return Snowball(
            seeds=len(seeds),
            stopped=stopped,
            message=_explain(stopped, len(found), unread, question.direction)
            + f" {coverage.with_references:,} of {coverage.papers:,} papers of the corpus have a "
            "known reference list."
            + _explain_doubt(missing.doubtful_count)
            + _explain_page(question, len(found)),
            rounds=rounds,
            prisma=PrismaCounts(
                identified_from_citation_searching=sum(each.links for each in rounds),
                removed_as_duplicates=sum(each.duplicates for each in rounds),
                removed_by_automation_tools=sum(
                    each.excluded_by_year + each.excluded_by_query for each in rounds
                ),
                left_to_screen=len(found),
            ),
            paper_count=len(found),
            papers=[
                FoundBySnowball(
                    **each.paper.model_dump(),
                    round=each.round,
                    origin=each.origin,
                    cites_origin=each.cites_origin,
                )
                for each in found[first : first + question.limit]
            ],
            not_in_corpus_count=missing.count,
            not_in_corpus=list(missing.works),
            may_be_in_corpus_count=missing.doubtful_count,
        )


def _explain_page(question: SnowballPapers, count: int) -> str:
    """What to say of a page past the last one; empty for any other."""
    if not 0 < count <= first_of_page(question.page, question.limit):
        return ""
    return f" {explain_past_end(question.page, question.limit, count, 'papers').message}"


class _Search:
    """One run: what was found so far, and the counts of its rounds."""

    def __init__(
        self, question: SnowballPapers, store: CitationStore, seeds: Sequence[str]
    ) -> None:
        self._question = question
        self._store = store
        self._front = list(seeds)
        self._seen = set(seeds)
        self._matching: frozenset[str] | None = None
        self.found: dict[str, _Find] = {}
        self.rounds: list[SnowballRound] = []

    async def run(self) -> Stopped:
        question = self._question
        if question.query is not None:
            self._matching = await self._store.find_matching(parse_paper_query(question.query))
        for number in range(1, question.rounds + 1):
            done = await self._run_round(number)
            self.rounds.append(done)
            if not done.new:
                return "nothing new"
            if len(self.found) >= question.max_papers:
                return "papers"
            if done.new < question.min_new_share * done.links:
                return "few new"
        return "rounds"

    async def _run_round(self, number: int) -> SnowballRound:
        front, self._front = self._front, []
        read = await self._store.keep_with_references(front)
        links = duplicates = by_year = by_query = 0
        for first in range(0, len(front), _FOLLOWED_AT_ONCE):
            part = front[first : first + _FOLLOWED_AT_ONCE]
            near = await self._store.list_neighbours(part)
            met = [each for paper_id in part for each in self._links(paper_id, near)]
            fresh = dict.fromkeys(other for _, other, _ in met if other not in self._seen)
            papers = {
                each.paper_id: each for each in await self._store.describe_papers(list(fresh))
            }
            for origin, other, cites_origin in met:
                if len(self.found) >= self._question.max_papers:
                    break
                links += 1
                if other in self._seen:
                    duplicates += 1
                    continue
                self._seen.add(other)
                paper = papers[other]
                if not self._is_in_years(paper):
                    by_year += 1
                elif self._matching is not None and other not in self._matching:
                    by_query += 1
                else:
                    self.found[other] = _Find(paper, number, origin, cites_origin)
                    self._front.append(other)
        return SnowballRound(
            round=number,
            followed=len(front),
            without_references=len(front) - len(read),
            links=links,
            duplicates=duplicates,
            excluded_by_year=by_year,
            excluded_by_query=by_query,
            new=len(self._front),
        )

    def _links(
        self, paper_id: str, near: Mapping[str, CitationNeighbours]
    ) -> Iterator[tuple[str, str, bool]]:
        """Where a paper leads: origin, paper met, and whether that one cites the origin."""
        found = near.get(paper_id)
        if found is None:
            return
        if self._question.direction != "in":
            yield from ((paper_id, other, False) for other in found.cited)
        if self._question.direction != "out":
            yield from ((paper_id, other, True) for other in found.citing)

    def _is_in_years(self, paper: BriefPaper) -> bool:
        """A paper without a year stays: nobody knows that it is out of range."""
        if not paper.year.isdecimal():
            return True
        first, last = self._question.year_from, self._question.year_to
        return (first is None or first <= int(paper.year)) and (
            last is None or int(paper.year) <= last
        )


_STOPPED: dict[Stopped, str] = {
    "nothing new": "Stopped because a round found nothing new.",
    "few new": "Stopped because too small a share of the finds was new.",
    "papers": "Stopped at the greatest number of papers: raise max_papers to go on.",
    "rounds": "Stopped after the rounds that were asked for; more may follow.",
}


def _explain_doubt(works: int) -> str:
    if not works:
        return ""
    named = "1 cited work" if works == 1 else f"{works:,} cited works"
    return (
        f" {named} may be in the corpus and stand{'s' if works == 1 else ''} in neither list: "
        "get_citations names the papers under may_be."
    )


def _explain(stopped: Stopped, found: int, unread: int, direction: str) -> str:
    told = [f"{found:,} paper{'' if found == 1 else 's'} found.", _STOPPED[stopped]]
    if unread and direction != "in":
        told.append(f"What {unread:,} of the papers followed cite is not known.")
    return " ".join(told)
