"""A project from the inside: plan, tournament, evidence, record and tasks, all read-only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.core.caller import Call
from carrel.core.errors import CarrelError, UnavailableError
from carrel.libraries.discovery.records import Paper
from carrel.rooms.research.agents.outside import find_looks
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.detail_models import (
    BridgeLink,
    BridgeShown,
    CitedPaper,
    Entrant,
    EvidenceSentence,
    EvidenceStatement,
    HeldGoal,
    HypothesisEvidence,
    PlannedPhase,
    PlanResearch,
    ProjectEvent,
    ProjectNews,
    RatingStep,
    RecordSection,
    ResearchOverview,
    ResearchPlan,
    ResearchRecord,
    TaskSummary,
    Tournament,
    TournamentMatch,
)
from carrel.rooms.research.errors import HypothesisNotFoundError
from carrel.rooms.research.goal_reading import infer_domain
from carrel.rooms.research.hypothesis_views import describe_strength, place_of
from carrel.rooms.research.ports import EvidencePassages, ResearchStore
from carrel.rooms.research.project_views import ProjectViews, name_mind, remaining_seconds
from carrel.rooms.research.records import Hypothesis, Project, StepDone, StepKind
from carrel.rooms.research.report_drawings import trace_ratings
from carrel.rooms.research.report_record import (
    Quote,
    StatementEvidence,
    add_passages,
    describe_run,
    list_evidence,
    quoted_papers,
)
from carrel.rooms.research.safety import check_goal
from carrel.rooms.research.tasks.records import ResearchTask, TaskResult
from carrel.rooms.research.work_notices import NoPaperNotices, NoticesOfPapers

_MOST_PROJECTS = 10_000


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a run may spend on models; None where there is no limit."""

    max_model_calls: int | None = None
    max_cost: float | None = None


class ProjectDetails:
    """The views; the caller has already checked ownership."""

    def __init__(
        self,
        store: ResearchStore,
        corpus: Corpus,
        supervisor: Supervisor,
        views: ProjectViews,
        passages: EvidencePassages,
        limits: RunLimits | None = None,
        notices: NoticesOfPapers | None = None,
    ) -> None:
        self._store = store
        self._corpus = corpus
        self._supervisor = supervisor
        self._views = views
        self._passages = passages
        self._limits = limits or RunLimits()
        self._notices = notices or NoPaperNotices()

    async def plan(self, question: PlanResearch, call: Call) -> ResearchPlan:
        """What a run on this goal would do; nothing is stored."""
        goal = " ".join(question.goal.split())
        decision, context = check_goal(goal), self._supervisor.context
        domain = (question.domain or "").strip()
        project = Project(
            id="plan",
            owner=call.caller.user_id,
            goal=goal,
            domain=domain or infer_domain(goal),
            hypothesis_count=question.hypothesis_count,
            seed=0,
            created_at=context.now(),
            updated_at=context.now(),
            looks_outside=question.look_outside,
        )
        expected = self._supervisor.expected_by_kind(project, ())
        seconds = remaining_seconds(expected, (), await self._store.mean_step_seconds())
        is_by_model = context.reasoner.mind == "model"
        return ResearchPlan(
            goal=goal,
            domain=project.domain,
            is_domain_inferred=not domain,
            hypothesis_count=project.hypothesis_count,
            look_outside=project.looks_outside,
            outside_problem=self._outside_problem(call),
            mind=context.reasoner.mind,
            reasoner=context.reasoner.name,
            phases=_phases(expected, ()),
            estimated_seconds=round(seconds, 1),
            max_model_calls=self._limits.max_model_calls if is_by_model else None,
            max_cost=self._limits.max_cost if is_by_model else None,
            start_elo=context.start_elo,
            corpus_papers=await self._count_papers(),
            outcome=decision.outcome,
            outcome_reason="" if decision.allowed else decision.reason,
            advice="" if decision.allowed else decision.advice,
        )

    async def _count_papers(self) -> int | None:
        """None where there is no corpus that can be read."""
        try:
            papers, _ = await self._corpus.describe_content()
        except UnavailableError:
            return None
        return papers

    def _outside_problem(self, call: Call) -> str:
        if self._supervisor.outside is None:
            return "The literature room is not open, so nothing outside can be asked."
        try:
            self._supervisor.outside.require_allowed(call)
        except CarrelError as error:
            return error.message
        return ""

    async def tournament(self, project: Project) -> Tournament:
        ordered = await self._views.ordered(project)
        matches = await self._store.matches(project.id)
        courses = {one.id: one.steps for one in trace_ratings(ordered, matches)}
        return Tournament(
            research_id=project.id,
            goal=project.goal,
            entrants=[
                _entrant(rank, one, courses[one.id]) for rank, one in enumerate(ordered, start=1)
            ],
            matches=[
                TournamentMatch(
                    number=number,
                    first=one.first,
                    second=one.second,
                    verdict=one.verdict,
                    margin=one.margin,
                    reason=one.reason,
                    judged_by=one.judged_by,
                    at=one.created_at,
                )
                for number, one in enumerate(matches, start=1)
            ],
        )

    async def evidence(
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

    async def record(self, project: Project) -> ResearchRecord:
        store = self._store
        jobs = await store.jobs(project.id)
        run = next((job for job in jobs if job.kind == "research"), None)
        done = await store.steps(run.id) if run is not None else []
        calls, _ = await store.model_usage(project.id)
        expected = self._supervisor.expected_by_kind(project, done) if run is not None else {}
        if project.status == "completed":
            counts = Counter(step.kind for step in done)
            expected = {kind: counts[kind] for kind in expected}
        record = await self._views.run_record(project, await self._views.ordered(project))
        return ResearchRecord(
            research_id=project.id,
            goal=project.goal,
            status=project.status,
            domain=project.domain,
            hypothesis_count=project.hypothesis_count,
            look_outside=project.looks_outside,
            mind=name_mind(project, calls),
            created_at=project.created_at,
            phases=_phases(expected, done),
            events=[
                ProjectEvent(at=one.created_at, kind=one.kind, message=one.reason or one.says)
                for one in record.events
            ],
            sections=[
                RecordSection(heading=one.heading, rows=list(one.rows))
                for one in describe_run(record)
            ],
            looked_outside=await find_looks(store, project),
        )

    async def tasks(self, project: Project, limit: int) -> list[TaskSummary]:
        """Those that wait or are held first, then the newest."""
        found = await self._store.tasks.of_project(project.id)
        found.sort(key=lambda task: task.created_at, reverse=True)
        found.sort(key=lambda task: task.state == "done")
        return [_describe_task(task) for task in found[:limit]]

    async def overview(self, owner: str, newest: int) -> ResearchOverview:
        rows = await self._store.projects(owner, None, _MOST_PROJECTS)
        counts = await self._store.undecided_counts(owner)
        projects = [project for project, _ in rows]
        undecided = {
            one.id: counts[one.id]
            for one in projects
            if one.status == "completed" and counts.get(one.id)
        }
        recent = sorted(projects, key=lambda one: one.updated_at, reverse=True)[:newest]
        return ResearchOverview(
            projects=len(rows),
            hypotheses=sum(count for _, count in rows),
            running=sum(one.status in {"initializing", "active"} for one in projects),
            held=sum(one.status == "held" for one in projects),
            undecided=sum(undecided.values()),
            undecided_in=next(iter(undecided), None),
            waiting_for_assistant=sum(
                one.mind == "assistant" and one.status == "active" for one in projects
            ),
            newest=[
                ProjectNews(
                    research_id=one.id,
                    goal=one.goal,
                    status=one.status,
                    mind=one.mind or "",
                    updated_at=one.updated_at,
                )
                for one in recent
            ],
        )

    async def held_goals(self, limit: int) -> list[HeldGoal]:
        return [
            HeldGoal(
                research_id=one.id,
                owner=one.owner,
                goal=one.goal,
                problem=one.problem or "",
                created_at=one.created_at,
            )
            for one in await self._store.held_projects(limit)
        ]


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


def _phases(expected: Mapping[StepKind, int], done: Sequence[StepDone]) -> list[PlannedPhase]:
    counts = Counter(step.kind for step in done)
    seconds = dict.fromkeys(StepKind, 0.0)
    for step in done:
        seconds[step.kind] += step.seconds
    return [
        PlannedPhase(
            kind=kind.value,
            expected=max(count, counts[kind]),
            done=counts[kind],
            seconds=round(seconds[kind], 2),
        )
        for kind, count in expected.items()
        if count or counts[kind]
    ]


def _entrant(rank: int, one: Hypothesis, course: Sequence[tuple[int, float]]) -> Entrant:
    rating = one.rating
    return Entrant(
        id=one.id,
        rank=rank,
        title=one.draft.title,
        place=place_of(one),
        origin=one.draft.origin,
        approval=one.decision.approval,
        elo_score=round(rating.elo_score, 2),
        strength=describe_strength(one),
        wins=rating.wins,
        losses=rating.losses,
        draws=rating.draws,
        course=[RatingStep(match=match, elo=round(elo, 2)) for match, elo in course],
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


def _describe_task(task: ResearchTask) -> TaskSummary:
    result = TaskResult() if task.result is None else TaskResult.model_validate_json(task.result)
    return TaskSummary(
        id=task.id,
        role=task.role,
        # A lease that has run out leaves the task to whoever asks next.
        state="waiting" if task.state == "leased" and task.is_expired else task.state,
        worker=task.worker,
        lease_until=task.lease_until if task.is_held else "",
        failures=task.failures,
        message=result.says,
        made=list(result.ids),
        created_at=task.created_at,
        finished_at=task.finished_at,
    )
