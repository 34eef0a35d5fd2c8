"""The operations by which an assistant does a project's work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.research.tasks.models import (
    NextResearchTask,
    NextTask,
    SubmitResearchTask,
    SubmittedTask,
)
from carrel.rooms.research.tasks.service import AssistantWork

_SCOPES = frozenset({"research:write", "hypotheses:generate"})


def _quoted_in_next(
    arguments: Mapping[str, Any], answer: NextTask, caller: Caller
) -> Iterable[QuotedSource]:
    papers = dict.fromkeys(one.id.rpartition("~")[0] for one in answer.passages)
    return [QuotedSource("paper", name) for name in papers]


def _quoted_in_submitted(
    arguments: Mapping[str, Any], answer: SubmittedTask, caller: Caller
) -> Iterable[QuotedSource]:
    return [] if answer.next is None else _quoted_in_next(arguments, answer.next, caller)


class TaskOperations:
    """Taking and answering research tasks."""

    def __init__(self, work: AssistantWork) -> None:
        self._work = work

    @operation(
        title="Next research task",
        description=(
            "Do a project's thinking yourself: one task with passages and answer_shape; hand it "
            "in with submit_research_task."
        ),
        scopes=_SCOPES,
        effect=Effect.WRITES,
        quotes=_quoted_in_next,
        command="next-task",
        phrases=(
            "work on a research project yourself; take the next task of a project; do the "
            "research with your own model; give me work on the project; be the scientist of a "
            "project; next step of the research for the assistant"
        ),
    )
    async def next_research_task(self, question: NextResearchTask, call: Call) -> NextTask:
        return await self._work.next(question, call)

    @operation(
        title="Submit a research task",
        description=(
            "Hand in a task's answer: kept, with the next task, or what to mend. Repeating is "
            "harmless."
        ),
        scopes=_SCOPES,
        effect=Effect.WRITES,
        is_idempotent=True,
        quotes=_quoted_in_submitted,
        command="submit-task",
        phrases=(
            "hand in a research task; answer a research task; submit hypotheses, reviews or "
            "verdicts for a task; return the answer of a task"
        ),
    )
    async def submit_research_task(self, question: SubmitResearchTask, call: Call) -> SubmittedTask:
        return await self._work.submit(question, call)
