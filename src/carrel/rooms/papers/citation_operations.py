"""The operations on citations inside the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Explained, Explanation, Text
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.quoting import QuotedSource
from carrel.rooms.papers.citation_models import (
    BriefPaper,
    CitationAnswer,
    CitationPath,
    DrawCitations,
    FindCitationPath,
    FindRelatedPapers,
    GetCitations,
    RankedCitedPaper,
    RankPapers,
    RelatedPaper,
    Snowball,
    SnowballPapers,
)
from carrel.rooms.papers.citations import PaperCitations
from carrel.rooms.papers.outside_citation_lookup import OutsideCitationLookup
from carrel.rooms.papers.resources import SCOPES, named_paper
from carrel.rooms.papers.snowballing import Snowballing


def _cited(
    arguments: Mapping[str, Any], answer: CitationAnswer, caller: Caller
) -> Iterable[QuotedSource]:
    own = [QuotedSource("paper", answer.paper_id, answer.title)] if answer.paper_id else []
    return [*own, *_list(answer.cited_by or ()), *_list_outside(answer)]


def _list_outside(answer: CitationAnswer) -> list[QuotedSource]:
    lists = [] if answer.outside is None else [answer.outside.references, answer.outside.cited_by]
    works = [work for each in lists if each is not None for work in each.works]
    return [
        QuotedSource("work", next(iter(work.ids.values()), "unnamed"), work.title or work.text)
        for work in works
    ]


def _papers(
    arguments: Mapping[str, Any], answer: list[BriefPaper], caller: Caller
) -> Iterable[QuotedSource]:
    return _list(answer)


def _path(
    arguments: Mapping[str, Any], answer: CitationPath, caller: Caller
) -> Iterable[QuotedSource]:
    return _list(answer.steps or ())


def _found(
    arguments: Mapping[str, Any], answer: Snowball, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("corpus", "papers"), *_list(answer.papers)]


def _list(papers: Iterable[BriefPaper]) -> list[QuotedSource]:
    return [QuotedSource("paper", paper.paper_id, paper.title) for paper in papers]


class CitationOperations:
    """Who cites whom in the corpus."""

    def __init__(
        self,
        citations: PaperCitations,
        snowballing: Snowballing,
        outside: OutsideCitationLookup,
    ) -> None:
        self._citations = citations
        self._snowballing = snowballing
        self._outside = outside

    @operation(
        title="Get citations",
        description=(
            "What a paper cites (out) and which corpus papers cite it (in), off line; outside "
            "asks services too. Null: not asked for, or unknown."
        ),
        scopes=SCOPES,
        quotes=_cited,
        rooms_used={"outside": "literature"},
        timeout_seconds=120.0,
        command="citations",
        next_command="carrel papers related PAPER_ID finds papers near it by their citations.",
        phrases=(
            "who cites this paper; who cites it in my collection; what does this paper cite; "
            "reference list of a paper; bibliography of an article in the corpus; which papers "
            "here cite …; cited by; references of a paper; how often is a paper cited in the "
            "corpus; outgoing and incoming citations; works in the reference list of an article; "
            "has anybody cited this study; cited works; who refers to this paper"
        ),
    )
    async def get_citations(self, question: GetCitations, call: Call) -> CitationAnswer:
        if question.outside:
            return await self._outside.get(question, call)
        return await self._citations.get(question)

    @operation(
        title="Find related papers",
        description=(
            "Papers near one or several by citations: coupling (they cite the same works, in the "
            "corpus or not) or co-citation (later papers cite them together)."
        ),
        scopes=SCOPES,
        quotes=_papers,
        command="related",
        is_listed=False,
        cost=2.0,
        phrases=(
            "papers related to this one by citations; bibliographic coupling; co-citation; papers "
            "that cite the same works; papers often cited together with this one; similar papers "
            "by references; neighbours of a paper in the citation graph; more papers like this "
            "one; similar articles; articles that share references with this one; what else "
            "should I read after this"
        ),
    )
    async def find_related_papers(
        self, question: FindRelatedPapers, call: Call
    ) -> list[RelatedPaper] | Explained:
        found = await self._citations.find_related(question.papers, question.by, question.limit)
        if found:
            return found
        missing = (
            "No other known reference list names a work that these papers are known to cite."
            if question.by == "coupling"
            else "No known reference list names one of these papers together with another."
        )
        return Explained(found, Explanation(message=missing))

    @operation(
        title="Find a citation path",
        description=(
            "A shortest chain of citations between two papers of the corpus, step by step with "
            "which cites which."
        ),
        scopes=SCOPES,
        quotes=_path,
        command="path",
        is_listed=False,
        cost=2.0,
        phrases=(
            "how are two papers connected by citations; citation path between papers; chain of "
            "citations from one paper to another; shortest path in the citation graph; does this "
            "paper build on that one; how does one study relate to another through citations; "
            "link between two papers in the citation network; does an article lead back to "
            "another"
        ),
    )
    async def find_citation_path(self, question: FindCitationPath, call: Call) -> CitationPath:
        return await self._citations.find_path(question)

    @operation(
        title="Rank papers by citations",
        description=(
            "The most influential papers of the corpus, all or those that match a query: by "
            "PageRank over its citations (pagerank in millionths, all papers together 1,000,000) "
            "or cited_by. Both rankings answer cited_by_count, the papers here that cite it."
        ),
        scopes=SCOPES,
        quotes=_papers,
        command="rank",
        is_listed=False,
        cost=2.0,
        phrases=(
            "most important papers; most cited papers in the corpus; PageRank of papers; key "
            "papers about a topic by citations; influential papers; seminal works in my "
            "collection; classics of the field; which paper is cited most; landmark articles of "
            "the field; must-read papers; most influential study; important papers first"
        ),
    )
    async def rank_papers(
        self, question: RankPapers, call: Call
    ) -> list[RankedCitedPaper] | Explained:
        found = await self._citations.rank(question.query, question.by, question.limit)
        if found:
            return found
        return Explained(found, Explanation(message="No paper of the corpus matches the query."))

    @operation(
        title="Snowball papers",
        description=(
            "Follow citations from seed papers in rounds, backward, forward or both, until nothing "
            "new comes: papers found, counts of every round and for a PRISMA 2020 diagram, and "
            "the works cited most that the corpus lacks."
        ),
        scopes=SCOPES,
        quotes=_found,
        command="snowball",
        is_listed=False,
        cost=3.0,
        phrases=(
            "snowballing from seed papers; backward and forward citation searching; PRISMA counts "
            "of citation searching; systematic review by citations; follow the references of "
            "these papers; which cited works are missing from the corpus; what should I get next; "
            "works that many of my papers cite and I do not have; go through the reference lists "
            "for further studies; missing literature; papers I should add; which studies did I "
            "overlook"
        ),
    )
    async def snowball_papers(self, question: SnowballPapers, call: Call) -> Snowball:
        return await self._snowballing.run(question)

    @operation(
        title="Draw citations",
        description="The papers around one paper as a Mermaid or DOT graph; arrows point to cited.",
        scopes=SCOPES,
        quotes=named_paper,
        command="citation-graph",
        is_listed=False,
        phrases=(
            "draw the citation graph of a paper; Mermaid diagram of citations; Graphviz DOT of "
            "who cites whom; picture of the citations around a paper; diagram of who cites whom; "
            "visualise the citation network; plot the citation graph; map of citations"
        ),
    )
    async def draw_citations(self, question: DrawCitations, call: Call) -> Text:
        drawn = await self._citations.draw(question.paper_id, question.format, question.limit)
        return Text(
            drawn, "text/vnd.mermaid" if question.format == "mermaid" else "text/vnd.graphviz"
        )
