"""The token bucket."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.caller import Caller
from carrel.core.errors import RateLimitExceededError
from carrel.policy.limits import BucketLimits, InProcessBuckets, InProcessLimits, Rate
from tests.policy.desk import HandClock, operation, visit

ADA = Caller("ada", frozenset())
EVE = Caller("eve", frozenset())


def charge(limits: BucketLimits, caller: Caller, cost: float = 1.0) -> int:
    async def charging() -> int:
        knock = visit()
        await limits.charge(caller, knock, replace(operation(), cost=cost))
        return knock.receipts[-1].remaining if knock.receipts else -1

    return asyncio.run(charging())


def test_one_callers_calls_never_use_up_anothers() -> None:
    limits = InProcessLimits(Rate(per_minute=60, burst=1), HandClock())
    charge(limits, ADA)
    with pytest.raises(RateLimitExceededError):
        charge(limits, ADA)
    assert charge(limits, EVE) == 0


def test_the_local_user_is_never_slowed_down() -> None:
    limits = InProcessLimits(Rate(per_minute=60, burst=1), HandClock())
    local = Caller("local", frozenset(), is_limited=False)
    assert {charge(limits, local) for _ in range(50)} == {-1}


def test_a_dear_call_takes_more_and_the_time_to_wait_says_so() -> None:
    limits = InProcessLimits(Rate(per_minute=60, burst=10), HandClock())
    assert charge(limits, ADA, 8.0) == 2
    with pytest.raises(RateLimitExceededError) as refused:
        charge(limits, ADA, 8.0)
    assert refused.value.retry_after_seconds == 6


def test_buckets_that_are_full_again_are_forgotten() -> None:
    clock = HandClock()
    buckets = InProcessBuckets(clock, sweep_every=2)
    limits = BucketLimits(buckets, clock, Rate(per_minute=60, burst=10))
    for number in range(100):
        charge(limits, Caller(f"user-{number}", frozenset()))
    clock.seconds += 11
    charge(limits, ADA)
    charge(limits, ADA)
    assert len(buckets) <= 1


@given(st.lists(st.floats(min_value=0, max_value=5), max_size=60))
def test_nobody_gets_more_than_the_burst_and_the_rate_allow(waits: list[float]) -> None:
    clock = HandClock()
    limits = InProcessLimits(Rate(per_minute=60, burst=10), clock)
    began, allowed = clock.seconds, 0
    for wait in waits:
        clock.seconds += wait
        try:
            charge(limits, ADA)
            allowed += 1
        except RateLimitExceededError:
            pass
    assert allowed <= 10 + (clock.seconds - began) + 1e-6
