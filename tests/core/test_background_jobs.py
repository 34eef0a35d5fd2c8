"""Background jobs on a real store: how they end, who may see them, and what a crash leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from carrel.core.background_jobs import BackgroundJobs, JobPolicy, JobProgress, JobRun
from carrel.core.clock import SystemClock
from carrel.core.errors import ConflictError
from carrel.core.jobs import JobNotFoundError
from carrel.stores.sql.jobs import SqlJobs
from carrel.stores.sqlite.driver import SqliteDriver

Work = Callable[[JobRun], Awaitable[str]]


class Handler:
    """Does what the test says."""

    def __init__(self, work: Work, *, is_resumable: bool = True) -> None:
        self._work = work
        self.is_resumable = is_resumable

    async def run(self, job: JobRun) -> str:
        return await self._work(job)


def jobs(
    folder: Path,
    work: Work,
    *,
    is_resumable: bool = True,
    lease_seconds: float = 60.0,
    worker: str = "w1",
) -> BackgroundJobs:
    policy = JobPolicy(lease_seconds=lease_seconds, look_every_seconds=0.01)
    handler = Handler(work, is_resumable=is_resumable)
    return BackgroundJobs(
        SqlJobs(SqliteDriver(folder / "jobs.db", SqlJobs.schema_steps)),
        {"count": handler},
        SystemClock(),
        worker,
        policy,
    )


async def save_and_hang(job: JobRun) -> str:
    await job.save(JobProgress('["one"]', 1, 2, "one of two"))
    await asyncio.Event().wait()
    return "never"


async def crash(background: BackgroundJobs, job_id: str) -> None:
    """As a kill leaves it: the run is gone and its lease has run out, and nothing was given back or
    marked.
    """
    while (await background.find(job_id, "ada")).done < 1:
        await asyncio.sleep(0)
    await background._store.renew([job_id], "w1", -1)


def test_a_job_that_fails_says_why_and_an_unexpected_fault_tells_nothing_of_the_inside(
    tmp_path: Path,
) -> None:
    async def fail(job: JobRun) -> str:
        if job.record.input == "plain":
            raise ConflictError("Two at once", next_step="Try again.")
        raise ZeroDivisionError("secret inside")

    async def scene() -> None:
        background = jobs(tmp_path, fail)
        plain = await background.submit("count", "ada", "plain", None)
        ended = await background.wait(plain.id, "ada", 30)
        assert (ended.state, ended.error_code, ended.message) == (
            "failed",
            "conflict",
            "Two at once. Try again.",
        )
        fault = await background.submit("count", "ada", "fault", None)
        ended = await background.wait(fault.id, "ada", 30)
        assert (ended.state, ended.error_code) == ("failed", "internal_error")
        assert "secret" not in ended.message
        await background.close()

    asyncio.run(scene())


def test_nobody_else_sees_waits_for_or_cancels_a_job(tmp_path: Path) -> None:
    async def scene() -> None:
        background = jobs(tmp_path, save_and_hang)
        job = await background.submit("count", "ada", "", 2)
        asked: list[Awaitable[object]] = [
            background.find(job.id, "eve"),
            background.wait(job.id, "eve", 1),
            background.cancel(job.id, "eve"),
        ]
        for ask in asked:
            with pytest.raises(JobNotFoundError):
                await ask
        assert (await background.find(job.id, "ada")).state == "running"
        await background.close()

    asyncio.run(scene())


def test_a_job_interrupted_by_a_crash_is_resumed_from_what_it_had_saved(tmp_path: Path) -> None:
    async def finish(job: JobRun) -> str:
        assert job.is_resumed
        assert job.record.result == '["one"]'
        await job.save(JobProgress('["one", "two"]', 2, 2, "two of two"))
        return "Done."

    async def scene() -> None:
        first = jobs(tmp_path, save_and_hang)
        job = await first.submit("count", "ada", "", 2)
        await crash(first, job.id)
        second = jobs(tmp_path, finish, worker="w2")
        second.take_up_work()
        ended = await second.wait(job.id, "ada", 30)
        assert (ended.state, ended.result, ended.done) == ("completed", '["one", "two"]', 2)
        await first.close()
        assert (await second.find(job.id, "ada")).state == "completed"
        await second.close()

    asyncio.run(scene())


def test_work_is_taken_up_also_where_there_was_no_store_to_look_into_at_first(
    tmp_path: Path,
) -> None:
    async def finish(job: JobRun) -> str:
        return "Done."

    async def scene() -> None:
        looked: list[bool] = []

        def has_store() -> bool:
            looked.append((tmp_path / "jobs.db").exists())
            return looked[-1]

        second = jobs(tmp_path, finish, worker="w2")
        second.take_up_work(has_store)
        while not looked:
            await asyncio.sleep(0)
        assert not (tmp_path / "jobs.db").exists(), "looking makes nothing"
        first = jobs(tmp_path, save_and_hang)
        job = await first.submit("count", "ada", "", 2)
        await crash(first, job.id)
        assert (await second.wait(job.id, "ada", 30)).state == "completed"
        await first.close()
        await second.close()

    asyncio.run(scene())


def test_a_job_that_cannot_resume_is_marked_failed_and_keeps_what_it_had(tmp_path: Path) -> None:
    async def scene() -> None:
        first = jobs(tmp_path, save_and_hang, is_resumable=False)
        job = await first.submit("count", "ada", "", 2)
        await crash(first, job.id)
        second = jobs(tmp_path, save_and_hang, is_resumable=False, worker="w2")
        second.take_up_work()
        ended = await second.wait(job.id, "ada", 30)
        assert (ended.state, ended.error_code, ended.result, ended.done) == (
            "failed",
            "interrupted",
            '["one"]',
            1,
        )
        await first.close()
        await second.close()

    asyncio.run(scene())


def test_a_worker_whose_job_was_taken_writes_no_more_to_it(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def slow(job: JobRun) -> str:
        await job.save(JobProgress("first", 1, 2, ""))
        await go_on.wait()
        await job.save(JobProgress("late", 2, 2, ""))
        return "late"

    async def scene() -> None:
        first = jobs(tmp_path, slow)
        job = await first.submit("count", "ada", "", 2)
        await crash(first, job.id)
        second = jobs(tmp_path, save_and_hang, worker="w2")
        second.take_up_work()
        while (await second.find(job.id, "ada")).result != '["one"]':
            await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(*first._running.values())
        now = await second.find(job.id, "ada")
        assert (now.state, now.result) == ("running", '["one"]')
        await first.close()
        await second.close()

    asyncio.run(scene())
