"""The operations that show a project from the inside, for the pages of the web console."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.quoting import QuotedSource
from carrel.rooms.research.detail_models import (
    GetResearchOverview,
    GetResearchRecord,
    GetTournament,
    HeldGoal,
    HypothesisEvidence,
    ListEvidence,
    ListHeldGoals,
    ListResearchTasks,
    PlanResearch,
    ResearchOverview,
    ResearchPlan,
    ResearchRecord,
    TaskSummary,
    Tournament,
)
from carrel.rooms.research.detail_views import ProjectDetails
from carrel.rooms.research.evidence_views import EvidenceViews
from carrel.rooms.research.quoting import quoted_project
from carrel.rooms.research.service import ResearchRoom

_PATIENT_SECONDS = 120.0
_READ_PROJECT = frozenset({"research:read"})
_READ_HYPOTHESES = frozenset({"research:read", "hypotheses:read"})
_READ_REVIEWS = frozenset({"research:read", "hypotheses:read", "reviews:read"})


def _quoted_in_evidence(
    arguments: Mapping[str, Any], answer: Sequence[HypothesisEvidence], caller: Caller
) -> Iterable[QuotedSource]:
    papers = {
        sentence.paper_id: sentence.title
        for one in answer
        for statement in one.statements
        for sentence in (*statement.supporting, *statement.contradicting, *statement.bearing)
    }
    return [
        *(QuotedSource("hypothesis", one.hypothesis_id) for one in answer),
        *(QuotedSource("paper", name, title or None) for name, title in papers.items()),
    ]


class DetailOperations:
    """Plan, tournament, evidence, record, tasks and held goals."""

    def __init__(
        self, research: ResearchRoom, details: ProjectDetails, evidence: EvidenceViews
    ) -> None:
        self._research = research
        self._details = details
        self._evidence = evidence

    @operation(
        title="Plan research",
        description="What start_research would do with this goal: every setting, steps, time.",
        scopes=_READ_PROJECT,
        command="plan",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        is_for_people=True,
        phrases="settings of a run before it starts; what would a research run do",
    )
    async def plan_research(self, question: PlanResearch, call: Call) -> ResearchPlan:
        return await self._details.plan(question, call)

    @operation(
        title="Get the tournament",
        description="Every hypothesis with its rating over the matches, and every match.",
        scopes=_READ_HYPOTHESES,
        quotes=quoted_project,
        command="tournament",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        is_for_people=True,
        phrases="ratings over the matches; the tournament of a project; Elo over time",
    )
    async def get_tournament(self, question: GetTournament, call: Call) -> Tournament:
        project = await self._research.project(question.research_id, call)
        return await self._details.tournament(project)

    @operation(
        title="List evidence",
        description=(
            "Sentences for and against each statement that hypotheses rest on, with their passages."
        ),
        scopes=_READ_REVIEWS,
        quotes=_quoted_in_evidence,
        command="evidence",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        is_for_people=True,
        phrases="evidence of a project by statement; sentences for and against hypotheses",
    )
    async def list_evidence(self, question: ListEvidence, call: Call) -> list[HypothesisEvidence]:
        project = await self._research.project(question.research_id, call)
        return await self._evidence.find(project, question.hypothesis_id, question.limit)

    @operation(
        title="Get a research record",
        description="How results came about: phases, events, who made what, cost, how to repeat.",
        scopes=_READ_REVIEWS,
        quotes=quoted_project,
        command="record",
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        is_for_people=True,
        phrases="what happened in a project; phases of a run; how to repeat a run",
    )
    async def get_research_record(self, question: GetResearchRecord, call: Call) -> ResearchRecord:
        return await self._details.record(await self._research.project(question.research_id, call))

    @operation(
        title="List research tasks",
        description="A project's tasks for assistants: open ones first, then what was answered.",
        scopes=_READ_PROJECT,
        quotes=quoted_project,
        command="tasks",
        is_listed=False,
        is_for_people=True,
        phrases="tasks of a project; which tasks wait for an assistant",
    )
    async def list_research_tasks(
        self, question: ListResearchTasks, call: Call
    ) -> list[TaskSummary]:
        project = await self._research.project(question.research_id, call)
        return await self._details.tasks(project, question.limit)

    @operation(
        title="Get the research overview",
        description="How many projects and hypotheses there are, what waits, and what is new.",
        scopes=_READ_PROJECT,
        command="overview",
        is_listed=False,
        is_for_people=True,
        phrases="what waits for me in research; how many projects and hypotheses",
    )
    async def get_research_overview(
        self, question: GetResearchOverview, call: Call
    ) -> ResearchOverview:
        return await self._details.overview(call.caller.user_id, question.newest)

    @operation(
        title="List held goals",
        description="Goals that wait for an administrator, of everybody, oldest first.",
        scopes=frozenset({"admin"}),
        command="held-goals",
        is_listed=False,
        is_for_people=True,
        phrases="goals that wait for approval; held projects of all users",
    )
    async def list_held_goals(self, question: ListHeldGoals, call: Call) -> list[HeldGoal]:
        return await self._details.held_goals(question.limit)
