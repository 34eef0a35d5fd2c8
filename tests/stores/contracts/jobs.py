"""What every store of background jobs keeps to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from carrel.core.background_jobs import JobProgress, JobRecord, JobStore

RECORD = JobRecord(
    "job_1",
    "add_references",
    "ada",
    "running",
    "Begun.",
    "{}",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00:00",
)
NOW = "2026-01-02T00:00:00"


def run(store: JobStore, scene: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        try:
            await scene()
        finally:
            await store.close()

    asyncio.run(whole())


class JobStoreContract:
    """Inherited by the tests of each store, which give it a `store`."""

    def test_a_job_is_kept_as_it_was_added(self, store: JobStore) -> None:
        async def scene() -> None:
            record = replace(RECORD, total=3, result='{"a":"ü"}')
            await store.add(record, "w1", 60)
            assert await store.get("job_1") == record
            assert await store.get("job_2") is None

        run(store, scene)

    def test_only_the_worker_that_holds_a_job_writes_to_it(self, store: JobStore) -> None:
        async def scene() -> None:
            await store.add(RECORD, "w1", 60)
            progress = JobProgress("[1]", 1, 2, "half")
            assert not await store.save("job_1", "w2", progress, NOW)
            assert await store.save("job_1", "w1", progress, NOW)
            found = await store.get("job_1")
            assert found is not None
            assert (found.result, found.done, found.total, found.message, found.updated_at) == (
                "[1]",
                1,
                2,
                "half",
                NOW,
            )
            assert not await store.end("job_1", "completed", "Done.", None, NOW, "w2")
            assert await store.end("job_1", "completed", "Done.", None, NOW, "w1")
            assert not await store.save("job_1", "w1", progress, NOW)

        run(store, scene)

    def test_a_job_is_taken_only_when_its_lease_has_run_out_or_was_given_back(
        self, store: JobStore
    ) -> None:
        async def scene() -> None:
            await store.add(RECORD, "w1", 60)
            assert await store.list_abandoned(["add_references"]) == []
            assert await store.claim("job_1", "w2", 60) is None
            await store.release("job_1", "w2")
            assert await store.claim("job_1", "w2", 60) is None
            await store.release("job_1", "w1")
            assert await store.list_abandoned(["add_references"]) == ["job_1"]
            assert await store.list_abandoned(["other"]) == []
            assert (await store.claim("job_1", "w2", -1)) == RECORD
            assert await store.list_abandoned(["add_references"]) == ["job_1"]
            await store.renew(["job_1"], "w1", 60)
            assert await store.list_abandoned(["add_references"]) == ["job_1"]
            await store.renew(["job_1"], "w2", 60)
            assert await store.list_abandoned(["add_references"]) == []

        run(store, scene)

    def test_the_newest_jobs_of_one_owner_are_listed(self, store: JobStore) -> None:
        async def scene() -> None:
            newer = replace(RECORD, id="job_2", created_at="2026-01-01T01:00:00")
            await store.add(RECORD, "w1", 60)
            await store.add(newer, "w1", 60)
            await store.add(replace(RECORD, id="job_3", owner="somebody else"), "w1", 60)
            await store.add(replace(RECORD, id="job_4", kind="other"), "w1", 60)
            kinds = [RECORD.kind]
            assert await store.list_owned(RECORD.owner, kinds, None, 10) == [newer, RECORD]
            assert await store.list_owned(RECORD.owner, kinds, None, 1) == [newer]
            assert await store.list_owned(RECORD.owner, [], None, 10) == []
            await store.end("job_1", "completed", "Done.", None, NOW, "w1")
            assert await store.list_owned(RECORD.owner, kinds, "running", 10) == [newer]
            (ended,) = await store.list_owned(RECORD.owner, kinds, "completed", 10)
            assert ended.id == "job_1"

        run(store, scene)

    def test_everybodys_newest_jobs_are_listed_without_what_they_hold(
        self, store: JobStore
    ) -> None:
        async def scene() -> None:
            assert await store.list_all(None, 10) == []
            older = replace(RECORD, input='{"secret":1}', result="[1]")
            newer = replace(
                RECORD, id="job_2", owner="bob", kind="other", created_at="2026-01-01T01:00:00"
            )
            await store.add(older, "w1", 60)
            await store.add(newer, "w1", 60)
            bare = replace(older, input="", result=None)
            assert await store.list_all(None, 10) == [replace(newer, input=""), bare]
            assert [job.id for job in await store.list_all(None, 1)] == ["job_2"]
            await store.end("job_2", "completed", "Done.", None, NOW, "w1")
            assert await store.list_all("running", 10) == [bare]

        run(store, scene)

    def test_anybody_who_may_can_cancel_and_the_end_is_final(self, store: JobStore) -> None:
        async def scene() -> None:
            await store.add(RECORD, "w1", 60)
            assert await store.end("job_1", "cancelled", "Cancelled.", None, NOW, None)
            assert not await store.end("job_1", "failed", "Too late.", "x", NOW, "w1")
            found = await store.get("job_1")
            assert found is not None
            assert (found.state, found.message) == ("cancelled", "Cancelled.")
            assert await store.claim("job_1", "w2", 60) is None

        run(store, scene)

    @pytest.mark.parametrize(("state", "is_kept"), [("running", True), ("completed", False)])
    def test_only_ended_jobs_are_forgotten_with_time(
        self, store: JobStore, state: str, is_kept: bool
    ) -> None:
        async def scene() -> None:
            await store.add(RECORD, "w1", 60)
            if state == "completed":
                await store.end("job_1", "completed", "Done.", None, NOW, "w1")
            await store.remove_ended("2026-01-01T12:00:00")
            assert await store.get("job_1") is not None
            await store.remove_ended("2027-01-01")
            assert (await store.get("job_1") is not None) is is_kept

        run(store, scene)
