"""The evidence of hypotheses by statement, with passages, and their bridges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from carrel.libraries.discovery.records import Paper
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.detail_models import (
    BridgeLink,
    BridgeShown,
    CitedPaper,
    EvidenceSentence,
    EvidenceStatement,
    HypothesisEvidence,
)
from carrel.rooms.research.errors import HypothesisNotFoundError
from carrel.rooms.research.ports import EvidencePassages, ResearchStore
from carrel.rooms.research.project_views import ProjectViews
from carrel.rooms.research.records import Hypothesis, Project
from carrel.rooms.research.report_record import (
    Quote,
    StatementEvidence,
    add_passages,
    list_evidence,
    quoted_papers,
)
from carrel.rooms.research.work_notices import NoPaperNotices, NoticesOfPapers


class EvidenceViews:
    """Evidence of a project's hypotheses; the caller has already checked ownership."""

    def __init__(
        self,
        store: ResearchStore,
        corpus: Corpus,
        views: ProjectViews,
        passages: EvidencePassages,
        notices: NoticesOfPapers | None = None,
    ) -> None:
        self._store = store
        self._corpus = corpus
        self._views = views
        self._passages = passages
        self._notices = notices or NoPaperNotices()

    async def find(
        self, project: Project, hypothesis_id: str | None, limit: int
    ) -> list[HypothesisEvidence]:
        """Of one hypothesis, superseded or not, or of the best; raises HypothesisNotFoundError."""
        ordered = list(enumerate(await self._views.ordered(project), start=1))
        if hypothesis_id is not None:
            ordered = [each for each in ordered if each[1].id == hypothesis_id]
            if not ordered:
                found = await self._store.hypothesis(hypothesis_id)
                if found is None or found.research_id != project.id:
                    raise HypothesisNotFoundError(hypothesis_id)
                ordered = [(0, found)]
        reviews = [
            one for one in await self._store.reviews(project.id) if one.superseded_by is None
        ]
        answers = []
        for rank, one in ordered[:limit]:
            found_evidence = await add_passages(list_evidence(one, reviews), self._passages)
            answers.append(await self._describe_evidence(rank, one, found_evidence))
        return answers

    async def _describe_evidence(
        self, rank: int, hypothesis: Hypothesis, evidence: Sequence[StatementEvidence]
    ) -> HypothesisEvidence:
        named = list(dict.fromkeys((*hypothesis.draft.citations, *quoted_papers(evidence))))
        papers = {paper.id: paper for paper in await self._corpus.papers(named)}
        return HypothesisEvidence(
            hypothesis_id=hypothesis.id,
            rank=rank,
            title=hypothesis.draft.title,
            bridge=describe_bridge(hypothesis),
            statements=[
                EvidenceStatement(
                    statement=one.statement,
                    verdict=one.verdict,
                    supporting=[_sentence(quote, papers) for quote in one.supporting],
                    contradicting=[_sentence(quote, papers) for quote in one.contradicting],
                    bearing=[_sentence(quote, papers) for quote in one.bearing],
                )
                for one in evidence
            ],
            papers=[_name_paper(name, papers.get(name)) for name in named],
            notices=dict(await self._notices.about_papers(named)),
        )


def describe_bridge(hypothesis: Hypothesis) -> BridgeShown | None:
    """The connection as a drawing needs it; None where there is no bridge."""
    connection = hypothesis.draft.connection
    if connection is None or not connection.bridges:
        return None
    # list_evidence puts two statements for each bridge after what the author cites.
    before = int(bool(hypothesis.draft.passages))
    return BridgeShown(
        start=connection.start.label,
        end=connection.end.label,
        links=[
            BridgeLink(
                concept=bridge.concept.label,
                near_papers=bridge.near_documents,
                far_papers=bridge.far_documents,
                near=before + 2 * number,
                far=before + 2 * number + 1,
            )
            for number, bridge in enumerate(connection.bridges)
        ],
        direct_papers=connection.novelty.direct_documents,
        papers_searched=connection.novelty.documents_searched,
    )


def _name_paper(paper_id: str, paper: Paper | None) -> CitedPaper:
    if paper is None:
        return CitedPaper(paper_id=paper_id)
    return CitedPaper(paper_id=paper_id, title=paper.title, year=paper.year)


def _sentence(quote: Quote, papers: Mapping[str, Paper]) -> EvidenceSentence:
    paper = papers.get(quote.paper_id)
    return EvidenceSentence(
        paper_id=quote.paper_id,
        title="" if paper is None else paper.title,
        year=None if paper is None else paper.year,
        place=quote.place,
        sentence=quote.sentence,
        passage_id=quote.passage_id,
    )
