"""What the research room does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError, UnavailableError
from carrel.rooms.research import errors
from carrel.rooms.research.agents.reading import AGENT as READING
from carrel.rooms.research.agents.reading import understanding, understanding_in
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.agents.workshop import derived_id
from carrel.rooms.research.answers import JobAnswer
from carrel.rooms.research.domains import domain_of
from carrel.rooms.research.estimates import progress, remaining_seconds
from carrel.rooms.research.jobs import Jobs, Patience
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
from carrel.rooms.research.order import by_elo, leading
from carrel.rooms.research.people import People
from carrel.rooms.research.ports import ContextMemory, Corpus, Ids
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    Event,
    Hypothesis,
    Project,
    Review,
    SafetyRecord,
    Understanding,
    Work,
)
from carrel.rooms.research.report import html_report
from carrel.rooms.research.results import aims_of, executive_summary, markdown, nih_aims, outside_references
from carrel.rooms.research.runs import Runner
from carrel.rooms.research.safety import check_goal
from carrel.rooms.research.showing import cited, in_full, in_results, review_shown, row, shown, top, understood_as
from carrel.rooms.research.steering import Steering

READ_WITHIN_SECONDS = 1.0


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
        self._supervisor = supervisor
        self._clock = clock
        self._ids = ids
        self.jobs = Jobs(memory, runner, clock, ids, patience or Patience())
        self._steering = Steering(memory, runner, clock, ids)
        self.people = People(memory, corpus, clock, ids, supervisor.workshop.start_elo)

    async def start(self, goal: str, domain: str | None, count: int, call: Call) -> StartedResearch:
        goal = " ".join(goal.split())
        if len(goal) < 10:
            raise InvalidInputError("goal: has fewer than 10 characters", next_step="Say in a sentence what is to be found out.")
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
        await self._memory.keep(Changes(projects=(project,), events=(self._event(project, "started", goal),), outputs=outputs))
        job = await self.jobs.begin(project, "research", Work(count=count))
        expected = self._supervisor.expected_by_kind(project, ())
        await self._memory.plan(job.id, sum(expected.values()))
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
        project = await self.project(research_id, call)
        hypotheses = await self._memory.hypotheses(research_id)
        jobs = await self._memory.jobs(research_id)
        run = next((job for job in jobs if job.kind == "research"), None)
        done = await self._memory.steps(run.id) if run is not None else []
        outputs = await self._memory.outputs(research_id)
        calls = [output for output in outputs if output.is_model_call]
        is_going_on = run is not None and project.status in {"initializing", "active"}
        left = remaining_seconds(self._supervisor.expected_by_kind(project, done), done, await self._memory.pace())
        leaders = leading(hypotheses)
        return ResearchStatus(
            research_id=project.id,
            goal=project.goal,
            status=project.status,
            progress=progress(project, done, left),
            hypotheses_generated=len(hypotheses),
            hypotheses_reviewed=sum(made.review_count > 0 for made in hypotheses),
            hypotheses_in_tournament=sum(made.standing.matches > 0 for made in hypotheses),
            top_hypothesis=top(leaders[0]) if leaders else None,
            last_update=project.updated_at,
            estimated_completion_minutes=-int(-left // 60) if is_going_on else None,
            stage=done[-1].kind if done and is_going_on else None,
            matches_played=len(await self._memory.matches(research_id)),
            model_calls=len(calls),
            cost=sum(output.cost for output in calls),
            working_on=[*self._being_read(), *await self.jobs.working_on(jobs)],
            problem=project.problem,
            understood_as=understood_as(understanding_in(outputs)),
        )

    def _being_read(self) -> list[str]:
        read = self._corpus.being_read()
        return [] if read is None else [f"reading the papers, once: {read[0]} of {read[1]}"]

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
            for project, count in await self._memory.projects(call.caller.user_id, status, limit)
        ]

    async def generate(self, research_id: str, count: int, method: str, call: Call) -> JobAnswer:
        project = await self.project(research_id, call)
        return await self.jobs.do(project, "generate", Work(count=count, method=method), call)

    async def evolve(self, hypothesis_id: str, strategy: str, call: Call) -> JobAnswer:
        parent, project = await self.hypothesis(hypothesis_id, call)
        return await self.jobs.do(project, "evolve", Work(hypothesis_id=parent.id, strategy=strategy), call)

    async def list_hypotheses(
        self, research_id: str, status: str | None, min_elo: float | None, limit: int, call: Call
    ) -> list[HypothesisRow]:
        await self.project(research_id, call)
        found = [
            made
            for made in by_elo(await self._memory.hypotheses(research_id))
            if (status is None or made.status == status) and (min_elo is None or made.standing.elo_score >= min_elo)
        ]
        return [row(made) for made in found[:limit]]

    async def in_full(self, hypothesis_id: str, call: Call) -> HypothesisInFull:
        """Everything there is of one, so that every number of it can be asked why."""
        found, project = await self.hypothesis(hypothesis_id, call)
        return in_full(found, await self._memory.reviews(project.id), await self._memory.matches(project.id))

    async def review(self, hypothesis_id: str, review_type: str, call: Call) -> JobAnswer:
        subject, project = await self.hypothesis(hypothesis_id, call)
        return await self.jobs.do(project, "review", Work(hypothesis_id=subject.id, review_type=review_type), call)

    async def rank(self, research_id: str, method: str, call: Call) -> JobAnswer:
        project = await self.project(research_id, call)
        return await self.jobs.do(project, "rank", Work(method=method), call)

    async def results(self, research_id: str, form: str, top_n: int, call: Call) -> Results:
        project = await self.project(research_id, call)
        ordered = by_elo(await self._memory.hypotheses(research_id))
        reviews, matches = await self._memory.reviews(research_id), await self._memory.matches(research_id)
        chosen = ordered[:top_n]
        rows = [
            in_results(
                rank, made, [review for review in reviews if review.hypothesis_id == made.id] if form == "detailed" else None
            )
            for rank, made in enumerate(chosen, start=1)
        ]
        is_detailed = form == "detailed"
        named = list(dict.fromkeys(paper_id for made in chosen for paper_id in cited(made, is_detailed=is_detailed)))
        items = await self._corpus.references(named) if named else []
        items.extend(item for made in chosen for item in outside_references(made))
        aims = None
        if form == "nih_aims":
            behind = list(dict.fromkeys(paper_id for made in aims_of(ordered) for paper_id in made.draft.citations))
            aims = nih_aims(project, ordered, await self._corpus.papers(behind), reviews)
        read = await understanding(self._memory, research_id)
        events = await self._memory.events(research_id)
        summary = executive_summary(project, ordered, reviews, matches, read, events)
        told = await self.meta_review(research_id)
        lines = await self._corpus.rendered(items) if items else []
        return Results(
            research_id=project.id,
            goal=project.goal,
            status=project.status,
            format=form,
            understood_as=understood_as(read),
            executive_summary=summary,
            top_hypotheses=rows,
            total_hypotheses=len(ordered),
            approved=[made.id for made in ordered if made.decision.approval == "approved"],
            meta_review=told,
            nih_aims=aims,
            bibliography=items,
            bibliography_bibtex=await self._corpus.bibtex(items) if items else "",
            markdown=markdown(project, summary, rows, aims, told, lines),
        )

    async def submit(self, question: SubmitHypothesis, call: Call) -> HypothesisShown:
        project = await self.project(question.research_id, call)
        return shown(await self.people.submit(project, question, call))

    async def rate(self, hypothesis_id: str, score: float, comment: str, call: Call) -> ReviewShown:
        subject, _ = await self.hypothesis(hypothesis_id, call)
        return review_shown(await self.people.rate(subject, score, comment, call))

    async def decide(self, hypothesis_id: str, reason: str, call: Call, *, is_approved: bool) -> HypothesisRow:
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
        return ProjectChanged(research_id=research_id, status="deleted", message=f"Deleted: {project.goal}")

    async def everything(self, research_id: str, call: Call) -> dict[str, Any]:
        """All that is remembered of a project, so that every number can be asked why."""
        project = await self.project(research_id, call)
        return {
            "project": project.model_dump(mode="json"),
            "hypotheses": [made.model_dump(mode="json") for made in await self._memory.hypotheses(research_id)],
            "reviews": [review.model_dump(mode="json") for review in await self._memory.reviews(research_id)],
            "matches": [match.model_dump(mode="json") for match in await self._memory.matches(research_id)],
            "agent_outputs": [output.model_dump(mode="json") for output in await self._memory.outputs(research_id)],
            "events": [event.model_dump(mode="json") for event in await self._memory.events(research_id)],
            "safety": [
                one.model_dump(mode="json")
                for one in await self._memory.safety(call.caller.user_id)
                if one.research_id == research_id
            ],
        }

    async def story(self, research_id: str, call: Call) -> tuple[Project, list[Hypothesis], list[Review], list[Any]]:
        project = await self.project(research_id, call)
        hypotheses = by_elo(await self._memory.hypotheses(research_id))
        return project, hypotheses, await self._memory.reviews(research_id), await self._memory.matches(research_id)

    async def page(self, research_id: str, call: Call) -> str:
        """The project as an HTML page of its own."""
        project, ordered, reviews, matches = await self.story(research_id, call)
        return html_report(
            project,
            ordered,
            reviews,
            matches,
            references=await self.references(ordered),
            opening=executive_summary(
                project,
                ordered,
                reviews,
                matches,
                await understanding(self._memory, research_id),
                await self._memory.events(research_id),
            ),
            meta_review=await self.meta_review(research_id),
        )

    async def references(self, hypotheses: Sequence[Hypothesis]) -> list[dict[str, Any]]:
        """The works that hypotheses cite, as CSL-JSON, each once."""
        named = list(dict.fromkeys(paper_id for made in hypotheses for paper_id in made.draft.citations))
        items = await self._corpus.references(named) if named else []
        return [*items, *(item for made in hypotheses for item in outside_references(made))]

    async def project(self, research_id: str, call: Call) -> Project:
        project = await self._memory.project(research_id)
        if project is None or project.owner != call.caller.user_id:
            raise errors.ResearchNotFoundError(research_id)
        return project

    async def hypothesis(self, hypothesis_id: str, call: Call) -> tuple[Hypothesis, Project]:
        found = await self._memory.hypothesis(hypothesis_id)
        project = None if found is None else await self._memory.project(found.research_id)
        if found is None or project is None or project.owner != call.caller.user_id:
            raise errors.HypothesisNotFoundError(hypothesis_id)
        return found, project

    async def meta_review(self, research_id: str) -> str:
        told = [output.answered for output in await self._memory.outputs(research_id) if output.agent == "meta-review"]
        return told[-1] if told else ""

    async def _understood(self, goal: str) -> Understanding | None:
        """The mind's reading where it comes at once. While the concept index is being made it does not: then the run reads it."""
        try:
            return await asyncio.wait_for(self._supervisor.workshop.mind.understand(goal), READ_WITHIN_SECONDS)
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
        return Event(id=self._ids("evt"), research_id=project.id, kind=kind, says=says, created_at=self._now())

    def _now(self) -> str:
        return self._clock.now().isoformat()
