"""What every book of quotas promises, written once and inherited by each backend's tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from carrel.policy.quotas import Allotment, Subject, Use
from carrel.stores.sql.quotas import SqlQuotaBook

ADA, EVE = Subject("ada"), Subject("eve")
STAFF = Subject("staff", is_group=True)
DAY, LATER = "2026-11-18", "2026-11-19"
ONE = Use(1.0, 2.5)


@pytest.mark.promise("A4")
class QuotaBookContract:
    """Subclasses give `open_book`, which opens the same book each time."""

    @pytest.fixture
    def open_book(self) -> Callable[[], SqlQuotaBook]:
        raise NotImplementedError

    def test_what_is_too_much_for_one_is_charged_to_nobody(
        self, open_book: Callable[[], SqlQuotaBook]
    ) -> None:
        async def story() -> None:
            book = open_book()
            mine, ours = (ADA, Allotment(calls=10)), (STAFF, Allotment(cost=5.0))
            assert await book.charge(DAY, [mine, ours], ONE) is None
            assert await book.charge(DAY, [mine, ours], ONE) is None
            assert await book.charge(DAY, [mine, ours], ONE) == STAFF
            assert await book.used(DAY) == {ADA: Use(2, 5.0), STAFF: Use(2, 5.0)}
            assert await book.charge(DAY, [(EVE, Allotment(calls=0))], ONE) == EVE
            assert await book.used(DAY, [EVE]) == {}
            assert await book.charge(LATER, [mine, ours], ONE) is None, "a day is its own"
            await book.close()

        asyncio.run(story())

    def test_without_a_limit_use_is_counted_and_a_negative_one_takes_back(
        self, open_book: Callable[[], SqlQuotaBook]
    ) -> None:
        async def story() -> None:
            book = open_book()
            for _ in range(30):
                assert await book.charge(DAY, [(ADA, Allotment())], Use(1, 0.1)) is None
            await book.add(DAY, [ADA], Use(-1, -0.1))
            used = (await book.used(DAY))[ADA]
            assert (used.calls, round(used.cost, 6)) == (29, 2.9)
            await book.add(DAY, [ADA], Use(-100, -100))
            assert (await book.used(DAY))[ADA] == Use(0, 0)
            await book.forget_before(LATER)
            assert await book.used(DAY) == {}
            await book.close()

        asyncio.run(story())

    def test_tenths_fill_a_quota_to_its_end(self, open_book: Callable[[], SqlQuotaBook]) -> None:
        async def story() -> None:
            book = open_book()
            most = [(ADA, Allotment(cost=1.0))]
            found = [await book.charge(DAY, most, Use(1, 0.1)) for _ in range(11)]
            assert found == [None] * 10 + [ADA]
            await book.close()

        asyncio.run(story())

    def test_many_at_once_over_several_connections_get_exactly_the_quota(
        self, open_book: Callable[[], SqlQuotaBook]
    ) -> None:
        async def story() -> None:
            books = [open_book() for _ in range(3)]
            mine, hers = (ADA, Allotment(calls=40)), (EVE, Allotment(calls=40))
            ours = (STAFF, Allotment(calls=60))

            async def charge(number: int) -> Subject | None:
                person = mine if number % 2 else hers
                return await books[number % 3].charge(DAY, [ours, person], Use(1, 1))

            found = await asyncio.gather(*(charge(number) for number in range(150)))
            assert found.count(None) == 60
            used = await books[0].used(DAY)
            assert used[STAFF] == Use(60, 60)
            assert used[ADA].calls + used[EVE].calls == 60
            for book in books:
                await book.close()

        asyncio.run(story())

    def test_what_an_administrator_allots_is_kept_and_taken_back(
        self, open_book: Callable[[], SqlQuotaBook]
    ) -> None:
        async def story() -> None:
            book = open_book()
            await book.set_allotment(ADA, Allotment(calls=5))
            await book.set_allotment(STAFF, Allotment(cost=0.0))
            await book.set_allotment(ADA, Allotment(cost=7.5))
            again = open_book()
            assert await again.allotments() == {ADA: Allotment(cost=7.5), STAFF: Allotment(cost=0)}
            await again.set_allotment(ADA, None)
            assert await book.allotments() == {STAFF: Allotment(cost=0)}
            await book.close()
            await again.close()

        asyncio.run(story())
