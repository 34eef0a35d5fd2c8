"""Goals in doubt: held until a person approves or rejects them."""

from __future__ import annotations

from typing import Literal

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.rooms.research.errors import ResearchNotFoundError, WrongStateError
from carrel.rooms.research.ports import Ids, ResearchStore
from carrel.rooms.research.records import Changes, Job, Project, SafetyRecord, make_event
from carrel.rooms.research.safety import SafetyDecision

GoalVerdict = Literal["approved", "rejected"]


def describe_hold(research_id: str, decision: SafetyDecision) -> str:
    """Why a goal waits, who may let it start, and what would have started at once."""
    return (
        f"It waits for a person's approval; nothing runs until then. {decision.reason} "
        f"An administrator decides: carrel research approve-goal {research_id}, or reject-goal. "
        "Assistants cannot. A goal that says what is to be prevented, treated, detected or "
        "explained starts at once."
    )


def require_not_held(project: Project) -> None:
    """Raises WrongStateError for a project whose goal waits for approval."""
    if project.status == "held":
        raise WrongStateError(
            f"The goal of {project.id} waits for a person's approval, so nothing is done on it",
            next_step=f"A person decides with carrel research approve-goal {project.id} or "
            "reject-goal; get_research_status says why it waits.",
        )


class GoalApproval:
    """What people decide on held goals; the gate has checked that the caller may decide."""

    def __init__(self, store: ResearchStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    async def find_held(self, research_id: str) -> Project:
        """The held project, whoever started it. Raises ResearchNotFoundError, WrongStateError."""
        project = await self._store.project(research_id)
        if project is None:
            raise ResearchNotFoundError(research_id)
        if project.status != "held":
            raise WrongStateError(
                f"The goal of {research_id} waits for nobody: the project is {project.status}",
                next_step="get_research_status says how far it is.",
            )
        return project

    async def approve(self, project: Project, job: Job, reason: str, call: Call) -> None:
        """Store the approval with the run that it starts, in one transaction."""
        decision = self._record(project, "approved", reason, call)
        event = make_event(
            self._ids, self._clock, project, "goal approved", f"by {call.caller.user_id}: {reason}"
        )
        changes = Changes(jobs=(job,), safety=(decision,), events=(event,))
        await self._decide(project, "initializing", None, changes)

    async def reject(self, project: Project, reason: str, call: Call) -> str:
        """Store the rejection and end the project; answers what its views say of it."""
        decision = self._record(project, "rejected", reason, call)
        says = f"{call.caller.user_id} rejected the goal: {reason}"
        event = make_event(self._ids, self._clock, project, "goal rejected", says)
        await self._decide(project, "cancelled", says, Changes(safety=(decision,), events=(event,)))
        return says

    async def _decide(
        self,
        project: Project,
        status: Literal["initializing", "cancelled"],
        problem: str | None,
        changes: Changes,
    ) -> None:
        if not await self._store.decide_goal(project.id, status, problem, self._now(), changes):
            raise WrongStateError(f"Somebody else has just decided on the goal of {project.id}")

    def _record(
        self, project: Project, verdict: GoalVerdict, reason: str, call: Call
    ) -> SafetyRecord:
        return SafetyRecord(
            id=self._ids("safe"),
            owner=project.owner,
            research_id=project.id,
            subject="goal",
            text=project.goal,
            is_allowed=verdict == "approved",
            rule=verdict,
            reason=reason,
            checked_by=call.caller.user_id,
            created_at=self._now(),
        )

    def _now(self) -> str:
        return self._clock.now().isoformat()
