"""Durable background jobs of any room: kept in a store, run under a lease, resumed after a crash.

Leases are timed by the store's clock. When a lease expires, another worker claims the job: a
handler that can resume continues from its last saved progress; any other job is marked as failed
and keeps what it had saved. A room provides a `JobHandler` per kind, with input, progress and
result as JSON texts. Research has its own runner, because its steps share a transaction with the
hypotheses that they make (decision 12).
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from carrel.core.answer import JobState
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, InternalError
from carrel.core.jobs import JobNotFoundError

log = logging.getLogger("carrel.jobs")

_POLL_SECONDS = 0.25
INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A stored job; `input` and `result` are JSON texts in a form of its kind."""

    id: str
    kind: str
    owner: str
    state: JobState
    message: str
    input: str
    created_at: str
    updated_at: str
    done: int = 0
    total: int | None = None
    result: str | None = None
    error_code: str | None = None

    @property
    def has_ended(self) -> bool:
        return self.state != "running"


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The saved progress of a job."""

    result: str
    done: int
    total: int | None
    message: str


class JobStore(Protocol):
    """Stores jobs, with leases by its own clock; every method raises UnavailableError."""

    async def add(self, record: JobRecord, worker: str, lease_seconds: float) -> None:
        """Store a new job, leased to this worker."""
        ...

    async def get(self, job_id: str) -> JobRecord | None: ...

    async def claim(self, job_id: str, worker: str, lease_seconds: float) -> JobRecord | None:
        """The claimed job; None if it has ended or another worker's lease is valid."""
        ...

    async def renew(self, job_ids: Sequence[str], worker: str, lease_seconds: float) -> None: ...

    async def release(self, job_id: str, worker: str) -> None:
        """Release the lease of a running job, so that it can be claimed at once."""
        ...

    async def save(self, job_id: str, worker: str, progress: JobProgress, at: str) -> bool:
        """Store progress; False if the job has ended or is another worker's."""
        ...

    async def end(
        self,
        job_id: str,
        state: JobState,
        message: str,
        error_code: str | None,
        at: str,
        worker: str | None,
    ) -> bool:
        """End a running job, of `worker` alone if given; False if it had ended already."""
        ...

    async def remove(self, job_id: str) -> None: ...

    async def list_abandoned(self, kinds: Sequence[str]) -> list[str]:
        """Running jobs of these kinds with an expired lease, oldest first."""
        ...

    async def list_owned(
        self, owner: str, kinds: Sequence[str], state: JobState | None, limit: int
    ) -> list[JobRecord]:
        """The owner's jobs of these kinds, newest first, in one state where it is given."""
        ...

    async def list_all(self, state: JobState | None, limit: int) -> list[JobRecord]:
        """Everybody's jobs of every kind, newest first, without what they were given or made."""
        ...

    async def remove_ended(self, before: str) -> None:
        """Forgets jobs that ended before this time."""
        ...

    async def close(self) -> None: ...


class JobLostError(CarrelError):
    """The job was cancelled, or another worker has taken it; whoever runs it must stop."""

    code = "conflict"


class JobRun:
    """One run of a job, as its handler sees it."""

    def __init__(
        self, record: JobRecord, store: JobStore, worker: str, clock: Clock, *, is_resumed: bool
    ) -> None:
        self.record = record
        self.is_resumed = is_resumed
        self._store = store
        self._worker = worker
        self._clock = clock

    async def save(self, progress: JobProgress) -> None:
        """Store progress; raises JobLostError when the job must stop."""
        if not await self._store.save(
            self.record.id, self._worker, progress, self._clock.now().isoformat()
        ):
            raise JobLostError(f"Job {self.record.id} was cancelled or taken by another worker")


class JobHandler(Protocol):
    """Does the work of one kind of job."""

    @property
    def is_resumable(self) -> bool:
        """Whether an interrupted run can continue from its saved progress."""
        ...

    async def run(self, job: JobRun) -> str:
        """Does the work, saving as it goes; the closing message. Raises CarrelError."""
        ...


@dataclass(frozen=True, slots=True)
class JobPolicy:
    """Limits of concurrent jobs, and durations of leases, polls and retention."""

    max_concurrent: int = 8
    lease_seconds: float = 15.0
    look_every_seconds: float = 5.0
    keep_days: float = 30.0


class BackgroundJobs:
    """Runs the jobs of a room in this process; the owner must close it."""

    def __init__(
        self,
        store: JobStore,
        handlers: Mapping[str, JobHandler],
        clock: Clock,
        worker: str,
        policy: JobPolicy | None = None,
    ) -> None:
        self._store = store
        self._handlers = dict(handlers)
        self._clock = clock
        self._worker = worker
        self._policy = policy or JobPolicy()
        self._slots = asyncio.Semaphore(self._policy.max_concurrent)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._renewing: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None

    async def submit(
        self, kind: str, owner: str, work: str, total: int | None, progress: str | None = None
    ) -> JobRecord:
        """Store a job and start it here."""
        now = self._clock.now().isoformat()
        record = JobRecord(
            id=f"job_{secrets.token_hex(12)}",
            kind=kind,
            owner=owner,
            state="running",
            message="Begun.",
            input=work,
            created_at=now,
            updated_at=now,
            total=total,
            result=progress,
        )
        await self._store.add(record, self._worker, self._policy.lease_seconds)
        self._begin(record, is_resumed=False)
        return record

    async def find(self, job_id: str, owner: str) -> JobRecord:
        """The owner's job of one of this room's kinds. Raises JobNotFoundError."""
        record = await self._store.get(job_id)
        if record is None or record.owner != owner or record.kind not in self._handlers:
            raise JobNotFoundError(job_id)
        return record

    async def list_owned(self, owner: str, state: JobState | None, limit: int) -> list[JobRecord]:
        """The owner's jobs of this room's kinds, newest first."""
        return await self._store.list_owned(owner, list(self._handlers), state, limit)

    async def list_all(self, state: JobState | None, limit: int) -> list[JobRecord]:
        """Everybody's jobs of every room, newest first, without what they were given or made."""
        return await self._store.list_all(state, limit)

    async def wait(self, job_id: str, owner: str, seconds: float) -> JobRecord:
        """The job when it has ended, or its state after `seconds`."""
        until = self._clock.monotonic() + seconds
        record = await self.find(job_id, owner)
        while not record.has_ended:
            left = until - self._clock.monotonic()
            if left <= 0:
                break
            task = self._running.get(job_id)
            if task is not None:
                await asyncio.wait({task}, timeout=left)
            else:
                # Another process runs it, or nobody yet.
                await asyncio.sleep(min(left, _POLL_SECONDS))
            record = await self.find(job_id, owner)
        return record

    async def cancel(self, job_id: str, owner: str) -> JobRecord:
        """Ends a running job here or in another process; what it saved stays."""
        await self.find(job_id, owner)
        now = self._clock.now().isoformat()
        await self._store.end(
            job_id, "cancelled", "Cancelled; what was done until then stays.", None, now, None
        )
        task = self._running.get(job_id)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        return await self.find(job_id, owner)

    async def discard(self, job_id: str) -> None:
        """Delete a job after its caller has got the whole result."""
        await self._store.remove(job_id)

    def take_up_work(self, has_store: Callable[[], bool] = lambda: True) -> None:
        """Start claiming abandoned jobs; opens no store while `has_store` returns False."""
        if self._looking is None:
            self._looking = asyncio.create_task(
                self._look_for_work(has_store), name="abandoned jobs"
            )

    async def close(self) -> None:
        """Stop the runs of this process; resumable jobs are released for the next."""
        tasks = [
            task
            for task in (self._looking, self._renewing, *self._running.values())
            if task is not None
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._looking = self._renewing = None
        await self._store.close()

    def _begin(self, record: JobRecord, *, is_resumed: bool) -> None:
        task = asyncio.create_task(
            self._run(record, is_resumed=is_resumed), name=f"job {record.id}"
        )
        self._running[record.id] = task
        task.add_done_callback(lambda _: self._running.pop(record.id, None))
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew_leases(), name="job leases")

    async def _run(self, record: JobRecord, *, is_resumed: bool) -> None:
        handler = self._handlers[record.kind]
        try:
            async with self._slots:
                message = await handler.run(
                    JobRun(record, self._store, self._worker, self._clock, is_resumed=is_resumed)
                )
            await self._end(record, "completed", message, None)
        except JobLostError:
            return
        except asyncio.CancelledError:
            with suppress(CarrelError):
                await asyncio.shield(self._give_back(record, handler))
            raise
        except CarrelError as error:
            await self._end(
                record,
                "failed",
                f"{error.message.rstrip('.')}. {error.next_step}".strip(),
                error.code,
            )
        except Exception:
            error_id = secrets.token_hex(8)
            log.exception(
                "job failed",
                extra={
                    "error_id": error_id,
                    "job_id": record.id,
                    "kind": record.kind,
                    "user": record.owner,
                },
            )
            failure = InternalError(error_id)
            await self._end(
                record, "failed", f"{failure.message}. {failure.next_step}", failure.code
            )

    async def _give_back(self, record: JobRecord, handler: JobHandler) -> None:
        if handler.is_resumable:
            await self._store.release(record.id, self._worker)
        else:
            await self._mark_interrupted(record)

    async def _end(
        self, record: JobRecord, state: JobState, message: str, error_code: str | None
    ) -> None:
        try:
            await self._store.end(
                record.id, state, message, error_code, self._clock.now().isoformat(), self._worker
            )
        except CarrelError as error:
            # The lease runs out, and whoever takes the job up then finds everything done but this.
            log.warning("job end not kept", extra={"job_id": record.id, "reason": error.message})

    async def _mark_interrupted(self, record: JobRecord) -> None:
        message = (
            "The server stopped in the middle of it; what it had done until then stays. "
            "Call again to do the rest."
        )
        await self._end(record, "failed", message, INTERRUPTED)

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(self._policy.lease_seconds / 4)
            with suppress(CarrelError):
                await self._store.renew(
                    list(self._running), self._worker, self._policy.lease_seconds
                )

    async def _look_for_work(self, has_store: Callable[[], bool]) -> None:
        is_there = False
        while True:
            try:
                is_there = is_there or await asyncio.to_thread(has_store)
                if is_there:
                    await self._take_up_abandoned()
            except CarrelError as error:
                log.warning("jobs cannot be looked for", extra={"reason": error.message})
            await asyncio.sleep(self._policy.look_every_seconds)

    async def _take_up_abandoned(self) -> None:
        before = self._clock.now() - timedelta(days=self._policy.keep_days)
        await self._store.remove_ended(before.isoformat())
        for job_id in await self._store.list_abandoned(list(self._handlers)):
            await self._take_up(job_id)

    async def _take_up(self, job_id: str) -> None:
        if job_id in self._running:
            return
        record = await self._store.claim(job_id, self._worker, self._policy.lease_seconds)
        if record is None:
            return
        if self._handlers[record.kind].is_resumable:
            self._begin(record, is_resumed=True)
        else:
            await self._mark_interrupted(record)
