"""What people add to a project: hypotheses, ratings, decisions, and imported hypotheses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import ConflictError, CostlyInputError, InvalidInputError
from carrel.core.parsing import translate_budget_errors
from carrel.libraries.discovery.connections.candidates import ExperimentalProtocol
from carrel.libraries.text.budget import check_nesting, too_deep
from carrel.rooms.research.agents import derived_id
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.errors import UnsafeGoalError
from carrel.rooms.research.goal_reading import infer_domain
from carrel.rooms.research.models import ImportHypotheses, ImportReport, SubmitHypothesis
from carrel.rooms.research.ports import Ids, ResearchStore
from carrel.rooms.research.records import (
    Approval,
    Changes,
    Decision,
    Draft,
    Event,
    Hypothesis,
    OutsideReference,
    Project,
    Rating,
    Review,
    ReviewScores,
    SafetyRecord,
)
from carrel.rooms.research.safety import check_hypothesis, safety_score

_METHODS = {
    "literature_exploration": "literature_based",
    "literature": "literature_based",
    "simulated_debate": "debate",
    "iterative_assumptions": "assumptions",
    "research_expansion": "expansion",
    "enhancement": "refine",
    "combination": "combine",
    "simplification": "simplify",
    "out_of_box": "paradigm_shift",
}
_EVOLUTION_METHODS = frozenset({"refine", "combine", "simplify", "paradigm_shift"})


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, defer_build=True)


class _Protocol(_Lenient):
    objective: str = ""
    methodology: str | list[str] = ""
    required_resources: list[str] = Field(default_factory=list)
    timeline: str | None = None
    success_metrics: list[str] = Field(default_factory=list)
    potential_challenges: list[str] = Field(default_factory=list)
    safety_considerations: list[str] = Field(default_factory=list)


class _LegacyEntry(_Lenient):
    id: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    category: str = ""
    full_description: str = ""
    novelty_claim: str = ""
    assumptions: list[str] = Field(default_factory=list)
    experimental_protocol: _Protocol = _Protocol()
    supporting_evidence: list[OutsideReference] = Field(default_factory=list)
    confidence_score: float | None = None
    generation_method: str = ""
    created_at: str | None = None
    elo_rating: float = 1200.0
    review_count: int = 0
    evolution_count: int = 0


@dataclass(frozen=True, slots=True)
class LegacyHypothesis:
    """One hypothesis of the earlier system."""

    earlier_id: str
    draft: Draft
    elo: float
    review_count: int
    created_at: str | None


@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """An unreadable entry, by its place in the file."""

    place: int
    reason: str


def read_legacy_hypotheses(text: str) -> tuple[list[LegacyHypothesis], list[UnreadableEntry]]:
    """Parse a list of hypotheses, or an object with them as values or under `hypotheses`."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"The file is not JSON: line {error.lineno}, {error.msg}",
            next_step="Give the hypotheses.json of the earlier system.",
        ) from None
    except ValueError:
        raise InvalidInputError(
            "The file is not JSON that can be read: a number has too many digits",
            next_step="Give the hypotheses.json of the earlier system.",
        ) from None
    except RecursionError:
        raise CostlyInputError(too_deep("the file")) from None
    with translate_budget_errors():
        check_nesting(whole, "the file")
    read: list[LegacyHypothesis] = []
    failed: list[UnreadableEntry] = []
    for place, entry in enumerate(_entries(whole), start=1):
        try:
            read.append(_to_legacy(_LegacyEntry.model_validate(entry)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            failed.append(
                UnreadableEntry(
                    place, f"{'.'.join(map(str, first['loc'])) or 'entry'}: {first['msg']}"
                )
            )
    return read, failed


def _entries(whole: Any) -> list[Any]:
    if isinstance(whole, dict):
        whole = whole.get("hypotheses", list(whole.values()))
    if isinstance(whole, dict):
        whole = list(whole.values())
    if not isinstance(whole, list):
        raise InvalidInputError(
            "The file has no list of hypotheses",
            next_step="Give the hypotheses.json of the earlier system.",
        )
    return whole


def _to_legacy(stored: _LegacyEntry) -> LegacyHypothesis:
    protocol = stored.experimental_protocol
    steps = (
        [protocol.methodology] if isinstance(protocol.methodology, str) else protocol.methodology
    )
    sure = "" if stored.confidence_score is None else f", confidence {stored.confidence_score:g}"
    draft = Draft(
        title=stored.summary,
        summary=stored.summary,
        rationale=stored.full_description or stored.summary,
        protocol=ExperimentalProtocol(
            objective=protocol.objective,
            methodology=tuple(step for step in steps if step),
            required_resources=tuple(protocol.required_resources),
            success_metrics=tuple(protocol.success_metrics),
            potential_challenges=tuple(protocol.potential_challenges),
            safety_considerations=tuple(protocol.safety_considerations),
            timeline=protocol.timeline,
        ),
        assumptions=tuple(stored.assumptions),
        novelty=stored.novelty_claim,
        outside_references=tuple(stored.supporting_evidence),
        origin=f"imported from the earlier system ({stored.category or 'no category'}{sure})",
        method=_METHODS.get(stored.generation_method, stored.generation_method or "imported"),
    )
    return LegacyHypothesis(
        stored.id, draft, stored.elo_rating, stored.review_count, stored.created_at
    )


def to_hypothesis(
    hypothesis_id: str, research_id: str, one: LegacyHypothesis, now: str
) -> Hypothesis:
    """The imported hypothesis with its rating, from which the project continues."""
    is_evolved = one.draft.method in _EVOLUTION_METHODS
    return Hypothesis(
        id=hypothesis_id,
        research_id=research_id,
        draft=one.draft,
        start_elo=one.elo,
        created_at=one.created_at or now,
        status="evolved" if is_evolved else "reviewed" if one.review_count else "pending",
        review_count=one.review_count,
        rating=Rating(elo_score=one.elo),
    )


class HumanInput:
    """Records of human actions; they weigh as much as an agent's, and name the person."""

    def __init__(
        self, store: ResearchStore, corpus: Corpus, clock: Clock, ids: Ids, start_elo: float
    ) -> None:
        self._store = store
        self._corpus = corpus
        self._clock = clock
        self._ids = ids
        self._start_elo = start_elo

    async def submit(self, project: Project, question: SubmitHypothesis, call: Call) -> Hypothesis:
        named = await self._corpus.find_ids(question.citations) if question.citations else []
        missing = [
            name for name, paper_id in zip(question.citations, named, strict=True) if not paper_id
        ]
        if missing:
            raise InvalidInputError(
                f"citations: no paper of this corpus is called {', '.join(missing)}",
                next_step="Cite papers by the paper_id or DOI that search_papers gives.",
                details={"missing": missing},
            )
        for other in await self._store.hypotheses(project.id):
            if (other.draft.title, other.draft.summary) == (question.title, question.summary):
                raise ConflictError(
                    f"The project has this very hypothesis already: {other.id}",
                    details={"id": other.id},
                )
        now = self._clock.now().isoformat()
        steps = tuple(
            line.strip() for line in question.experimental_protocol.splitlines() if line.strip()
        )
        hypothesis = Hypothesis(
            id=self._ids("hyp"),
            research_id=project.id,
            draft=Draft(
                title=question.title,
                summary=question.summary,
                rationale=question.rationale or question.summary,
                protocol=ExperimentalProtocol(
                    objective=f"Test this hypothesis: {question.title.rstrip('. ')}.",
                    methodology=steps,
                ),
                citations=tuple(dict.fromkeys(paper_id for paper_id in named if paper_id)),
                origin=f"submitted by {call.caller.user_id}",
                method="submitted",
            ),
            start_elo=self._start_elo,
            created_at=now,
            rating=Rating(elo_score=self._start_elo),
        )
        check = self._check(project, hypothesis.draft, now)
        if not check.is_allowed:
            await self._store.save(Changes(safety=(check,)))
            advice = check_hypothesis(question.title, question.summary).advice
            raise UnsafeGoalError("hypothesis", check.rule, check.reason, advice)
        event = self._event(project.id, "submitted", f"{hypothesis.id}: {question.title}", now)
        await self._store.save(Changes(hypotheses=(hypothesis,), safety=(check,), events=(event,)))
        return hypothesis

    async def import_hypotheses(self, question: ImportHypotheses, call: Call) -> ImportReport:
        """Hypotheses of the earlier system become a project; known ones are left as they are."""
        goal = question.goal
        read, failed = read_legacy_hypotheses(question.hypotheses)
        if not read and not failed:
            raise InvalidInputError(
                "hypotheses: there are none in it",
                next_step="Give the earlier system's hypotheses.json.",
            )
        owner, now = call.caller.user_id, self._clock.now().isoformat()
        project = Project(
            id=self._ids("res"),
            owner=owner,
            goal=goal,
            domain=infer_domain(goal),
            hypothesis_count=len(read),
            seed=0,
            created_at=now,
            updated_at=now,
            status="completed",
        )
        imported: list[Hypothesis] = []
        checks: list[SafetyRecord] = []
        known: list[str] = []
        for one in read:
            hypothesis_id = derived_id("hyp", "imported", owner, one.earlier_id)
            if (
                any(earlier.id == hypothesis_id for earlier in imported)
                or await self._store.hypothesis(hypothesis_id) is not None
            ):
                known.append(one.earlier_id)
                continue
            check = self._check(project, one.draft, now)
            checks.append(check)
            if check.is_allowed:
                imported.append(to_hypothesis(hypothesis_id, project.id, one, now))
        if imported or checks:
            await self._store.save(
                Changes(
                    projects=(project,) if imported else (),
                    hypotheses=tuple(imported),
                    safety=tuple(checks),
                )
            )
        return ImportReport(
            research_id=project.id if imported else None,
            imported=[earlier.id for earlier in imported],
            already_here=known,
            unsafe=[check.text for check in checks if not check.is_allowed],
            failed=[f"entry {each.place}: {each.reason}" for each in failed],
        )

    def _check(self, project: Project, draft: Draft, now: str) -> SafetyRecord:
        """The decision of the safety check on a hypothesis that comes from outside."""
        decision = check_hypothesis(draft.title, draft.summary)
        return SafetyRecord(
            id=self._ids("safe"),
            owner=project.owner,
            research_id=project.id,
            subject="hypothesis",
            text=draft.title,
            is_allowed=not decision.is_refused,
            rule=decision.rule,
            reason=decision.reason,
            created_at=now,
        )

    async def rate(self, subject: Hypothesis, score: float, comment: str, call: Call) -> Review:
        now = self._clock.now().isoformat()
        safe = safety_score(f"{subject.draft.title}. {subject.draft.summary}")
        review = Review(
            id=self._ids("rev"),
            research_id=subject.research_id,
            hypothesis_id=subject.id,
            review_type="person",
            # A person gives one number; what it says of each part is not ours to make up.
            scores=ReviewScores(
                plausibility=None, novelty=None, testability=None, safety=safe, overall=score
            ),
            strengths=(comment,) if comment and score >= 0.5 else (),
            weaknesses=(comment,) if comment and score < 0.5 else (),
            reviewer=call.caller.user_id,
            created_at=now,
        )
        event = self._event(subject.research_id, "rated", f"{subject.id}: {score:g}", now)
        await self._store.save(Changes(reviews=(review,), events=(event,)))
        return review

    async def decide(
        self, subject: Hypothesis, reason: str, call: Call, approval: Approval
    ) -> Hypothesis:
        now = self._clock.now().isoformat()
        decision = Decision(
            approval=approval,
            by=call.caller.user_id,
            at=now,
            reason=reason,
        )
        await self._store.decide(subject.id, decision)
        event = self._event(
            subject.research_id, decision.approval, f"{subject.id}: {reason}".rstrip(": "), now
        )
        await self._store.save(Changes(events=(event,)))
        return subject.model_copy(update={"decision": decision})

    def _event(self, research_id: str, kind: str, says: str, at: str) -> Event:
        return Event(
            id=self._ids("evt"), research_id=research_id, kind=kind, says=says, created_at=at
        )
