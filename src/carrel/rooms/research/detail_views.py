"""A project from the inside: plan, tournament, record and tasks, all read-only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.core.caller import Call
from carrel.core.errors import CarrelError, UnavailableError
from carrel.rooms.research.agents.outside import find_looks
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.detail_models import (
    Entrant,
    HeldGoal,
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
from carrel.rooms.research.goal_reading import infer_domain
from carrel.rooms.research.hypothesis_views import describe_strength, place_of
from carrel.rooms.research.ports import ResearchStore
from carrel.rooms.research.project_views import ProjectViews, name_mind, remaining_seconds
from carrel.rooms.research.records import Hypothesis, Project, StepDone, StepKind
from carrel.rooms.research.report_drawings import trace_ratings
from carrel.rooms.research.report_record import (
    describe_run,
)
from carrel.rooms.research.safety import check_goal
from carrel.rooms.research.tasks.records import ResearchTask, TaskResult

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
        limits: RunLimits | None = None,
    ) -> None:
        self._store = store
        self._corpus = corpus
        self._supervisor = supervisor
        self._views = views
        self._limits = limits or RunLimits()

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
