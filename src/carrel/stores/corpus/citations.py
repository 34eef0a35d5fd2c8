"""Citations inside a corpus of segments, as the papers room asks for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import pairwise
from math import sqrt

from carrel.libraries.query.papers import PaperQuery
from carrel.rooms.papers.citation_models import (
    BriefPaper,
    CitingPaper,
    Follow,
    PathStep,
    RankedCitedPaper,
    RankingMeasure,
    RelatedPaper,
)
from carrel.rooms.papers.citation_ports import (
    CitationCoverage,
    CitationNeighbours,
    CitingPage,
    LinkedReference,
    MissingWorks,
)
from carrel.rooms.papers.models import MAX_DEPTH, SHOWN_AUTHORS
from carrel.stores.corpus.citation_edges import CorpusGraph, load_graph
from carrel.stores.corpus.citation_keys import is_preprint_doi
from carrel.stores.corpus.citation_lookups import (
    count_entries,
    count_lists,
    count_shared_references,
    find_citing,
    find_versions,
    has_citations,
    link_references,
    list_references,
)
from carrel.stores.corpus.folder import CorpusSession
from carrel.stores.corpus.missing_works import find_missing_works
from carrel.stores.corpus.papers import (
    FoundPaper,
    distinct_names,
    find_paper,
    find_papers,
    ids_of_rows,
    papers_of_rows,
    sort_by_year,
)
from carrel.stores.corpus.statistics import count_texts
from carrel.stores.corpus.store import CorpusPaperStore

_MILLION = 1_000_000
# Digits of a PageRank that do not depend on the order of its sums.
_RANK_DIGITS = 9


class CorpusCitations:
    """The citations of the corpus that a store reads; whoever opened the store closes it."""

    def __init__(self, store: CorpusPaperStore) -> None:
        self._store = store

    async def count_coverage(self) -> CitationCoverage:
        def work(session: CorpusSession) -> CitationCoverage:
            version = session.version
            older = sum(each.live_papers for each in version.segments if not has_citations(each))
            return CitationCoverage(
                version.papers, count_lists(session), older, count_texts(session)
            )

        return await self._store.run(work)

    async def list_references(self, paper_id: str) -> list[LinkedReference] | None:
        def work(session: CorpusSession) -> list[LinkedReference] | None:
            paper = find_paper(session, paper_id)
            works = None if paper is None else list_references(session, paper)
            if paper is None or works is None:
                return None
            links = link_references(session, paper, works)
            rows = {row for each in links for row in (each.resolution.row,) if row is not None}
            rows |= {row for each in links for row in each.resolution.candidates}
            ids = ids_of_rows(session, sorted(rows))
            return [
                LinkedReference(
                    link.number,
                    link.work,
                    None if link.resolution.row is None else ids[link.resolution.row],
                    link.resolution.kind,
                    tuple(sorted(ids[row] for row in link.resolution.candidates)),
                )
                for link in links
            ]

        return await self._store.run(work)

    async def list_citing(self, paper_id: str, *, first: int, count: int) -> CitingPage:
        def work(session: CorpusSession) -> CitingPage:
            found = find_citing(session, _versions_of(session, paper_id))
            links = {link.row: link for link in found.links}
            rows = sort_by_year(session, links)[first : first + count]
            cited = ids_of_rows(session, [links[row].cited_row for row in rows])
            papers = tuple(
                CitingPaper(
                    **_brief(paper).model_dump(),
                    number=links[paper.row].number,
                    linked_by=links[paper.row].kind,
                    cites=cited[links[paper.row].cited_row],
                )
                for paper in papers_of_rows(session, rows)
            )
            return CitingPage(papers, len(links), len(found.ambiguous_rows))

        return await self._store.run(work)

    async def list_versions(self, paper_id: str) -> list[BriefPaper]:
        def work(session: CorpusSession) -> list[BriefPaper]:
            return [_brief(paper) for paper in _versions_of(session, paper_id)[1:]]

        return await self._store.run(work)

    async def find_coupled(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        def work(session: CorpusSession) -> list[RelatedPaper]:
            papers = find_papers(session, paper_ids)
            shared = count_shared_references(session, papers)
            for paper in papers:
                for row in find_versions(session, paper.row):
                    shared.pop(row, None)
            own = sum(count_entries(session, [paper.row for paper in papers]).values())
            lengths = count_entries(session, list(shared))
            return _related(session, shared, {row: own * lengths[row] for row in shared}, count)

        return await self._store.run(work)

    async def find_co_cited(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        def work(session: CorpusSession) -> list[RelatedPaper]:
            graph = load_graph(session)
            works = [graph.work_of(paper.row) for paper in find_papers(session, paper_ids)]
            together = graph.graph.count_co_citations(works)
            own = len({each for one in works for each in graph.graph.citing_node(one)})
            shown = _first_rows(session, graph, together)
            shared = Counter({shown[work]: times for work, times in together.items()})
            sizes = {shown[work]: own * len(graph.graph.citing_node(work)) for work in together}
            return _related(session, shared, sizes, count)

        return await self._store.run(work)

    async def find_path(
        self, start: str, end: str, max_steps: int, follow: Follow
    ) -> list[PathStep] | None:
        def work(session: CorpusSession) -> list[PathStep] | None:
            graph = load_graph(session)
            ends = find_papers(session, [start, end])
            nodes = [graph.work_of(paper.row) for paper in ends]
            found = graph.graph.find_path(nodes[0], nodes[-1], max_steps, follow)
            if found is None:
                return None
            shown = _first_rows(session, graph, found)
            # The ends are shown in the version that was asked for.
            shown |= dict(zip(nodes, (paper.row for paper in ends), strict=True))
            papers = {each.row: each for each in papers_of_rows(session, list(shown.values()))}
            is_citing = [
                following in graph.graph.cited_by_node(node) for node, following in pairwise(found)
            ]
            return [
                PathStep(**_brief(papers[shown[node]]).model_dump(), cites_next=cites)
                for node, cites in zip(found, (*is_citing, None), strict=True)
            ]

        return await self._store.run(work)

    async def rank_papers(
        self, query: PaperQuery | None, by: RankingMeasure, count: int
    ) -> list[RankedCitedPaper]:
        def work(session: CorpusSession) -> list[RankedCitedPaper]:
            graph = load_graph(session)
            ranks = graph.ranks()
            works: Iterable[int] = range(graph.graph.node_count)
            if query is not None:
                works = {graph.work_of(row) for row in self._matching_rows(session, query)}
            measured: Sequence[float] = ranks
            if by == "cited_by":
                measured = [
                    float(len(graph.graph.citing_node(node)))
                    for node in range(graph.graph.node_count)
                ]
            best = _first_works(session, graph, measured, works, count)
            shown = _first_rows(session, graph, best)
            papers = {each.row: each for each in papers_of_rows(session, list(shown.values()))}
            return [
                RankedCitedPaper(
                    **_brief(papers[shown[work]]).model_dump(),
                    rank=place,
                    pagerank=round(ranks[work] * _MILLION, 3),
                    cited_by_count=len(graph.graph.citing_node(work)),
                )
                for place, work in enumerate(best, start=1)
            ]

        return await self._store.run(work)

    async def list_neighbours(self, paper_ids: Sequence[str]) -> Mapping[str, CitationNeighbours]:
        def work(session: CorpusSession) -> Mapping[str, CitationNeighbours]:
            graph = load_graph(session)
            found: dict[str, tuple[Sequence[int], Sequence[int]]] = {}
            for paper in find_papers(session, paper_ids):
                node = graph.work_of(paper.row)
                sides = (graph.graph.cited_by_node(node), graph.graph.citing_node(node))
                found[paper.paper.paper_id] = sides
            near = {node for sides in found.values() for side in sides for node in side}
            shown = _first_rows(session, graph, near)
            rows = reversed(sort_by_year(session, shown.values()))
            places = {row: place for place, row in enumerate(rows)}
            ids = ids_of_rows(session, list(places))

            def name(nodes: Sequence[int]) -> tuple[str, ...]:
                """The ids of papers, the oldest first."""
                return tuple(
                    ids[row] for row in sorted((shown[n] for n in nodes), key=places.__getitem__)
                )

            return {
                paper_id: CitationNeighbours(name(cited), name(citing))
                for paper_id, (cited, citing) in found.items()
            }

        return await self._store.run(work)

    async def keep_with_references(self, paper_ids: Sequence[str]) -> frozenset[str]:
        def work(session: CorpusSession) -> frozenset[str]:
            return frozenset(
                paper.paper.paper_id
                for paper in find_papers(session, paper_ids)
                if paper.paper.record.references_sha256 is not None
            )

        return await self._store.run(work)

    async def find_matching(self, query: PaperQuery) -> frozenset[str]:
        def work(session: CorpusSession) -> frozenset[str]:
            return frozenset(ids_of_rows(session, self._matching_rows(session, query)).values())

        return await self._store.run(work)

    async def describe_papers(self, paper_ids: Sequence[str]) -> list[BriefPaper]:
        def work(session: CorpusSession) -> list[BriefPaper]:
            return [_brief(paper) for paper in find_papers(session, paper_ids)]

        return await self._store.run(work)

    async def list_missing(self, paper_ids: Sequence[str], count: int) -> MissingWorks:
        def work(session: CorpusSession) -> MissingWorks:
            return find_missing_works(session, find_papers(session, paper_ids), count)

        return await self._store.run(work)

    def _matching_rows(self, session: CorpusSession, query: PaperQuery) -> list[int]:
        ranked = self._store.ranking(session).search(session, query, 0, MAX_DEPTH)
        return [each.row for each in ranked]


def _versions_of(session: CorpusSession, paper_id: str) -> list[FoundPaper]:
    """A paper and its other versions; none where there is no such paper."""
    paper = find_paper(session, paper_id)
    return [] if paper is None else papers_of_rows(session, find_versions(session, paper.row))


def _related(
    session: CorpusSession, shared: Counter[int], sizes: Mapping[int, int], count: int
) -> list[RelatedPaper]:
    """The rows with most in common, the newer first where it is the same."""
    newest = sort_by_year(session, shared)
    best = sorted(newest, key=lambda row: (-shared[row], -shared[row] / sqrt(sizes[row])))
    return [
        RelatedPaper(
            **_brief(paper).model_dump(),
            shared=shared[paper.row],
            similarity=round(shared[paper.row] / sqrt(sizes[paper.row]), 4),
        )
        for paper in papers_of_rows(session, best[:count])
    ]


def _first_rows(session: CorpusSession, graph: CorpusGraph, works: Iterable[int]) -> dict[int, int]:
    """The row by which each work is shown: its published version before its preprint."""
    members = {work: graph.rows_of(work) for work in works}
    several = [row for rows in members.values() if len(rows) > 1 for row in rows]
    places = {paper.row: _version_order(paper) for paper in papers_of_rows(session, several)}
    return {
        work: min(rows, key=places.__getitem__) if len(rows) > 1 else rows[0]
        for work, rows in members.items()
    }


def _version_order(paper: FoundPaper) -> tuple[bool, str]:
    doi = paper.paper.record.doi
    return not doi or is_preprint_doi(doi), paper.paper.paper_id


def _first_works(
    session: CorpusSession,
    graph: CorpusGraph,
    ranks: Sequence[float],
    works: Iterable[int],
    count: int,
) -> list[int]:
    """The works with the highest ranks, the newest first where they are the same.

    Sums in another order differ in the last digits, so ranks that are nearly the same are."""
    rounded = {work: float(f"{ranks[work]:.{_RANK_DIGITS}g}") for work in works}
    if not rounded:
        return []
    least = nlargest(count, rounded.values())[-1]
    rows = {row: work for work in rounded if rounded[work] >= least for row in graph.rows_of(work)}
    newest = dict.fromkeys(rows[row] for row in sort_by_year(session, rows))
    return sorted(newest, key=lambda work: -rounded[work])[:count]


def _brief(found: FoundPaper) -> BriefPaper:
    stored = found.paper
    return BriefPaper(
        paper_id=stored.paper_id,
        title=stored.record.title,
        authors=distinct_names(stored.record.authors)[:SHOWN_AUTHORS],
        year=stored.year,
        doi=stored.record.doi,
    )
