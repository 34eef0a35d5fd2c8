"""The service of the research room: starts, steers and shows projects."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.completion import MAX_COMPLETION_VALUES, Completion, complete_titled
from carrel.core.errors import InvalidInputError, NotConfiguredError, UnavailableError
from carrel.libraries.discovery.connections.candidates import (
    EvolutionStrategy,
    GenerationMethod,
    ReviewType,
)
from carrel.libraries.discovery.goals.statement import ask_back, parse_goal
from carrel.rooms.research import errors
from carrel.rooms.research.agents import GOAL_READING, derived_id, find_understanding
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.goal_approval import GoalApproval, describe_hold, require_not_held
from carrel.rooms.research.goal_reading import describe_wording, infer_domain
from carrel.rooms.research.human_input import HumanInput
from carrel.rooms.research.hypothesis_views import (
    describe_hypothesis,
    describe_review,
    detail_hypothesis,
    sort_by_elo,
    summarize_hypothesis,
)
from carrel.rooms.research.jobs import JobAnswer, Jobs, Patience
from carrel.rooms.research.models import (
    DecideGoal,
    DecideHypothesis,
    DeleteResearch,
    EvolveHypothesis,
    GenerateHypotheses,
    GetResearchStatus,
    GetResults,
    GoalUnderstood,
    HypothesisInFull,
    HypothesisRow,
    ImportHypotheses,
    ImportReport,
    ListHypotheses,
    ListResearchProjects,
    ProjectChanged,
    ProjectSummary,
    RankHypotheses,
    RateHypothesis,
    ResearchStatus,
    Results,
    ReviewHypothesis,
    ReviewShown,
    StartedResearch,
    StartResearch,
    SubmitHypothesis,
    SubmittedHypothesis,
    UnderstandGoal,
)
from carrel.rooms.research.ports import EvidencePassages, Ids, ResearchStore
from carrel.rooms.research.project_views import ProjectViews, remaining_seconds
from carrel.rooms.research.reasoners.discovery import translate_discovery_errors
from carrel.rooms.research.records import (
    AgentOutput,
    Approval,
    Changes,
    EvolveWork,
    GenerateWork,
    Hypothesis,
    Job,
    JobState,
    Project,
    ProjectStatus,
    RankWork,
    ResearchWork,
    ReviewWork,
    SafetyRecord,
    UnderstoodAs,
    make_event,
)
from carrel.rooms.research.runner import Runner
from carrel.rooms.research.safety import SafetyDecision, check_goal

# start_research answers within 2 s whatever the corpus; what it writes down takes milliseconds.
READ_WITHIN_SECONDS = 1.0
_MOST_PROJECTS = 10_000
# Whose hypotheses the search over the desk reads.
_MOST_SEARCHED_PROJECTS = 200


class ResearchRoom:
    """The service; a project is invisible to everybody but who started it."""

    def __init__(
        self,
        store: ResearchStore,
        corpus: Corpus,
        supervisor: Supervisor,
        runner: Runner,
        clock: Clock,
        ids: Ids,
        passages: EvidencePassages,
        patience: Patience | None = None,
    ) -> None:
        self._store = store
        self._runner = runner
        self._supervisor = supervisor
        self._clock = clock
        self._ids = ids
        self.jobs = Jobs(store, runner, clock, ids, patience or Patience())
        self.views = ProjectViews(store, corpus, supervisor, self.jobs, passages)
        self.human_input = HumanInput(store, corpus, clock, ids, supervisor.context.start_elo)
        self._approval = GoalApproval(store, clock, ids)

    async def start(self, question: StartResearch, call: Call) -> StartedResearch:
        goal = " ".join(question.goal.split())
        if len(goal) < 10:
            raise InvalidInputError(
                "goal: has fewer than 10 characters",
                next_step="Say in a sentence what is to be found out.",
            )
        if question.look_outside:
            self._require_outside(call)
        research_id = self._ids("res")
        decision = await self._check_goal(goal, call, research_id)
        is_held = decision.outcome == "hold"
        now = self._now()
        project = Project(
            id=research_id,
            owner=call.caller.user_id,
            goal=goal,
            domain=(question.domain or "").strip() or infer_domain(goal),
            hypothesis_count=question.hypothesis_count,
            seed=int.from_bytes(research_id.encode()[-4:], "big"),
            created_at=now,
            updated_at=now,
            mind=self._supervisor.context.reasoner.mind,
            status="held" if is_held else "initializing",
            problem=describe_hold(research_id, decision) if is_held else None,
            looks_outside=question.look_outside,
        )
        with translate_discovery_errors():
            ask_back(parse_goal(goal))
        reading = await self._read_goal(goal, project)
        expected = self._supervisor.expected_by_kind(project, ())
        jobs = () if is_held else (self._new_run(project),)
        # Together, so that there is never a project that nobody works on.
        await self._store.save(
            Changes(
                projects=(project,),
                jobs=jobs,
                events=(
                    make_event(
                        self._ids, self._clock, project, "held" if is_held else "started", goal
                    ),
                ),
                # What is found outside may change the reading, so the run reads the goal then.
                outputs=()
                if reading is None or project.looks_outside
                else (self._reading_output(project, reading),),
            )
        )
        for job in jobs:
            self._runner.begin(job.id)
        seconds = remaining_seconds(expected, (), await self._store.mean_step_seconds())
        return StartedResearch(
            research_id=project.id,
            goal=project.goal,
            domain=project.domain,
            status=project.status,
            estimated_time_hours=round(seconds / 3600.0, 4),
            understood_as=reading or describe_wording(goal),
            mind=project.mind or "",
            problem=project.problem or "",
        )

    def _new_run(self, project: Project) -> Job:
        expected = self._supervisor.expected_by_kind(project, ())
        work = ResearchWork(count=project.hypothesis_count)
        return self.jobs.new_job(project, work, sum(expected.values()))

    async def approve_goal(self, question: DecideGoal, call: Call) -> ProjectChanged:
        """Start the run of a held project, whoever started it."""
        project = await self._approval.find_held(question.research_id)
        job = self._new_run(project)
        await self._approval.approve(project, job, question.reason, call)
        self._runner.begin(job.id)
        says = f"Approved by {call.caller.user_id}: the run starts. The goal: {project.goal}"
        return ProjectChanged(research_id=project.id, status="initializing", message=says)

    async def reject_goal(self, question: DecideGoal, call: Call) -> ProjectChanged:
        """End a held project, whoever started it."""
        project = await self._approval.find_held(question.research_id)
        says = await self._approval.reject(project, question.reason, call)
        return ProjectChanged(research_id=project.id, status="cancelled", message=says)

    async def understand(self, question: UnderstandGoal) -> GoalUnderstood:
        """How a goal would be read, without starting anything."""
        goal = " ".join(question.goal.split())
        try:
            reading = await self._supervisor.context.reasoner.understand(goal)
        except (
            errors.GoalNotInCorpusError,
            errors.GoalUnclearError,
            errors.NoConnectionFoundError,
        ) as error:
            return GoalUnderstood(
                goal=goal,
                can_start=False,
                problem=error.message,
                next_step=error.next_step,
                questions=[one.text for one in parse_goal(goal).questions],
            )
        return GoalUnderstood(
            goal=goal, can_start=True, understood_as=reading, questions=reading.questions
        )

    async def status(self, question: GetResearchStatus, call: Call) -> ResearchStatus:
        """How far a project is, at its end or after the seconds that it may be waited for."""
        project = await self.project(question.research_id, call)
        if question.wait_seconds and project.status in {"initializing", "active"}:
            await self.jobs.wait_for_run(project, question.wait_seconds)
            project = await self.project(question.research_id, call)
        return await self.views.status(project)

    async def results(self, question: GetResults, call: Call) -> Results:
        project = await self.project(question.research_id, call)
        return await self.views.results(project, question.format, question.top_n)

    async def html_report(self, research_id: str, call: Call) -> str:
        return await self.views.html_report(await self.project(research_id, call))

    async def export(self, research_id: str, call: Call) -> dict[str, Any]:
        return await self.views.export(await self.project(research_id, call))

    async def list_projects(
        self, question: ListResearchProjects, call: Call
    ) -> list[ProjectSummary]:
        owner = call.caller.user_id
        rows = await self._current_projects(owner, question.status, question.limit)
        return [
            ProjectSummary(
                read_as=await self._reading_in_short(project),
                id=project.id,
                goal=project.goal,
                domain=project.domain,
                status=project.status,
                hypothesis_count=count,
                created_at=project.created_at,
                last_updated=project.updated_at,
                problem=project.problem or "",
            )
            for project, count in rows
        ]

    async def _reading_in_short(self, project: Project) -> str:
        reading = await find_understanding(self._store, project.id)
        return "" if reading is None else reading.in_short or reading.says

    async def complete_project(self, typed: str, call: Call) -> Completion:
        """Ids of the caller's projects by id or goal."""
        found = await self._store.projects(call.caller.user_id, None, _MOST_PROJECTS)
        return complete_titled(((project.id, project.goal) for project, _ in found), typed)

    async def complete_hypothesis(self, typed: str, call: Call) -> Completion:
        """Ids of the caller's hypotheses."""
        found, total = await self._store.hypothesis_ids(
            call.caller.user_id, typed, MAX_COMPLETION_VALUES
        )
        return Completion(tuple(found), total)

    async def _current_projects(
        self, owner: str, status: str | None, limit: int
    ) -> list[tuple[Project, int]]:
        unwritten = self._runner.unwritten
        if not unwritten:
            return await self._store.projects(owner, status, limit)
        # Some are not what their rows say, so rows cannot be chosen by status.
        rows = await self._store.projects(owner, None, _MOST_PROJECTS)
        current = [(unwritten.apply_to_project(project), count) for project, count in rows]
        return [row for row in current if status is None or row[0].status == status][:limit]

    async def own_work(self, call: Call) -> list[tuple[Project, list[Hypothesis]]]:
        """The caller's newest projects with their hypotheses."""
        rows = await self._current_projects(call.caller.user_id, None, _MOST_SEARCHED_PROJECTS)
        return [(project, await self._store.hypotheses(project.id)) for project, _ in rows]

    async def generate(self, question: GenerateHypotheses, call: Call) -> JobAnswer:
        project = await self.project(question.research_id, call)
        method = GenerationMethod(question.method)
        return await self.jobs.do(project, GenerateWork(count=question.count, method=method), call)

    async def evolve(self, question: EvolveHypothesis, call: Call) -> JobAnswer:
        parent, project = await self.hypothesis(question.hypothesis_id, call)
        if parent.decision.approval == "rejected":
            raise errors.WrongStateError(
                "A person has rejected this hypothesis, so nothing is made from it",
                next_step="Approve it first, or choose another.",
            )
        strategy = EvolutionStrategy(question.strategy)
        work = EvolveWork(hypothesis_id=parent.id, strategy=strategy)
        return await self.jobs.do(project, work, call)

    async def list_hypotheses(self, question: ListHypotheses, call: Call) -> list[HypothesisRow]:
        project = await self.project(question.research_id, call)
        status, min_elo = question.status, question.min_elo
        found = [
            one
            for one in sort_by_elo(await self._store.hypotheses(project.id))
            if (status is None or one.status == status)
            and (min_elo is None or one.rating.elo_score >= min_elo)
        ]
        return [summarize_hypothesis(one) for one in found[: question.limit]]

    async def get_hypothesis(self, hypothesis_id: str, call: Call) -> HypothesisInFull:
        found, project = await self.hypothesis(hypothesis_id, call)
        reviews = await self._store.reviews(project.id)
        return detail_hypothesis(found, reviews, await self._store.matches(project.id))

    async def review(self, question: ReviewHypothesis, call: Call) -> JobAnswer:
        subject, project = await self.hypothesis(question.hypothesis_id, call)
        review_type = ReviewType(question.review_type)
        work = ReviewWork(hypothesis_id=subject.id, review_type=review_type)
        return await self.jobs.do(project, work, call)

    async def rank(self, question: RankHypotheses, call: Call) -> JobAnswer:
        project = await self.project(question.research_id, call)
        return await self.jobs.do(project, RankWork(method=question.method), call)

    async def submit(self, question: SubmitHypothesis, call: Call) -> SubmittedHypothesis:
        """The stored hypothesis, with what to call where no run reviews and ranks it."""
        project = await self.project(question.research_id, call)
        require_not_held(project)
        added = describe_hypothesis(await self.human_input.submit(project, question, call))
        return SubmittedHypothesis(
            **added.model_dump(), next_step=_say_next_step(project, added.id)
        )

    async def rate(self, question: RateHypothesis, call: Call) -> ReviewShown:
        subject, project = await self.hypothesis(question.hypothesis_id, call)
        review = await self.human_input.rate(subject, question.score, question.comment, call)
        await self._supervisor.rerate(project)
        return describe_review(review)

    async def decide(
        self, question: DecideHypothesis, call: Call, approval: Approval
    ) -> HypothesisRow:
        subject, project = await self.hypothesis(question.hypothesis_id, call)
        decided = await self.human_input.decide(subject, question.reason, call, approval)
        await self._supervisor.rerate(project)
        return summarize_hypothesis(await self._store.hypothesis(decided.id) or decided)

    async def import_hypotheses(self, question: ImportHypotheses, call: Call) -> ImportReport:
        decision = await self._check_goal(question.goal, call, None)
        if decision.outcome == "hold":
            raise errors.UnsafeGoalError("goal", decision.rule, decision.reason, decision.advice)
        return await self.human_input.import_hypotheses(question, call)

    async def pause(self, research_id: str, call: Call) -> ProjectChanged:
        """Stops the work after the step that it is at."""
        project = await self.project(research_id, call)
        _require(project, {"initializing", "active"}, "pause")
        says = "Paused after the last finished step; resume_research goes on from there."
        return await self._steer(project, ("waiting", "running"), "paused", "paused", says)

    async def resume(self, research_id: str, call: Call) -> ProjectChanged:
        project = await self.project(research_id, call)
        await self._runner.write_outcomes()
        stopped = [
            job for job in await self._store.jobs(project.id) if job.state in {"paused", "failed"}
        ]
        is_assistants = project.mind == "assistant"
        _require(project, {"paused", "failed"} if stopped or is_assistants else set(), "resume")
        says = "The work goes on after the last finished step."
        if is_assistants:
            # The draft that failed is not made again: next_research_task hands out what is left.
            says = "The assistant may go on: next_research_task hands out what is left."
            stopped = [job for job in stopped if job.state == "paused"]
        after: tuple[JobState, ...] = ("paused",) if is_assistants else ("paused", "failed")
        changed = await self._steer(project, after, "waiting", "active", says)
        for job in stopped:
            self._runner.begin(job.id)
        return changed

    async def cancel(self, research_id: str, call: Call) -> ProjectChanged:
        project = await self.project(research_id, call)
        _require(project, {"held", "initializing", "active", "paused", "failed"}, "cancel")
        says = "Cancelled; what was found so far stays."
        after: tuple[JobState, ...] = ("waiting", "running", "paused")
        return await self._steer(project, after, "cancelled", "cancelled", says)

    async def _steer(
        self,
        project: Project,
        after: Sequence[JobState],
        state: JobState,
        status: ProjectStatus,
        says: str,
    ) -> ProjectChanged:
        event = make_event(self._ids, self._clock, project, status, says)
        await self._store.steer(project.id, after, state, status, event)
        return ProjectChanged(research_id=project.id, status=status, message=says)

    async def delete(self, question: DeleteResearch, call: Call) -> ProjectChanged:
        project = await self.project(question.research_id, call)
        if not question.force:
            raise InvalidInputError(
                f"Deleting {project.id} needs force: true",
                next_step="Call again with force: true if it should really be deleted.",
            )
        await self._store.delete_project(project.id)
        return ProjectChanged(
            research_id=project.id, status="deleted", message=f"Deleted: {project.goal}"
        )

    async def project(self, research_id: str, call: Call) -> Project:
        """The caller's project. Raises ResearchNotFoundError."""
        project = await self._store.project(research_id)
        if project is None or project.owner != call.caller.user_id:
            raise errors.ResearchNotFoundError(research_id)
        return self._runner.unwritten.apply_to_project(project)

    async def hypothesis(self, hypothesis_id: str, call: Call) -> tuple[Hypothesis, Project]:
        """The caller's hypothesis with its project. Raises HypothesisNotFoundError."""
        found = await self._store.hypothesis(hypothesis_id)
        project = None if found is None else await self._store.project(found.research_id)
        if found is None or project is None or project.owner != call.caller.user_id:
            raise errors.HypothesisNotFoundError(hypothesis_id)
        return found, self._runner.unwritten.apply_to_project(project)

    def _require_outside(self, call: Call) -> None:
        if self._supervisor.outside is None:
            raise NotConfiguredError(
                "The literature room is not open, so nothing outside can be asked.",
                next_step="Open it with --rooms or the setting rooms.",
            )
        self._supervisor.outside.require_allowed(call)

    async def _read_goal(self, goal: str, project: Project) -> UnderstoodAs | None:
        """The reasoner's reading, or None if it takes too long; the run then reads the goal.

        Where the run looks outside first, papers that are not here yet are no reason to refuse.
        """
        reading = self._supervisor.context.reasoner.understand(goal)
        try:
            return await asyncio.wait_for(reading, READ_WITHIN_SECONDS)
        except (TimeoutError, UnavailableError):
            return None
        except (errors.GoalNotInCorpusError, errors.CorpusEmptyError):
            if project.looks_outside:
                return None
            raise

    def _reading_output(self, project: Project, reading: UnderstoodAs) -> AgentOutput:
        return AgentOutput(
            id=derived_id("out", project.id, GOAL_READING),
            research_id=project.id,
            agent=GOAL_READING,
            step="start",
            mind=self._supervisor.context.reasoner.name,
            given=project.goal,
            answered=reading.model_dump_json(),
            created_at=self._now(),
            finding=reading,
        )

    async def _check_goal(self, goal: str, call: Call, research_id: str | None) -> SafetyDecision:
        """Store and answer the safety decision; raises UnsafeGoalError if it is a refusal."""
        found = check_goal(goal)
        record = SafetyRecord(
            id=self._ids("safe"),
            owner=call.caller.user_id,
            research_id=None if found.outcome == "refuse" else research_id,
            subject="goal",
            text=goal,
            is_allowed=found.allowed,
            rule=found.rule,
            reason=found.reason,
            created_at=self._now(),
        )
        await self._store.save(Changes(safety=(record,)))
        if found.outcome == "refuse":
            raise errors.UnsafeGoalError("goal", found.rule, found.reason, found.advice)
        return found

    def _now(self) -> str:
        return self._clock.now().isoformat()


def _require(project: Project, statuses: set[ProjectStatus], verb: str) -> None:
    if project.status not in statuses:
        require_not_held(project)
        raise errors.WrongStateError(
            f"The project is {project.status}, so there is nothing to {verb}"
        )


def _say_next_step(project: Project, hypothesis_id: str) -> str:
    """What to do to have a new hypothesis reviewed and ranked; empty while a run does so."""
    match project.status:
        case "initializing" | "active":
            return ""
        case "held":
            return "The goal waits for a person's approval."
        case "cancelled":
            return (
                "The project is cancelled: the hypothesis is kept, and is not reviewed or ranked. "
                "Start a new project with start_research for that."
            )
        case "paused" | "failed":
            return (
                f"The project is {project.status}: the hypothesis is reviewed and ranked once "
                "resume_research goes on with the run."
            )
        case "completed":
            by_assistant = (
                f"next_research_task(research_id={project.id}) hands out its review and matches; "
                if project.mind == "assistant"
                else ""
            )
            return (
                "The run is completed: the hypothesis is kept, and takes part in no more rounds "
                f"until somebody asks for them. {by_assistant}"
                f"review_hypothesis(hypothesis_id={hypothesis_id}) reviews it, then "
                f"rank_hypotheses(research_id={project.id}) lets it play."
            )
