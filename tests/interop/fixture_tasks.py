"""The fixtures of the official suite's task scenarios: work in memory that takes seconds, fails, or
waits to be cancelled.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from carrel.core.answer import Job, JobState, Text
from carrel.core.caller import Call
from carrel.core.errors import CarrelError, InternalError
from carrel.core.jobs import JobNotFoundError
from carrel.core.operation import Effect, Operation, Question


class Greet(Question):
    """Whom."""

    name: str = "World"


class Compute(Question):
    """For how long."""

    seconds: float = 1.0
    label: str = ""


class FailingJobError(CarrelError):
    """What failing_job always ends with."""

    code = "conflict"


@dataclass
class Task:
    """One piece of work."""

    id: str
    operation: str
    running: asyncio.Task[Text]
    began_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())

    def seen(self) -> Job:
        state: JobState = "running"
        answer: Text | None = None
        problem: CarrelError | None = None
        if self.running.cancelled() or self.running.cancelling():
            state = "cancelled"
        elif self.running.done():
            error = self.running.exception()
            state = "failed" if error else "completed"
            problem = error if isinstance(error, CarrelError) else None
            answer = None if error else self.running.result()
        return Job(
            self.id,
            self.operation,
            state,
            state,
            self.began_at,
            self.began_at,
            result=answer,
            error=problem,
        )


class TaskFixtures:
    """The tools, and how their work is followed."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._numbers = itertools.count(1)

    def operations(self) -> tuple[Operation[Any], ...]:
        return (
            _operation("greet", Greet, self._greet, lasts=False),
            _operation("slow_compute", Compute, self._as_job("slow_compute", self._compute)),
            _operation("failing_job", Compute, self._as_job("failing_job", self._fail)),
            _operation(
                "protocol_error_job", Compute, self._as_job("protocol_error_job", self._break)
            ),
            _operation("confirm_delete", Compute, self._as_job("confirm_delete", self._compute)),
        )

    async def _greet(self, question: Greet, call: Call) -> Text:
        return Text(f"Hello, {question.name}!")

    async def _compute(self, question: Compute) -> Text:
        await asyncio.sleep(question.seconds)
        return Text(f"Done after {question.seconds:g} s {question.label}".strip())

    async def _fail(self, question: Compute) -> Text:
        await asyncio.sleep(min(question.seconds, 1.0))
        raise FailingJobError("This job always fails")

    async def _break(self, question: Compute) -> Text:
        raise InternalError("fixture")

    def _as_job(
        self, name: str, work: Callable[[Compute], Coroutine[Any, Any, Text]]
    ) -> Callable[[Compute, Call], Coroutine[Any, Any, Any]]:
        async def begin(question: Compute, call: Call) -> Text | Job:
            if not call.can_follow:
                return await work(question)
            task = Task(f"fixture-{next(self._numbers)}", name, asyncio.create_task(work(question)))
            self._tasks[task.id] = task
            return task.seen()

        return begin

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> Job:
        return self._task(job_id).seen()

    async def cancel_job(self, job_id: str, call: Call) -> Job:
        task = self._task(job_id)
        task.running.cancel()
        return task.seen()

    async def list_jobs(self, call: Call, state: JobState | None, limit: int) -> list[Job]:
        seen = [task.seen() for task in self._tasks.values()]
        return [job for job in seen if state is None or job.state == state][:limit]

    def _task(self, job_id: str) -> Task:
        if job_id not in self._tasks:
            raise JobNotFoundError(job_id)
        return self._tasks[job_id]


def _operation(
    name: str,
    question: type[Question],
    run: Callable[[Any, Call], Coroutine[Any, Any, Any]],
    *,
    lasts: bool = True,
) -> Operation[Any]:
    title = name.replace("_", " ").capitalize()
    return Operation(
        name,
        "fixtures",
        title,
        f"Fixture: {title}.",
        question,
        Text,
        run,
        frozenset(),
        Effect.READS,
        may_outlast_call=lasts,
    )
