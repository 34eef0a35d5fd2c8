"""What the research room does."""

from __future__ import annotations

import asyncio
from typing import Any

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.completion import MAX_COMPLETION_VALUES, Completion, complete_titled
from carrel.core.errors import InvalidInputError, UnavailableError
from carrel.rooms.research import errors
from carrel.rooms.research.agents import derived_id
from carrel.rooms.research.agents.reflection import AGENT as READING
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.domains import domain_of
from carrel.rooms.research.human_input import People
from carrel.rooms.research.hypothesis_views import by_elo, review_shown, row, shown, understood_as
from carrel.rooms.research.jobs import JobAnswer, Jobs, Patience
from carrel.rooms.research.models import (
    HypothesisInFull,
    HypothesisRow,
    HypothesisShown,
    ImportReport,
    ProjectChanged,
    ProjectSummary,
    ResearchStatus,
    Results,
    ReviewShown,
    StartedResearch,
    SubmitHypothesis,
)
from carrel.rooms.research.ports import ContextMemory, Corpus, Ids
from carrel.rooms.research.project_views import Telling, remaining_seconds
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    Event,
    Hypothesis,
    Project,
    SafetyRecord,
    Understanding,
    Work,
)
from carrel.rooms.research.run_control import Steering
from carrel.rooms.research.runner import Runner
from carrel.rooms.research.safety import check_goal

# start_research answers within 2 s whatever the corpus; what it writes down takes milliseconds.
READ_WITHIN_SECONDS = 1.0
_MOST_PROJECTS = 10_000


class ResearchRoom:
    """The service. Every project belongs to who started it; to everybody else it does not exist."""

    def __init__(
        self,
        memory: ContextMemory,
        corpus: Corpus,
        supervisor: Supervisor,
        runner: Runner,
        clock: Clock,
        ids: Ids,
        patience: Patience | None = None,
    ) -> None:
        self._memory = memory
        self._corpus = corpus
        self._runner = runner
        self._supervisor = supervisor
        self._clock = clock
        self._ids = ids
        self.jobs = Jobs(memory, runner, clock, ids, patience or Patience())
        self.telling = Telling(memory, corpus, supervisor, self.jobs)
        self._steering = Steering(memory, runner, clock, ids)
        self.people = People(memory, corpus, clock, ids, supervisor.workshop.start_elo)

    async def start(self, goal: str, domain: str | None, count: int, call: Call) -> StartedResearch:
        goal = " ".join(goal.split())
        if len(goal) < 10:
            raise InvalidInputError(
                "goal: has fewer than 10 characters",
                next_step="Say in a sentence what is to be found out.",
            )
        research_id = self._ids("res")
        await self._check(goal, call, research_id)
        now = self._now()
        project = Project(
            id=research_id,
            owner=call.caller.user_id,
            goal=goal,
            domain=(domain or "").strip() or domain_of(goal),
            hypothesis_count=count,
            seed=int.from_bytes(research_id.encode()[-4:], "big"),
            created_at=now,
            updated_at=now,
        )
        read = await self._understood(goal)
        outputs = () if read is None else (self._reading(project, read),)
        expected = self._supervisor.expected_by_kind(project, ())
        job = self.jobs.planned(project, "research", Work(count=count), sum(expected.values()))
        events = (self._event(project, "started", goal),)
        # Together, so that there is never a project that nobody works on.
        await self._memory.keep(
            Changes(projects=(project,), jobs=(job,), events=events, outputs=outputs)
        )
        self._runner.begin(job.id)
        hours = remaining_seconds(expected, (), await self._memory.pace()) / 3600.0
        return StartedResearch(
            research_id=project.id,
            goal=project.goal,
            domain=project.domain,
            status=project.status,
            estimated_time_hours=round(hours, 4),
            understood_as=understood_as(read),
        )

    async def status(self, research_id: str, call: Call) -> ResearchStatus:
        return await self.telling.status(await self.project(research_id, call))

    async def in_full(self, hypothesis_id: str, call: Call) -> HypothesisInFull:
        return await self.telling.in_full(*await self.hypothesis(hypothesis_id, call))

    async def results(self, research_id: str, form: str, top_n: int, call: Call) -> Results:
        return await self.telling.results(await self.project(research_id, call), form, top_n)

    async def page(self, research_id: str, call: Call) -> str:
        return await self.telling.page(await self.project(research_id, call))

    async def everything(self, research_id: str, call: Call) -> dict[str, Any]:
        return await self.telling.everything(await self.project(research_id, call))

    async def projects(self, status: str | None, limit: int, call: Call) -> list[ProjectSummary]:
        return [
            ProjectSummary(
                id=project.id,
                goal=project.goal,
                domain=project.domain,
                status=project.status,
                hypothesis_count=count,
                created_at=project.created_at,
                last_updated=project.updated_at,
            )
            for project, count in await self._shown_projects(call.caller.user_id, status, limit)
        ]

    async def complete_project(self, typed: str, call: Call) -> Completion:
        """Ids of the caller's projects by id or goal."""
        found = await self._memory.projects(call.caller.user_id, None, _MOST_PROJECTS)
        return complete_titled(((project.id, project.goal) for project, _ in found), typed)

    async def complete_hypothesis(self, typed: str, call: Call) -> Completion:
        """Ids of the caller's hypotheses."""
        found, total = await self._memory.hypothesis_ids(
            call.caller.user_id, typed, MAX_COMPLETION_VALUES
        )
        return Completion(tuple(found), total)

    async def _shown_projects(
        self, owner: str, status: str | None, limit: int
    ) -> list[tuple[Project, int]]:
        unwritten = self._runner.unwritten
        if not len(unwritten):
            return await self._memory.projects(owner, status, limit)
        # Some are not what their rows say, so rows cannot be chosen by status.
        rows = await self._memory.projects(owner, None, _MOST_PROJECTS)
        shown = [(unwritten.show_project(project), count) for project, count in rows]
        return [
            (project, count)
            for project, count in shown
            if status is None or project.status == status
        ][:limit]

    async def generate(self, research_id: str, count: int, method: str, call: Call) -> JobAnswer:
        project = await self.project(research_id, call)
        return await self.jobs.do(project, "generate", Work(count=count, method=method), call)

    async def evolve(self, hypothesis_id: str, strategy: str, call: Call) -> JobAnswer:
        parent, project = await self.hypothesis(hypothesis_id, call)
        if parent.decision.approval == "rejected":
            raise errors.WrongStateError(
                "A person has rejected this hypothesis, so nothing is made from it",
                next_step="Approve it first, or choose another.",
            )
        return await self.jobs.do(
            project, "evolve", Work(hypothesis_id=parent.id, strategy=strategy), call
        )

    async def list_hypotheses(
        self, research_id: str, status: str | None, min_elo: float | None, limit: int, call: Call
    ) -> list[HypothesisRow]:
        await self.project(research_id, call)
        found = [
            made
            for made in by_elo(await self._memory.hypotheses(research_id))
            if (status is None or made.status == status)
            and (min_elo is None or made.standing.elo_score >= min_elo)
        ]
        return [row(made) for made in found[:limit]]

    async def review(self, hypothesis_id: str, review_type: str, call: Call) -> JobAnswer:
        subject, project = await self.hypothesis(hypothesis_id, call)
        return await self.jobs.do(
            project, "review", Work(hypothesis_id=subject.id, review_type=review_type), call
        )

    async def rank(self, research_id: str, method: str, call: Call) -> JobAnswer:
        project = await self.project(research_id, call)
        return await self.jobs.do(project, "rank", Work(method=method), call)

    async def submit(self, question: SubmitHypothesis, call: Call) -> HypothesisShown:
        project = await self.project(question.research_id, call)
        return shown(await self.people.submit(project, question, call))

    async def rate(self, hypothesis_id: str, score: float, comment: str, call: Call) -> ReviewShown:
        subject, _ = await self.hypothesis(hypothesis_id, call)
        return review_shown(await self.people.rate(subject, score, comment, call))

    async def decide(
        self, hypothesis_id: str, reason: str, call: Call, *, is_approved: bool
    ) -> HypothesisRow:
        subject, _ = await self.hypothesis(hypothesis_id, call)
        return row(await self.people.decide(subject, reason, call, is_approved=is_approved))

    async def import_earlier(self, text: str, goal: str, call: Call) -> ImportReport:
        await self._check(goal, call, None)
        return await self.people.import_earlier(text, goal, call)

    async def pause(self, research_id: str, call: Call) -> ProjectChanged:
        return await self._steering.pause(await self.project(research_id, call))

    async def resume(self, research_id: str, call: Call) -> ProjectChanged:
        return await self._steering.resume(await self.project(research_id, call))

    async def cancel(self, research_id: str, call: Call) -> ProjectChanged:
        return await self._steering.cancel(await self.project(research_id, call))

    async def delete(self, research_id: str, call: Call, *, is_forced: bool) -> ProjectChanged:
        project = await self.project(research_id, call)
        if not is_forced:
            raise InvalidInputError(
                f"Deleting {research_id} needs force: true",
                next_step="Call again with force: true if it should really be deleted.",
            )
        await self._memory.delete_project(research_id)
        return ProjectChanged(
            research_id=research_id, status="deleted", message=f"Deleted: {project.goal}"
        )

    async def project(self, research_id: str, call: Call) -> Project:
        project = await self._memory.project(research_id)
        if project is None or project.owner != call.caller.user_id:
            raise errors.ResearchNotFoundError(research_id)
        return self._runner.unwritten.show_project(project)

    async def hypothesis(self, hypothesis_id: str, call: Call) -> tuple[Hypothesis, Project]:
        found = await self._memory.hypothesis(hypothesis_id)
        project = None if found is None else await self._memory.project(found.research_id)
        if found is None or project is None or project.owner != call.caller.user_id:
            raise errors.HypothesisNotFoundError(hypothesis_id)
        return found, self._runner.unwritten.show_project(project)

    async def _understood(self, goal: str) -> Understanding | None:
        """The mind's reading where it comes at once. While the concept index is being made it does
        not: then the run reads it.
        """
        try:
            return await asyncio.wait_for(
                self._supervisor.workshop.mind.understand(goal), READ_WITHIN_SECONDS
            )
        except (TimeoutError, UnavailableError):
            return None

    def _reading(self, project: Project, read: Understanding) -> AgentOutput:
        return AgentOutput(
            id=derived_id("out", project.id, READING),
            research_id=project.id,
            agent=READING,
            step="start",
            mind=self._supervisor.workshop.mind.name,
            given=project.goal,
            answered=read.model_dump_json(),
            created_at=self._now(),
        )

    async def _check(self, goal: str, call: Call, research_id: str | None) -> None:
        """Every decision is written down, whichever way it goes."""
        found = check_goal(goal)
        record = SafetyRecord(
            id=self._ids("safe"),
            owner=call.caller.user_id,
            research_id=research_id if found.allowed else None,
            subject="goal",
            text=goal,
            is_allowed=found.allowed,
            rule=found.rule,
            reason=found.reason,
            created_at=self._now(),
        )
        await self._memory.keep(Changes(safety=(record,)))
        if not found.allowed:
            raise errors.UnsafeGoalError("goal", found.rule, found.reason, found.advice)

    def _event(self, project: Project, kind: str, says: str) -> Event:
        return Event(
            id=self._ids("evt"),
            research_id=project.id,
            kind=kind,
            says=says,
            created_at=self._now(),
        )

    def _now(self) -> str:
        return self._clock.now().isoformat()
