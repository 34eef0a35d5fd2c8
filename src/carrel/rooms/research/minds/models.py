"""The mind of a language model: it writes, the papers decide what it may cite, and no finished call is made twice."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.rooms.research.discovery.connections import EvolutionStrategy, GenerationMethod
from carrel.rooms.research.discovery.evidence import sentences
from carrel.rooms.research.discovery.records import Paper
from carrel.rooms.research.discovery.review import ReviewType
from carrel.rooms.research.errors import BudgetExhaustedError, ModelUnavailableError
from carrel.rooms.research.minds.discovery import DiscoveryMind
from carrel.rooms.research.minds.mind import Assessment, Brief, Judgement, Opinion
from carrel.rooms.research.minds.written import (
    Written,
    WrittenDebate,
    WrittenHypotheses,
    WrittenHypothesis,
    WrittenMetaReview,
    WrittenReview,
    WrittenSafety,
    WrittenVerdict,
)
from carrel.rooms.research.ports import ContextMemory, Corpus, LanguageModel
from carrel.rooms.research.prompts.texts import agent_text
from carrel.rooms.research.records import AgentOutput, Changes, Draft, Hypothesis, Protocol, Review, Scores, Understanding

WrittenT = TypeVar("WrittenT", bound=Written)
_PAPERS = 12
_LEADS = 3
_READINGS = 2
_LEAST_WORDS, _MOST_WORDS = 50, 100
_TAG = re.compile(r"<\s*/?\s*material\s*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of the model one project may use; None is no limit."""

    calls: int | None = None
    cost: float | None = None


class ModelMind:
    """Thinks by asking a model. Discovery's leads and the papers found for each question are its material."""

    def __init__(
        self, model: LanguageModel, corpus: Corpus, memory: ContextMemory, clock: Clock, budget: Budget | None = None
    ) -> None:
        self._model = model
        self._corpus = corpus
        self._memory = memory
        self._clock = clock
        self._budget = budget or Budget()
        self._discovery = DiscoveryMind(corpus)

    @property
    def name(self) -> str:
        return self._model.name

    async def understand(self, goal: str) -> Understanding:
        try:
            return await self._discovery.understand(goal)
        except CarrelError as error:
            # The papers lead nowhere by counting; the model works with what a search for the goal's words brings.
            return Understanding(says=f"{error.message}. The model works with what a search for the goal finds.", question="open")

    async def check(self, brief: Brief, texts: Sequence[str]) -> list[Opinion]:
        if not texts:
            return []
        rows = [f"{number}. {text}" for number, text in enumerate(texts, start=1)]
        written = await self._ask(brief, "safety", agent_text("safety"), ["\n".join(rows)], WrittenSafety)
        if len(written.opinions) != len(texts):
            raise _UnreadableError(
                f"{self._model.name} did not judge the safety of every text", next_step="Try again, or another model."
            )
        return [Opinion(one.allowed, one.reason) for one in written.opinions]

    async def generate(self, brief: Brief, method: GenerationMethod, count: int) -> list[Draft]:
        goal = brief.project.goal
        leads, papers = await self._leads(brief, method)
        papers = _merged(await self._corpus.search(goal, _PAPERS), papers)
        parts = [_shown_papers(papers), _shown_hypotheses("Leads from literature-based discovery", leads)]
        parts.append(_listed("Hypotheses that exist already", [made.draft.title for made in _leading(brief.hypotheses)[:30]]))
        if method is GenerationMethod.DEBATE:
            debate = await self._ask(brief, "debate", agent_text("debate", goal=goal), parts, WrittenDebate)
            parts.append("Debate\n" + "\n".join(f"{turn.speaker}: {turn.says}" for turn in debate.turns))
        if method is GenerationMethod.EXPANSION:
            leading = [made.draft for made in _leading(brief.hypotheses)[:3]]
            parts.append(_shown_hypotheses("Leading hypotheses", leading))
        told = agent_text("generation", count=count, goal=goal, method=agent_text(f"method-{method.value}"))
        written = await self._ask(brief, "generation", told, parts, WrittenHypotheses)
        return [self._drafted(one, papers, method.value) for one in written.hypotheses[:count]]

    async def review(self, brief: Brief, hypothesis: Hypothesis, review_type: ReviewType) -> Assessment:
        papers = _merged(
            await self._corpus.papers(hypothesis.draft.citations), await self._corpus.search(hypothesis.draft.title, _PAPERS)
        )
        told = agent_text("review", goal=brief.project.goal, kind=agent_text(f"review-{review_type.value}"))
        parts = [_shown_hypotheses("Hypothesis", [hypothesis.draft]), _shown_papers(papers)]
        written = await self._ask(brief, "reflection", told, parts, WrittenReview)
        values = {name: _share(getattr(written, name)) for name in ("plausibility", "novelty", "testability", "safety")}
        overall = (values["plausibility"] + values["novelty"] + values["testability"]) / 3 if values["safety"] > 0 else 0.0
        cited, removed = _retrieved(written.citations, papers)
        weaknesses = [
            *written.weaknesses,
            *([f"{removed} citations of papers that were not retrieved were removed."] if removed else []),
        ]
        return Assessment(
            Scores(**values, overall=overall),
            tuple(written.strengths),
            tuple(weaknesses),
            tuple(written.recommendations),
            cited,
            tuple(quotation for quotation in written.quotations if _is_quoted(quotation, papers)),
            {"overall": "The mean of plausibility, novelty and testability as the model gave them; 0 where safety is 0."},
        )

    async def judge(self, brief: Brief, first: Hypothesis, second: Hypothesis) -> Judgement:
        parts = [_shown_hypotheses("First", [first.draft]), _shown_hypotheses("Second", [second.draft])]
        try:
            written = await self._ask(brief, "ranking", agent_text("judge", goal=brief.project.goal), parts, WrittenVerdict)
        except _UnreadableError:
            return Judgement("unreadable", "The model's verdict could not be read; it counts for nobody.")
        return Judgement(written.winner, written.reason)

    async def evolve(
        self, brief: Brief, hypothesis: Hypothesis, strategy: EvolutionStrategy, partner: Hypothesis | None
    ) -> Draft:
        given = [hypothesis.draft] if partner is None else [hypothesis.draft, partner.draft]
        known = await self._corpus.papers([name for draft in given for name in draft.citations])
        papers = _merged(known, await self._corpus.search(hypothesis.draft.title, _PAPERS))
        told = agent_text("evolution", goal=brief.project.goal, strategy=agent_text(f"strategy-{strategy.value}"))
        parts = [_shown_hypotheses("Hypotheses", given), _shown_papers(papers)]
        written = await self._ask(brief, "evolution", told, parts, WrittenHypothesis)
        return self._drafted(written, papers, strategy.value)

    async def meta_review(self, brief: Brief, reviews: Sequence[Review]) -> str:
        said = [f"{one.hypothesis_id}: {' '.join((*one.strengths, *one.weaknesses))}" for one in reviews]
        told = agent_text("meta-review", goal=brief.project.goal)
        return (await self._ask(brief, "meta-review", told, [_listed("Reviews", said)], WrittenMetaReview)).text

    async def _leads(self, brief: Brief, method: GenerationMethod) -> tuple[list[Draft], list[Paper]]:
        try:
            leads = await self._discovery.generate(brief, method, _LEADS)
        except CarrelError:
            # The papers lead nowhere by counting; the model may still see something in them.
            return [], []
        return leads, await self._corpus.papers([name for lead in leads for name in lead.citations[:4]])

    async def _ask(self, brief: Brief, agent: str, told: str, parts: Sequence[str], shape: type[WrittenT]) -> WrittenT:
        """Asks once in the life of a step: an answer that was kept is taken instead of a new one. An answer of another shape
        is kept, for its cost, and asked for again."""
        call_id = f"call_{brief.job_id}_{brief.step}_{agent}"
        kept = await self._memory.output(call_id)
        if kept is not None:
            return shape.model_validate_json(kept.answered)
        instructions = "\n\n".join(filter(None, (agent_text("common"), told, _feedback(brief))))
        material = "<material>\n" + _TAG.sub("", "\n\n".join(filter(None, parts))) + "\n</material>"
        for _ in range(_READINGS):
            await self._stay_within_budget(brief)
            completion = await self._model.complete(instructions, material, shape.model_json_schema(), shape.__name__)
            now = self._clock.now().isoformat()
            try:
                written = shape.model_validate(dict(completion.answer))
            except ValidationError:
                written = None
            output = AgentOutput(
                id=call_id if written is not None else f"{call_id}_unreadable_{now}",
                research_id=brief.project.id,
                agent=f"{agent} (model)",
                step=brief.step,
                mind=self._model.name,
                given=f"{instructions}\n\n{material}",
                answered=json.dumps(dict(completion.answer), ensure_ascii=False),
                input_tokens=completion.input_tokens,
                output_tokens=completion.output_tokens,
                cost=completion.cost,
                is_model_call=True,
                created_at=now,
            )
            await self._memory.keep(Changes(outputs=(output,)))
            if written is not None:
                return written
        raise _UnreadableError(
            f"{self._model.name} answered in another shape than it was asked for",
            next_step="Try another model.",
            details={"agent": agent},
        )

    async def _stay_within_budget(self, brief: Brief) -> None:
        if self._budget.calls is None and self._budget.cost is None:
            return
        calls = [output for output in await self._memory.outputs(brief.project.id) if output.is_model_call]
        spent = sum(output.cost for output in calls)
        is_over = (self._budget.calls is not None and len(calls) >= self._budget.calls) or (
            self._budget.cost is not None and spent >= self._budget.cost
        )
        if is_over:
            raise BudgetExhaustedError(
                f"The budget is used up: {len(calls)} model calls, {spent:.2f} spent",
                next_step="Raise research.max_model_calls or research.max_cost, then resume_research.",
                details={"calls": len(calls), "cost": spent},
            )

    def _drafted(self, written: WrittenHypothesis, papers: Sequence[Paper], method: str) -> Draft:
        cited, removed = _retrieved(written.citations, papers)
        return Draft(
            title=written.title,
            summary=_fitted(written),
            rationale=written.rationale,
            protocol=Protocol(
                objective=written.objective,
                methodology=tuple(written.steps),
                required_resources=tuple(written.required_resources),
                success_metrics=tuple(written.success_metrics),
                potential_challenges=tuple(written.potential_challenges),
                safety_considerations=tuple(written.safety_considerations),
            ),
            predictions=tuple(written.predictions),
            refutations=tuple(written.refutations),
            assumptions=tuple(written.assumptions),
            novelty=written.novelty,
            citations=cited,
            removed_citations=removed,
            origin=f"language model {self._model.name}",
            method=method,
        )


class _UnreadableError(ModelUnavailableError):
    """An answer in another shape."""


def _feedback(brief: Brief) -> str:
    return f"What the reviews so far say together:\n{brief.feedback}" if brief.feedback else ""


def _retrieved(citations: Sequence[str], papers: Sequence[Paper]) -> tuple[tuple[str, ...], int]:
    """The citations that are papers which were shown, and how many were not."""
    there = {paper.id for paper in papers}
    named = dict.fromkeys(citation.strip().removeprefix("[id:").removesuffix("]").strip() for citation in citations)
    return tuple(name for name in named if name in there), sum(name not in there for name in named)


def _is_quoted(quotation: str, papers: Sequence[Paper]) -> bool:
    said = " ".join(quotation.split()).strip('“”"')
    return bool(said) and any(said in " ".join(f"{paper.title} {paper.abstract}".split()) for paper in papers)


def _fitted(written: WrittenHypothesis) -> str:
    """A summary of fifty to a hundred words: a long one ends at a sentence, a short one goes on with the rationale."""
    pieces = [*sentences(written.summary), *sentences(written.rationale), *written.predictions, *written.refutations]
    chosen: list[str] = []
    for place, piece in enumerate(pieces):
        words = sum(len(part.split()) for part in chosen)
        if place >= len(sentences(written.summary)) and words >= _LEAST_WORDS:
            break
        if words + len(piece.split()) > _MOST_WORDS:
            chosen.append(" ".join(piece.split()[: _MOST_WORDS - words]) if words < _LEAST_WORDS else "")
            break
        chosen.append(piece)
    return " ".join(filter(None, chosen))


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def _leading(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda made: -made.standing.elo_score)


def _merged(one: Sequence[Paper], other: Sequence[Paper]) -> list[Paper]:
    return list({paper.id: paper for paper in (*one, *other)}.values())


def _shown_papers(papers: Sequence[Paper]) -> str:
    return "Papers\n" + "\n".join(
        f"[id: {paper.id}] {paper.title} ({paper.year or 'n.d.'})\n{paper.abstract}" for paper in papers
    )


def _shown_hypotheses(heading: str, drafts: Sequence[Draft]) -> str:
    rows = [f"{draft.title}\n{draft.summary}\n{draft.rationale}" for draft in drafts]
    return f"{heading}\n" + "\n\n".join(rows) if rows else ""


def _listed(heading: str, rows: Sequence[str]) -> str:
    return f"{heading}\n" + "\n".join(f"- {row}" for row in rows) if rows else ""
