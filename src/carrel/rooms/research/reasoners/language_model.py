"""The language model reasoner; it may cite only papers in its prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.libraries.discovery.connections.candidates import (
    EvolutionStrategy,
    ExperimentalProtocol,
    GenerationMethod,
    ReviewType,
)
from carrel.libraries.discovery.connections.sentences import sentences
from carrel.libraries.discovery.records import Paper
from carrel.libraries.ranking import Judging
from carrel.rooms.research.claim_checks import ClaimChecks
from carrel.rooms.research.claim_models import CheckedStatement
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.errors import (
    CorpusEmptyError,
    GoalUnclearError,
    UnreadableAnswerError,
)
from carrel.rooms.research.hypothesis_views import rank_by_strength, sort_by_place
from carrel.rooms.research.people import list_remarks
from carrel.rooms.research.ports import LanguageModel, ModelUse, ResearchStore
from carrel.rooms.research.reasoners import Assessment, Brief, Judgement, Opinion
from carrel.rooms.research.reasoners.discovery import DiscoveryReasoner
from carrel.rooms.research.reasoners.evidence_review import check_hypothesis_statements
from carrel.rooms.research.reasoners.model_calls import (
    Budget,
    ModelCalls,
    ModelQuestion,
    WrittenDebate,
    WrittenHypotheses,
    WrittenHypothesis,
    WrittenMetaReview,
    WrittenReview,
    WrittenVerdict,
    hypotheses_schema,
    safety_schema,
)
from carrel.rooms.research.reasoners.prompt_material import (
    Citations,
    MaterialPart,
    MaterialRow,
    PromptMaterial,
    agent_text,
    evidence_part,
    hypotheses_part,
    is_evidence,
    is_quoted_from,
    list_part,
    papers_part,
)
from carrel.rooms.research.records import (
    Draft,
    Hypothesis,
    MetaReview,
    Mind,
    Review,
    ReviewScores,
    UnderstoodAs,
)

_PAPERS = 12
_LEADS = 3
# Tokens of a hypothesis with its protocol; several are asked for at once if the answer has room.
_TOKENS_EACH = 1000
_LEAST_WORDS, _MOST_WORDS = 50, 100


class LanguageModelReasoner:
    """Asks a model, with discovery's leads and the papers found for each question as material.

    With `judges_safety` its opinion joins the rules; that of a very small model is worthless.
    """

    mind: Mind = "model"
    judging = Judging.FALLIBLE

    def __init__(
        self,
        model: LanguageModel,
        corpus: Corpus,
        checks: ClaimChecks,
        store: ResearchStore,
        clock: Clock,
        budget: Budget | None = None,
        use: ModelUse | None = None,
        *,
        judges_safety: bool = True,
    ) -> None:
        self._model = model
        self._corpus = corpus
        self._checks = checks
        self._calls = ModelCalls(model, store, clock, budget or Budget(), use)
        self._discovery = DiscoveryReasoner(corpus, checks)
        self._judges_safety = judges_safety

    @property
    def name(self) -> str:
        return self._model.name

    async def understand(self, goal: str) -> UnderstoodAs:
        try:
            return await self._discovery.understand(goal)
        except GoalUnclearError:
            raise
        except CarrelError as error:
            # Discovery found no path; the model works with what a search for the goal finds.
            return UnderstoodAs(
                says=f"{error.message}. The model works with what a search for the goal finds.",
                question="open",
            )

    async def check(self, brief: Brief, texts: Sequence[str]) -> list[Opinion]:
        if not texts or not self._judges_safety:
            return []
        rows = tuple(MaterialRow(f"{number}. {text}") for number, text in enumerate(texts, start=1))
        question = ModelQuestion(
            "safety",
            agent_text("safety"),
            [MaterialPart("Goals or hypotheses", rows, is_needed=True)],
        )
        written, _ = await self._calls.ask(brief, question, safety_schema(len(texts)))
        return [Opinion(one.allowed, one.reason) for one in written.opinions()]

    async def generate(self, brief: Brief, method: GenerationMethod, count: int) -> list[Draft]:
        leads, papers = await self._leads(brief, method)
        papers = _merge_papers(await self._corpus.search(brief.project.goal, _PAPERS), papers)
        parts = [
            papers_part(papers),
            hypotheses_part("Leads from literature-based discovery", leads, is_needed=False),
        ]
        parts.extend(await self._extra_parts(brief, method, parts))
        most = max(1, self._model.window.answer_tokens // _TOKENS_EACH)
        known = [paper.title for paper in papers]
        drafts: list[Draft] = []
        for number in range(1, count + 1):
            wanted = min(most, count - len(drafts))
            try:
                drafts.extend(
                    await self._generate_portion(
                        brief, method, wanted, parts, known, drafts, number
                    )
                )
            except UnreadableAnswerError:
                if not drafts:
                    raise
                break
            if len(drafts) >= count:
                break
        return drafts

    async def review(
        self, brief: Brief, hypothesis: Hypothesis, review_type: ReviewType
    ) -> Assessment:
        statements = await self._check_statements(hypothesis, review_type)
        read = [name for each in statements for name in each.papers_read]
        papers = _merge_papers(
            await self._corpus.papers(hypothesis.draft.citations),
            await self._corpus.papers(list(dict.fromkeys(read))[:_PAPERS]),
            await self._corpus.search(hypothesis.draft.title, _PAPERS),
        )
        told = agent_text(
            "review", goal=brief.project.goal, kind=agent_text(f"review-{review_type.value}")
        )
        question = ModelQuestion(
            "reflection",
            told,
            [
                hypotheses_part("Hypothesis", [hypothesis.draft]),
                evidence_part(statements),
                papers_part(papers),
            ],
        )
        written, material = await self._calls.ask(brief, question, WrittenReview)
        values = {
            name: getattr(written, name)
            for name in ("plausibility", "novelty", "testability", "safety")
        }
        overall = (
            (values["plausibility"] + values["novelty"] + values["testability"]) / 3
            if values["safety"] > 0
            else 0.0
        )
        citations = Citations(material.paper_ids)
        shown = [paper for paper in papers if paper.id in material.paper_ids]
        cited = citations.keep_shown(written.citations)
        strengths, weaknesses = (
            citations.clean_all(written.strengths),
            citations.clean_all(written.weaknesses),
        )
        recommendations = citations.clean_all(written.recommendations)
        removed = (
            f"{citations.removed} citations of papers that were not retrieved were removed."
            if citations.removed
            else ""
        )
        return Assessment(
            ReviewScores(**values, overall=overall),
            strengths,
            tuple(filter(None, (*weaknesses, removed))),
            recommendations,
            cited,
            tuple(
                quotation
                for quotation in dict.fromkeys(written.quotations)
                if is_quoted_from(quotation, shown) or is_evidence(quotation, statements)
            ),
            {
                "overall": "The mean of plausibility, novelty and testability as the model gave "
                "them; 0 where safety is 0."
            },
            tuple(statements),
        )

    async def _check_statements(
        self, hypothesis: Hypothesis, review_type: ReviewType
    ) -> list[CheckedStatement]:
        """What the papers say of each statement; none where there are no papers yet."""
        try:
            return await check_hypothesis_statements(self._checks, hypothesis, review_type)
        except CorpusEmptyError:
            return []

    async def judge(self, brief: Brief, first: Hypothesis, second: Hypothesis) -> Judgement:
        parts = []
        for name, one in (("First", first), ("Second", second)):
            parts.append(hypotheses_part(name, [one.draft]))
            remarks = list_remarks(one, brief.reviews)
            if remarks:
                parts.append(list_part(f"{name}: what people remarked", remarks))
        question = ModelQuestion("ranking", agent_text("judge", goal=brief.project.goal), parts)
        try:
            written, material = await self._calls.ask(brief, question, WrittenVerdict)
        except UnreadableAnswerError:
            return Judgement(
                "unreadable", "The model's verdict could not be read; it counts for nobody."
            )
        reason = Citations(material.paper_ids).clean(written.reason)
        margin = None if written.winner == "draw" else written.margin
        return Judgement(written.winner, reason, margin)

    async def evolve(
        self,
        brief: Brief,
        hypothesis: Hypothesis,
        strategy: EvolutionStrategy,
        partner: Hypothesis | None,
    ) -> Draft:
        given = [hypothesis.draft] if partner is None else [hypothesis.draft, partner.draft]
        known = await self._corpus.papers([name for draft in given for name in draft.citations])
        papers = _merge_papers(known, await self._corpus.search(hypothesis.draft.title, _PAPERS))
        told = agent_text(
            "evolution", goal=brief.project.goal, strategy=agent_text(f"strategy-{strategy.value}")
        )
        question = ModelQuestion(
            "evolution", told, [hypotheses_part("Hypotheses", given), papers_part(papers)]
        )
        there = {
            _normalize(title)
            for title in (
                *(made.draft.title for made in brief.hypotheses),
                *(one.title for one in papers),
            )
        }
        written, material = await self._calls.ask(
            brief, question, WrittenHypothesis, lambda one: _find_fault(one, there)
        )
        return self._to_draft(written, material, strategy.value)

    async def meta_review(self, brief: Brief, reviews: Sequence[Review]) -> MetaReview:
        said = [
            f"{one.hypothesis_id}: {' '.join((*one.strengths, *one.weaknesses))}" for one in reviews
        ]
        question = ModelQuestion(
            "meta-review",
            agent_text("meta-review", goal=brief.project.goal),
            [list_part("Reviews", said)],
        )
        written, material = await self._calls.ask(brief, question, WrittenMetaReview)
        return MetaReview(text=Citations(material.paper_ids).clean(written.text))

    async def _leads(
        self, brief: Brief, method: GenerationMethod
    ) -> tuple[list[Draft], list[Paper]]:
        try:
            leads = await self._discovery.generate(brief, method, _LEADS)
        except CarrelError:
            # The papers lead nowhere by counting; the model may still see something in them.
            return [], []
        return leads, await self._corpus.papers(
            [name for lead in leads for name in lead.citations[:4]]
        )

    async def _extra_parts(
        self, brief: Brief, method: GenerationMethod, parts: Sequence[MaterialPart]
    ) -> list[MaterialPart]:
        """The material that a method gets besides the papers."""
        if method is GenerationMethod.EXPANSION:
            return [
                hypotheses_part(
                    "Leading hypotheses",
                    [made.draft for made in rank_by_strength(brief.hypotheses)[:3]],
                )
            ]
        if method is GenerationMethod.DEBATE:
            question = ModelQuestion("debate", agent_text("debate", goal=brief.project.goal), parts)
            debate, _ = await self._calls.ask(brief, question, WrittenDebate)
            return [
                MaterialPart(
                    "Debate",
                    tuple(MaterialRow(f"{turn.speaker}: {turn.says}") for turn in debate.turns),
                )
            ]
        return []

    async def _generate_portion(
        self,
        brief: Brief,
        method: GenerationMethod,
        count: int,
        parts: Sequence[MaterialPart],
        known: Sequence[str],
        made: Sequence[Draft],
        number: int,
    ) -> list[Draft]:
        titles = [draft.title for draft in made] + [
            one.draft.title for one in sort_by_place(brief.hypotheses)[:30]
        ]
        told = agent_text(
            "generation",
            count=count,
            goal=brief.project.goal,
            method=agent_text(f"method-{method.value}"),
        )
        question = ModelQuestion(
            "generation",
            told,
            [
                *parts,
                list_part("Hypotheses that exist already", titles),
                list_part("Rejected by people: neither these nor their kind", _rejected(brief)),
            ],
            number,
        )
        there = {
            _normalize(title)
            for title in (*titles, *(one.draft.title for one in brief.hypotheses), *known)
        }
        written, material = await self._calls.ask(
            brief, question, hypotheses_schema(count), lambda them: _find_fault_of_all(them, there)
        )
        return [
            self._to_draft(one, material, method.value) for one in _new_ones(written, there)[:count]
        ]

    def _to_draft(self, written: WrittenHypothesis, material: PromptMaterial, method: str) -> Draft:
        citations = Citations(material.paper_ids)
        cited = citations.keep_shown(written.citations)
        draft = Draft(
            title=citations.clean(written.title),
            summary=citations.clean(_summarize(written)),
            rationale=citations.clean(written.rationale),
            protocol=ExperimentalProtocol(
                objective=citations.clean(written.objective),
                methodology=citations.clean_all(written.steps),
                required_resources=citations.clean_all(written.required_resources),
                success_metrics=citations.clean_all(written.success_metrics),
                potential_challenges=citations.clean_all(written.potential_challenges),
                safety_considerations=citations.clean_all(written.safety_considerations),
            ),
            predictions=citations.clean_all(written.predictions),
            refutations=citations.clean_all(written.refutations),
            assumptions=citations.clean_all(written.assumptions),
            novelty=citations.clean(written.novelty),
            citations=cited,
            origin=f"language model {self._model.name}",
            method=method,
        )
        return draft.model_copy(update={"removed_citations": citations.removed})


def _new_ones(written: WrittenHypotheses, there: set[str]) -> list[WrittenHypothesis]:
    """The drafts of an answer that are new, without duplicates."""
    named = {_normalize(one.title): one for one in reversed(written.hypotheses)}
    return [
        one
        for one in written.hypotheses
        if named[_normalize(one.title)] is one and _find_fault(one, there) is None
    ]


def _find_fault_of_all(written: WrittenHypotheses, there: set[str]) -> str | None:
    """The fault of the first, if all are faulty."""
    if _new_ones(written, there):
        return None
    return (
        _find_fault(written.hypotheses[0], there)
        if written.hypotheses
        else "has no hypothesis in it"
    )


def _find_fault(written: WrittenHypothesis, there: set[str]) -> str | None:
    title = _normalize(written.title)
    if not any(letter.isalpha() for letter in title) or not _normalize(written.summary):
        return "has no title or no summary"
    if len(_summarize(written).split()) < _LEAST_WORDS:
        return (
            f"says what it proposes in fewer than {_LEAST_WORDS} words, rationale and "
            f"predictions included"
        )
    return "repeats a hypothesis or a paper that exists already" if title in there else None


def _rejected(brief: Brief) -> list[str]:
    """The hypotheses that people rejected, with their reasons."""
    return [
        f"{one.draft.title}{f' (because: {one.decision.reason})' if one.decision.reason else ''}"
        for one in brief.hypotheses
        if one.decision.approval == "rejected"
    ]


def _normalize(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _summarize(written: WrittenHypothesis) -> str:
    """A summary of 50 to 100 words: cut at a sentence if long, continued if short."""
    own = list(dict.fromkeys(sentences(written.summary)))
    rest = (
        written.rationale,
        *written.predictions,
        *written.refutations,
        written.objective,
        written.novelty,
        *written.assumptions,
    )
    more = [sentence for text in rest for sentence in sentences(text)]
    chosen: list[str] = []
    for place, piece in enumerate(dict.fromkeys((*own, *more))):
        words = sum(len(part.split()) for part in chosen)
        if place >= len(own) and words >= _LEAST_WORDS:
            break
        if words + len(piece.split()) > _MOST_WORDS:
            chosen.append(
                " ".join(piece.split()[: _MOST_WORDS - words]) if words < _LEAST_WORDS else ""
            )
            break
        chosen.append(piece)
    return " ".join(filter(None, chosen))


def _merge_papers(*several: Sequence[Paper]) -> list[Paper]:
    return list({paper.id: paper for papers in several for paper in papers}.values())
