"""What an answer becomes: hypotheses, reviews, matches or a summary, to be stored together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrel.libraries.discovery.connections.candidates import ExperimentalProtocol
from carrel.rooms.research.agents import META_REVIEW, derived_id
from carrel.rooms.research.agents.ranking import JudgedMatch, RankingAgent
from carrel.rooms.research.claim_models import CheckedStatement, QuotedSentence
from carrel.rooms.research.reasoners import Brief, Judgement
from carrel.rooms.research.records import (
    Advice,
    AgentOutput,
    Changes,
    Draft,
    Event,
    Hypothesis,
    MetaReview,
    Rating,
    Review,
    ReviewScores,
    SafetyRecord,
)
from carrel.rooms.research.safety import check_hypothesis
from carrel.rooms.research.tasks.answers import (
    AnswerError,
    Problem,
    WrittenAnswer,
    WrittenChild,
    WrittenChildren,
    WrittenIdea,
    WrittenIdeas,
    WrittenSummary,
    WrittenTaskReview,
    WrittenTaskReviews,
    WrittenTaskVerdict,
    WrittenTaskVerdicts,
    check_citations,
    resolve_citations,
)
from carrel.rooms.research.tasks.plan import WorkState
from carrel.rooms.research.tasks.records import Pair, ResearchTask, TaskResult

PERSONS_REVIEW = "person"
_OWN_MATCH = "tournament, own hypothesis"
_DOUBTED = "judge failed checks"
# What somebody would do; what speaks against an idea is no plan, and its words are often harsh.
_PLANS_OF_IDEA = ("summary", "rationale", "predictions", "experiment")
_TEXTS_OF_IDEA = (
    "title",
    "summary",
    "rationale",
    "predictions",
    "refutations",
    "experiment",
    "novelty",
)
_OVERALL = "The mean of plausibility, novelty and testability; 0 where safety is 0."


class UnsafeAnswerError(AnswerError):
    """Something in an answer is unsafe; the decisions are to be kept."""

    def __init__(self, problems: Sequence[Problem], decisions: Sequence[SafetyRecord]) -> None:
        super().__init__(problems)
        self.decisions = tuple(decisions)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The changes to store with a task's end, and what its worker is told.

    `is_redone` says that it came late and that others have done all of it.
    """

    changes: Changes
    result: TaskResult
    is_redone: bool = False


@dataclass(frozen=True, slots=True)
class OutcomeBuilder:
    """Turns the answer to one task into changes; `author` names the worker."""

    task: ResearchTask
    state: WorkState
    author: str
    now: str
    start_elo: float
    ranking: RankingAgent

    async def build(self, answer: WrittenAnswer) -> Outcome:
        """Raises AnswerError that names what cannot be kept."""
        match answer:
            case WrittenIdeas(hypotheses=ideas):
                return self._hypotheses("hypotheses", [self._resolve(one) for one in ideas])
            case WrittenChildren(children=children):
                return self._hypotheses("children", [self._resolve(one) for one in children])
            case WrittenTaskReviews(reviews=reviews):
                return self._reviews(reviews)
            case WrittenTaskVerdicts(verdicts=verdicts):
                return await self._matches(verdicts)
            case WrittenSummary():
                return self._summary(answer)

    def _resolve(self, idea: WrittenIdea) -> WrittenIdea:
        return idea.model_copy(update={"citations": resolve_citations(self.task, idea.citations)})

    def _hypotheses(self, key: str, given: Sequence[WrittenIdea]) -> Outcome:
        ideas = given[: max(1, self.task.material.count)]
        problems: list[Problem] = []
        for number, idea in enumerate(ideas):
            problems += self._faults(f"{key}[{number}]", idea, ideas[:number])
        decisions = [self._decide(number, idea) for number, idea in enumerate(ideas)]
        unsafe = [
            Problem(
                path=f"{key}[{number}]",
                what=f"is not safe to work on: {decision.reason}",
                allowed="another hypothesis for the goal, or leave this one out",
            )
            for number, decision in enumerate(decisions)
            if not decision.is_allowed
        ]
        if unsafe:
            raise UnsafeAnswerError([*unsafe, *problems], decisions)
        if problems:
            raise AnswerError(problems)
        made = [self._hypothesis(number, idea) for number, idea in enumerate(ideas)]
        superseded = self.task.material.supersedes if key == "hypotheses" else ()
        live = [one for one in superseded if one in self.state.live]
        verb = "generated" if key == "hypotheses" else "evolved"
        ids = tuple(one.id for one in made)
        says = f"{len(made)} {verb} by {self.author}"
        if len(given) > len(made):
            says += f", the first of {len(given)}; no more were asked for"
        changes = Changes(
            hypotheses=tuple(made),
            safety=tuple(decisions),
            superseded_hypotheses=tuple((one, self.task.id) for one in live),
            outputs=(self._output(verb, "\n".join(one.draft.title for one in made)),),
            events=(self._event(verb, says),),
        )
        return Outcome(changes, TaskResult(ids=ids, says=f"{says}: {', '.join(ids)}"))

    def _faults(
        self, path: str, idea: WrittenIdea, earlier: Sequence[WrittenIdea]
    ) -> list[Problem]:
        texts = [
            (f"{path}.{name}", text)
            for name in _TEXTS_OF_IDEA
            for text in _lines(getattr(idea, name))
        ]
        problems = check_citations(self.task, [(f"{path}.citations", idea.citations)], texts)
        if self.task.material.citable and not idea.citations:
            allowed = ", ".join(list(self.task.material.citable)[:20])
            what = "names no passage that it rests on"
            problems.append(Problem(path=f"{path}.citations", what=what, allowed=allowed))
        titles = {_fold(one.draft.title): one.id for one in self.state.hypotheses}
        titles |= {_fold(one.title): "this answer" for one in earlier}
        if _fold(idea.title) in titles:
            what = f"is there already: {titles[_fold(idea.title)]}"
            problems.append(Problem(path=f"{path}.title", what=what, allowed="a new hypothesis"))
        if isinstance(idea, WrittenChild):
            known = self.task.material.hypothesis_ids
            problems += [
                Problem(path=f"{path}.parents", what=f"{one!r} is not in known",
                        allowed=", ".join(known))
                for one in idea.parents
                if one not in known
            ]  # fmt: skip
            if not idea.parents:
                what, allowed = "names no parent", ", ".join(known)
                problems.append(Problem(path=f"{path}.parents", what=what, allowed=allowed))
        return problems

    def _decide(self, number: int, idea: WrittenIdea) -> SafetyRecord:
        written = [line for name in _PLANS_OF_IDEA for line in _lines(getattr(idea, name))]
        found = check_hypothesis(idea.title, "\n".join(written))
        return SafetyRecord(
            id=derived_id("safe", self.task.id, self.now, number),
            owner=self.state.project.owner,
            research_id=self.state.project.id,
            subject="hypothesis",
            text=idea.title,
            is_allowed=not found.is_refused,
            rule=found.rule,
            reason=found.reason,
            created_at=self.now,
        )

    def _hypothesis(self, number: int, idea: WrittenIdea) -> Hypothesis:
        citable = self.task.material.citable
        cited = [citable[one] for one in dict.fromkeys(idea.citations)]
        is_child = isinstance(idea, WrittenChild)
        draft = Draft(
            title=idea.title.strip(),
            summary=idea.summary.strip(),
            rationale=idea.rationale.strip(),
            protocol=ExperimentalProtocol(
                objective=f"Test this hypothesis: {idea.title.strip().rstrip('. ')}.",
                methodology=tuple(idea.experiment),
            ),
            predictions=tuple(idea.predictions),
            refutations=tuple(idea.refutations),
            novelty=idea.novelty,
            citations=tuple(dict.fromkeys(one.paper_id for one in cited)),
            passages=tuple(cited),
            origin=self.author,
            method=idea.strategy if isinstance(idea, WrittenChild) else "assistant",
        )
        return Hypothesis(
            id=derived_id("hyp", self.task.id, number),
            research_id=self.state.project.id,
            draft=draft,
            parents=tuple(dict.fromkeys(idea.parents)) if isinstance(idea, WrittenChild) else (),
            start_elo=self.start_elo,
            created_at=self.now,
            status="evolved" if is_child else "pending",
            rating=Rating(elo_score=self.start_elo),
        )

    def _reviews(self, written: Sequence[WrittenTaskReview]) -> Outcome:
        wanted = self.task.material.hypothesis_ids
        if len(wanted) == len(written) == 1 and not written[0].hypothesis_id:
            written = [written[0].model_copy(update={"hypothesis_id": wanted[0]})]
        written = [
            one.model_copy(
                update={
                    "supporting": resolve_citations(self.task, one.supporting),
                    "contradicting": resolve_citations(self.task, one.contradicting),
                }
            )
            for one in written
        ]
        problems: list[Problem] = []
        for number, one in enumerate(written):
            path = f"reviews[{number}]"
            if one.hypothesis_id not in wanted:
                what = f"{one.hypothesis_id!r} is not in known"
                allowed = ", ".join(wanted)
                problems.append(Problem(path=f"{path}.hypothesis_id", what=what, allowed=allowed))
            cited = [
                (f"{path}.supporting", one.supporting),
                (f"{path}.contradicting", one.contradicting),
            ]
            texts = [
                (f"{path}.{name}", text)
                for name in ("strengths", "weaknesses", "recommendations")
                for text in getattr(one, name)
            ]
            advised = [(f"{path}.recommendations", text) for text in one.recommendations]
            problems += check_citations(self.task, cited, texts) + _unsafe_lines(advised)
        missing = set(wanted) - {one.hypothesis_id for one in written}
        if missing and not problems:
            what = f"there is no review of {', '.join(sorted(missing))}"
            problems.append(Problem(path="reviews", what=what, allowed="one for each in known"))
        if problems:
            raise AnswerError(problems)
        by_id = {one.hypothesis_id: one for one in written}
        reviews = tuple(self._review(one) for one in by_id.values())
        old = [
            (one.id, self.task.id)
            for one in self.state.reviews
            if one.hypothesis_id in by_id
            and one.superseded_by is None
            and one.review_type != PERSONS_REVIEW
        ]
        says = f"{len(reviews)} reviewed by {self.author}"
        changes = Changes(
            reviews=reviews,
            superseded_reviews=tuple(old),
            outputs=(self._output("reflection", says),),
        )
        return Outcome(changes, TaskResult(ids=tuple(one.id for one in reviews), says=says))

    def _review(self, written: WrittenTaskReview) -> Review:
        citable = self.task.material.citable
        cited = [citable[one] for one in (*written.supporting, *written.contradicting)]
        judged = (written.plausibility, written.novelty, written.testability)
        scores = ReviewScores(
            plausibility=written.plausibility,
            novelty=written.novelty,
            testability=written.testability,
            safety=written.safety,
            overall=sum(judged) / len(judged) if written.safety > 0 else 0.0,
        )
        reasons = {"overall": _OVERALL, "verdict": written.verdict}
        if written.supporting:
            reasons["supporting"] = ", ".join(written.supporting)
        if written.contradicting:
            reasons["contradicting"] = ", ".join(written.contradicting)
        return Review(
            id=derived_id("rev", self.task.id, written.hypothesis_id),
            research_id=self.state.project.id,
            hypothesis_id=written.hypothesis_id,
            review_type="initial",
            scores=scores,
            strengths=tuple(written.strengths),
            weaknesses=tuple(written.weaknesses),
            recommendations=tuple(written.recommendations),
            citations=tuple(dict.fromkeys(one.paper_id for one in cited)),
            reasons=reasons,
            statements=(self._judged_statement(written),),
            reviewer=self.author,
            created_at=self.now,
        )

    def _judged_statement(self, written: WrittenTaskReview) -> CheckedStatement:
        """What the worker says of the hypothesis, with the passages it names for and against."""
        citable = self.task.material.citable
        titles = {one.id: one.draft.title for one in self.state.hypotheses}

        def quote(ids: Sequence[str]) -> list[QuotedSentence]:
            return [
                QuotedSentence(
                    paper_id=citable[one].paper_id,
                    title=citable[one].title,
                    year=citable[one].year,
                    passage_id=one,
                    section=citable[one].section,
                    sentence=" ".join(citable[one].text.split()),
                    confidence=1.0,
                    reasons=[f"named by {self.author}"],
                )
                for one in ids
            ]

        read = list(dict.fromkeys(one.paper_id for one in citable.values()))
        return CheckedStatement(
            statement=titles.get(written.hypothesis_id, written.hypothesis_id),
            verdict=written.verdict,
            message=f"{self.author} judged it from {len(citable)} passages of {len(read)} papers.",
            supporting=quote(written.supporting),
            contradicting=quote(written.contradicting),
            papers_read=read,
        )

    async def _matches(self, verdicts: Sequence[WrittenTaskVerdict]) -> Outcome:
        pairs = self.task.material.pairs
        by_number = {one.pair: one for one in verdicts}
        missing = [number for number in range(1, len(pairs) + 1) if number not in by_number]
        if missing:
            what = f"there is no verdict on pair {', '.join(map(str, missing))}"
            allowed = f"one verdict for each of the {len(pairs)} pairs"
            raise AnswerError([Problem(path="verdicts", what=what, allowed=allowed)])
        judged: list[JudgedMatch] = []
        guards: dict[str, int] = {}
        is_doubted = self._is_doubted()
        for number, pair in enumerate(pairs, start=1):
            verdict = by_number[number]
            if pair.kind != "match":
                name = self._judge_guard(pair, verdict)
                guards[name] = guards.get(name, 0) + 1
            elif self._is_open(pair):
                judged.append(_to_match(pair, verdict, is_doubted=is_doubted))
        project = self.state.project
        state = self.state
        brief = Brief(
            project, self.task.id, self.task.step, state.hypotheses, reviews=state.reviews
        )
        changes = Changes()
        if judged:
            matches, ratings, count = await self.ranking.record_pack(brief, judged, self.author)
            changes = Changes(matches=matches, ratings=ratings, expected_match_count=count)
        says = f"{len(judged)} matches judged by {self.author}"
        changes = changes.model_copy(update={"outputs": (self._output("ranking", says),)})
        is_redone = not judged and any(pair.kind == "match" for pair in pairs)
        return Outcome(changes, TaskResult(says=says, **guards), is_redone)

    def _is_open(self, pair: Pair) -> bool:
        """Whether both still play, and nobody was given the pair after this task was overdue."""
        others = [
            {other.first, other.second}
            for task in self.state.tasks
            if task.id != self.task.id and (task.state == "done" or task.is_held)
            for other in task.material.pairs
            if other.kind == "match"
        ]
        ends = {pair.first, pair.second}
        return ends <= set(self.state.live) and ends not in others

    def _is_doubted(self) -> bool:
        """Whether this judge has denied itself, or chosen broken reasons, more often than not: then
        no verdict of theirs counts as a clear one.
        """
        results = [
            TaskResult.model_validate_json(task.result or "{}")
            for task in self.state.done("compare")
            if task.worker == self.task.worker
        ]
        wrong = sum(one.repeats_denied + one.broken_missed for one in results)
        return wrong > sum(one.repeats_agreed + one.broken_found for one in results)

    def _judge_guard(self, pair: Pair, verdict: WrittenTaskVerdict) -> str:
        """Which count of the judge's guards a verdict adds to."""
        chosen = _winner(pair, verdict)
        if pair.kind == "broken":
            return "broken_found" if chosen == "first" else "broken_missed"
        earlier = [
            match
            for task in self.state.done("compare")
            if task.worker == self.task.worker and task.answer
            for match in _earlier_verdicts(task)
            if {match[0].first, match[0].second} == {pair.first, pair.second}
        ]
        agreed = any(_winner(before, said) == chosen for before, said in earlier)
        return "repeats_agreed" if agreed else "repeats_denied"

    def _summary(self, written: WrittenSummary) -> Outcome:
        lines = [("strong", one) for one in written.strong] + [
            ("weak", one) for one in written.weak
        ]
        texts = [("summary", written.summary), *lines]
        problems = check_citations(self.task, [], texts) + _unsafe_lines(texts)
        if problems:
            raise AnswerError(problems)
        heeded = Advice(strong=tuple(written.strong), weak=tuple(written.weak))
        finding = MetaReview(text=written.summary, advice=heeded)
        output = self._output(META_REVIEW, written.summary).model_copy(update={"finding": finding})
        changes = Changes(outputs=(output,), events=(self._event(META_REVIEW, written.summary),))
        says = f"Summed up by {self.author}"
        return Outcome(changes, TaskResult(ids=(output.id,), says=says))

    def _output(self, agent: str, answered: str) -> AgentOutput:
        names = {"generated": "generation", "evolved": "evolution"}
        return AgentOutput(
            id=derived_id("out", self.task.id),
            research_id=self.state.project.id,
            agent=names.get(agent, agent),
            step=self.task.step.label,
            mind=self.author,
            given=f"research task {self.task.id}",
            answered=answered,
            created_at=self.now,
        )

    def _event(self, kind: str, says: str) -> Event:
        return Event(
            id=derived_id("evt", self.task.id),
            research_id=self.state.project.id,
            kind=kind,
            says=says,
            created_at=self.now,
        )


def _lines(written: str | Sequence[str]) -> list[str]:
    return [written] if isinstance(written, str) else list(written)


def _unsafe_lines(texts: Iterable[tuple[str, str]]) -> list[Problem]:
    """Faults of texts that would help to do harm."""
    return [
        Problem(path=path, what=f"is not safe: {decision.reason}", allowed="leave it out")
        for path, text in texts
        if (decision := check_hypothesis(text)).is_refused
    ]


def _winner(pair: Pair, verdict: WrittenTaskVerdict) -> str:
    """Which of the pair was chosen, whichever was shown as A."""
    if verdict.better == "draw":
        return "draw"
    return "first" if (verdict.better == "a") != pair.is_swapped else "second"


def _to_match(pair: Pair, verdict: WrittenTaskVerdict, *, is_doubted: bool) -> JudgedMatch:
    """The match in the order in which the judge saw the two."""
    shown = (pair.second, pair.first) if pair.is_swapped else (pair.first, pair.second)
    verdicts = {"a": "first", "b": "second", "draw": "draw"}
    margin = None if verdict.better == "draw" else "slight" if is_doubted else verdict.margin
    judgement = Judgement(verdicts[verdict.better], verdict.why, margin)  # type: ignore[arg-type]
    method = _OWN_MATCH if pair.is_own else "tournament"
    return JudgedMatch(*shown, judgement, f"{method}, {_DOUBTED}" if is_doubted else method)


def _earlier_verdicts(task: ResearchTask) -> Iterable[tuple[Pair, WrittenTaskVerdict]]:
    answer = WrittenTaskVerdicts.model_validate_json(task.answer or "")
    by_number = {one.pair: one for one in answer.verdicts}
    for number, pair in enumerate(task.material.pairs, start=1):
        if pair.kind == "match" and number in by_number:
            yield pair, by_number[number]


def _fold(title: str) -> str:
    return " ".join(title.casefold().rstrip(". ").split())
