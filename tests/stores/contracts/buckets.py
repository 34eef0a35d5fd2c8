"""What every keeper of buckets promises, written once and inherited by each backend's tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from carrel.core.clock import Clock
from carrel.policy.limits import Buckets, Rate
from tests.access.support import ManualClock

RATE = Rate(per_minute=60, burst=10)
Open = Callable[[Clock], Buckets]
Story = Callable[[Open, ManualClock], Awaitable[None]]


@pytest.mark.promise("A4")
class BucketsContract:
    """Subclasses give `told`, which runs a story with a way to open the buckets, and closes
    them.
    """

    @pytest.fixture
    def told(self) -> Callable[[Story], None]:
        raise NotImplementedError

    def test_a_burst_then_one_a_second(self, told: Callable[[Story], None]) -> None:
        async def story(open_buckets: Open, clock: ManualClock) -> None:
            buckets = open_buckets(clock)
            assert [(await buckets.take("a", 1, RATE)).is_granted for _ in range(11)] == [
                True
            ] * 10 + [False]
            assert (await buckets.take("b", 1, RATE)).is_granted
            clock.advance(0.5)
            refused = await buckets.take("a", 1, RATE)
            assert (refused.is_granted, round(refused.tokens, 6)) == (False, 0.5)
            clock.advance(0.5)
            granted = await buckets.take("a", 1, RATE)
            assert (granted.is_granted, round(granted.tokens, 6)) == (True, 0)
            clock.advance(3600)
            assert (await buckets.take("a", 4, RATE)).tokens == 6

        told(story)

    def test_a_dear_call_takes_more_and_a_refusal_takes_nothing(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(open_buckets: Open, clock: ManualClock) -> None:
            buckets = open_buckets(clock)
            assert (await buckets.take("a", 8, RATE)).tokens == 2
            assert not (await buckets.take("a", 5, RATE)).is_granted
            assert (await buckets.take("a", 2, RATE)).is_granted
            assert (await buckets.take("a", -1, RATE)).tokens == 1
            await buckets.take("full", -1, RATE)
            assert (await buckets.take("full", 1, RATE)).tokens == 9

        told(story)


class SharedBucketsContract(BucketsContract):
    """And those that several processes share."""

    def test_workers_share_one_bucket(self, told: Callable[[Story], None]) -> None:
        async def story(open_buckets: Open, clock: ManualClock) -> None:
            workers = [open_buckets(clock) for _ in range(3)]
            takes = await asyncio.gather(
                *(workers[number % 3].take("a", 1, RATE) for number in range(30))
            )
            assert sum(taken.is_granted for taken in takes) == 10

        told(story)

    def test_a_clock_that_goes_back_gives_nothing(self, told: Callable[[Story], None]) -> None:
        async def story(open_buckets: Open, clock: ManualClock) -> None:
            buckets = open_buckets(clock)
            for _ in range(10):
                await buckets.take("a", 1, RATE)
            clock.at = clock.at.replace(year=2025)
            assert not (await buckets.take("a", 1, RATE)).is_granted

        told(story)
