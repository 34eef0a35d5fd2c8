"""The research room's store in SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from carrel.core.errors import UnavailableError
from carrel.rooms.research.ports import ResearchStore
from carrel.rooms.research.records import Changes, Job, RankWork
from carrel.stores.sql.research import SqlResearch
from carrel.stores.sql.research.schema import SCRIPTS
from carrel.stores.sqlite.driver import SqliteDriver
from tests.stores.contracts.research import NOW, ResearchMemoryContract, Story, project


class TestSqliteResearch(ResearchMemoryContract):
    @pytest.fixture
    def told(self, tmp_path: Path) -> Callable[[Story], None]:
        def tell(story: Story) -> None:
            async def run() -> None:
                store = SqlResearch(
                    SqliteDriver(tmp_path / "research" / "research.db", SqlResearch.schema_steps)
                )
                try:
                    await story(store)
                finally:
                    await store.close()

            asyncio.run(run())

        return tell


@dataclass
class SetClock:
    """A machine's clock in the hands of a test."""

    time: float = 1_000_000.0
    name: str = "first boot"
    seconds: float = 100.0

    def now(self) -> float:
        return self.time

    def boot(self) -> str:
        return self.name

    def ticks(self) -> float:
        return self.seconds


def at_a_clock(folder: Path, story: Callable[[ResearchStore, SetClock], Awaitable[None]]) -> None:
    async def run() -> None:
        clock = SetClock()
        store = SqlResearch(SqliteDriver(folder / "research.db", SCRIPTS, clock=clock))
        await store.save(
            Changes(
                projects=(project(),),
                jobs=(
                    Job(
                        id="job_a",
                        research_id="res_a",
                        work=RankWork(method="tournament"),
                        created_at=NOW,
                    ),
                ),
            )
        )
        assert await store.claim("job_a", "one", 20.0)
        await story(store, clock)
        await store.close()

    asyncio.run(run())


@pytest.mark.promise("S2")
@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_clock_that_is_set_anew_neither_ends_a_lease_nor_makes_it_last(
    tmp_path: Path, jump: float
) -> None:
    async def story(store: ResearchStore, clock: SetClock) -> None:
        clock.time += jump
        clock.seconds += 19.0
        assert not await store.claim("job_a", "late", 20.0)
        clock.seconds += 2.0
        assert await store.claim("job_a", "late", 20.0)

    at_a_clock(tmp_path, story)


@pytest.mark.promise("S2")
@pytest.mark.parametrize(("passed", "is_free"), [(5.0, False), (21.0, True), (-86_400.0, True)])
def test_a_lease_of_before_the_machine_was_started_again_ends_too(
    tmp_path: Path, passed: float, is_free: bool
) -> None:
    async def story(store: ResearchStore, clock: SetClock) -> None:
        clock.name, clock.seconds = "second boot", 3.0
        clock.time += passed
        assert await store.claim("job_a", "late", 20.0) is is_free

    at_a_clock(tmp_path, story)


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")

    async def run() -> None:
        store = SqlResearch(
            SqliteDriver(tmp_path / "file" / "research.db", SqlResearch.schema_steps)
        )
        with pytest.raises(UnavailableError, match="cannot be made"):
            await store.open_jobs()
        await store.close()

    asyncio.run(run())
