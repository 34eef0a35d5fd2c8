"""The token bucket."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.caller import Caller
from carrel.core.errors import RateLimitExceededError
from carrel.policy.limits import (
    BucketLimits,
    InProcessBuckets,
    InProcessLimits,
    Rate,
    bucket_key,
)
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


def test_a_caller_with_one_call_left_may_go_on_and_asking_costs_nothing() -> None:
    clock = HandClock()
    limits = InProcessLimits(Rate(per_minute=60, burst=2), clock)

    def check(caller: Caller) -> None:
        asyncio.run(limits.check(caller, visit()))

    charge(limits, ADA)
    check(ADA)
    check(ADA)
    charge(limits, ADA)
    with pytest.raises(RateLimitExceededError) as refused:
        check(ADA)
    assert refused.value.retry_after_seconds == 1
    check(EVE)
    check(Caller("ada", frozenset(), is_limited=False))
    clock.seconds += 1
    check(ADA)


def test_what_is_free_leaves_no_receipt_and_never_waits() -> None:
    limits = InProcessLimits(Rate(per_minute=60, burst=1), HandClock())
    assert {charge(limits, ADA, 0.0) for _ in range(5)} == {-1}
    assert charge(limits, ADA) == 0
    assert charge(limits, ADA, 0.0) == -1


def test_a_call_dearer_than_the_whole_bucket_takes_all_of_it() -> None:
    limits = InProcessLimits(Rate(per_minute=60, burst=5), HandClock())
    assert charge(limits, ADA, 50.0) == 0


@pytest.mark.parametrize("name", ["greet", "papers:read"])
def test_rates_and_costs_are_found_by_operation_and_by_scope(name: str) -> None:
    clock = HandClock()
    limits = BucketLimits(
        InProcessBuckets(clock),
        clock,
        Rate(per_minute=60, burst=10),
        rates={name: Rate(per_minute=60, burst=4)},
        costs={name: 3.0},
    )
    assert charge(limits, ADA) == 1
    with pytest.raises(RateLimitExceededError) as refused:
        charge(limits, ADA)
    assert refused.value.retry_after_seconds == 2
    asyncio.run(limits.check(ADA, visit()))


def test_a_bucket_is_the_users_else_the_clients_else_the_addresss() -> None:
    nobody = Caller("anonymous", frozenset())
    assert bucket_key(ADA, visit()) == "user:ada"
    assert bucket_key(replace(nobody, client_id="c"), visit()) == "client:c"
    assert bucket_key(nobody, visit()) == "address:127.0.0.1"


def test_a_receipt_says_how_much_there_is_and_when_it_is_full_again() -> None:
    limits = InProcessLimits(Rate(per_minute=60, burst=10), HandClock())

    async def charging() -> tuple[int, int, int]:
        knock = visit()
        await limits.charge(ADA, knock, replace(operation(), cost=3.0))
        (receipt,) = knock.receipts
        return receipt.limit, receipt.remaining, receipt.reset_seconds

    assert asyncio.run(charging()) == (10, 7, 3)
