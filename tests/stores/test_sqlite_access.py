"""Access and buckets in SQLite."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.core.clock import Clock
from carrel.core.errors import UnavailableError
from carrel.policy.limits import InProcessBuckets, Rate
from carrel.stores.sql.access import SqlAccess
from carrel.stores.sqlite.driver import SqliteDriver
from carrel.stores.sqlite.limits import SqliteBuckets
from tests.access.support import ManualClock
from tests.stores.contracts.access import ADA, AccessStoreContract
from tests.stores.contracts.buckets import RATE, BucketsContract, SharedBucketsContract, Story
from tests.stores.contracts.sign_ins import SignInStoreContract


class TestSqliteAccess(AccessStoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Callable[[], SqlAccess]:
        return lambda: SqlAccess(
            SqliteDriver(tmp_path / "home" / "access.sqlite", SqlAccess.schema_steps)
        )

    def test_the_file_is_for_its_owner_only(self, tmp_path: Path) -> None:
        async def run() -> None:
            store = SqlAccess(SqliteDriver(tmp_path / "access.sqlite", SqlAccess.schema_steps))
            await store.add_user(ADA)
            await store.close()

        asyncio.run(run())
        assert stat.S_IMODE((tmp_path / "access.sqlite").stat().st_mode) == 0o600

    def test_a_home_that_cannot_be_made_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("in the way")

        async def run() -> None:
            store = SqlAccess(
                SqliteDriver(tmp_path / "file" / "access.sqlite", SqlAccess.schema_steps)
            )
            with pytest.raises(UnavailableError, match="cannot be made"):
                await store.users()
            await store.close()

        asyncio.run(run())


class TestSqliteSignIns(SignInStoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Callable[[], SqlAccess]:
        return lambda: SqlAccess(SqliteDriver(tmp_path / "access.sqlite", SqlAccess.schema_steps))


class TestInProcessBuckets(BucketsContract):
    @pytest.fixture
    def told(self) -> Callable[[Story], None]:
        async def run(story: Story) -> None:
            await story(InProcessBuckets, ManualClock())

        return lambda story: asyncio.run(run(story))

    @pytest.mark.promise("A4")
    def test_a_bucket_that_is_full_again_is_forgotten(self) -> None:
        async def run() -> None:
            clock = ManualClock()
            buckets = InProcessBuckets(clock, sweep_every=50)
            for number in range(49):
                await buckets.take(f"address:{number}", 1, RATE)
            assert len(buckets) == 49
            clock.advance(1.01)
            await buckets.take("address:last", 1, RATE)
            assert len(buckets) == 1

        asyncio.run(run())


class TestSqliteBuckets(SharedBucketsContract):
    @pytest.fixture
    def told(self, tmp_path: Path) -> Callable[[Story], None]:
        def tell(story: Story) -> None:
            async def run() -> None:
                opened: list[SqliteBuckets] = []

                def open_buckets(clock: Clock) -> SqliteBuckets:
                    opened.append(SqliteBuckets(tmp_path / "limits.sqlite", clock))
                    return opened[-1]

                await story(open_buckets, ManualClock())
                for buckets in opened:
                    await buckets.close()

            asyncio.run(run())

        return tell

    @pytest.mark.promise("A4")
    def test_full_buckets_leave_the_file(self, tmp_path: Path) -> None:
        async def run() -> None:
            clock = ManualClock()
            buckets = SqliteBuckets(tmp_path / "limits.sqlite", clock, sweep_every=3)
            await buckets.take("a", 1, Rate())
            await buckets.take("b", 1, Rate())
            clock.advance(2)
            await buckets.take("c", 1, Rate())
            await buckets.close()

        asyncio.run(run())
        with sqlite3.connect(tmp_path / "limits.sqlite") as connection:
            assert connection.execute("SELECT key FROM limit_buckets").fetchall() == [("c",)]

    def test_a_file_that_is_no_database_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "in-the-way").mkdir()
        with pytest.raises(UnavailableError):
            asyncio.run(SqliteBuckets(tmp_path / "in-the-way", ManualClock()).take("a", 1, Rate()))
