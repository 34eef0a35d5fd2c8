"""Quotas by day: of a person, of a group together, of each of a group."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.core.caller import Caller
from carrel.core.errors import InvalidInputError, RateLimitExceededError
from carrel.policy.gate import Gate
from carrel.policy.limits import InProcessLimits, Rate
from carrel.policy.quotas import (
    Allotment,
    DailyQuotas,
    GroupQuota,
    QuotaExceededError,
    QuotaRules,
    Subject,
    Use,
)
from carrel.stores.sql.quotas import SqlQuotaBook
from carrel.stores.sqlite.driver import SqliteDriver
from tests.policy.desk import HandClock, operation, scene, visit

READ = replace(operation(), cost=2.0)
Story = Callable[[DailyQuotas, HandClock], Awaitable[None]]


class Members:
    """Groups by user."""

    def __init__(self, groups: dict[str, tuple[str, ...]]) -> None:
        self.groups = groups

    async def of(self, user_id: str) -> Sequence[str]:
        return self.groups.get(user_id, ())


def tell(tmp_path: Path, rules: QuotaRules, story: Story, members: Members | None = None) -> None:
    async def telling() -> None:
        clock = HandClock()
        driver = SqliteDriver(tmp_path / "quotas.sqlite", SqlQuotaBook.schema_steps)
        book = SqlQuotaBook(driver)
        await story(DailyQuotas(book, members or Members({}), clock, rules), clock)
        await book.close()

    asyncio.run(telling())


def caller(name: str) -> Caller:
    return Caller(name, frozenset())


@pytest.mark.promise("A4")
def test_a_used_up_quota_is_refused_until_midnight_utc(tmp_path: Path) -> None:
    async def story(quotas: DailyQuotas, clock: HandClock) -> None:
        clock.seconds = 3600 * 23
        await quotas.charge(caller("ada"), READ)
        await quotas.charge(caller("ada"), READ)
        with pytest.raises(QuotaExceededError, match="Your quota of 2 calls a day") as refused:
            await quotas.charge(caller("ada"), READ)
        assert refused.value.details["retry_after"] == 3600
        await quotas.charge(caller("eve"), READ)
        clock.seconds += 3600
        await quotas.charge(caller("ada"), READ)
        (share,) = await quotas.shares_of("ada")
        assert (share.use, share.allotment) == (Use(1, 2.0), Allotment(calls=2))

    tell(tmp_path, QuotaRules(Allotment(calls=2)), story)


@pytest.mark.promise("A4")
def test_a_group_has_a_quota_together_and_another_for_each(tmp_path: Path) -> None:
    rules = QuotaRules(
        Allotment(calls=1),
        {
            "students": GroupQuota(Allotment(cost=9), Allotment(calls=3)),
            "staff": GroupQuota(each=Allotment(calls=5)),
        },
    )
    members = Members({"ada": ("students",), "eve": ("students", "staff"), "bob": ("guests",)})

    async def story(quotas: DailyQuotas, clock: HandClock) -> None:
        for name in ("ada", "ada", "eve", "eve"):
            await quotas.charge(caller(name), READ)
        with pytest.raises(QuotaExceededError, match="of the group students of 9 cost") as refused:
            await quotas.charge(caller("eve"), READ)
        assert refused.value.details["group"] == "students"
        shares = {share.subject: share for share in await quotas.shares_of("eve")}
        assert shares[Subject("eve")].allotment == Allotment(calls=5), "the most generous"
        assert shares[Subject("eve")].use == Use(2, 4.0), "a refused call is charged to nobody"
        await quotas.charge(caller("bob"), READ)
        with pytest.raises(QuotaExceededError):
            await quotas.charge(caller("bob"), READ)

    tell(tmp_path, rules, story, members)


@pytest.mark.promise("A4")
def test_what_an_administrator_sets_holds_before_the_settings(tmp_path: Path) -> None:
    async def story(quotas: DailyQuotas, clock: HandClock) -> None:
        await quotas.set_allotment(Subject("ada"), Allotment(calls=0))
        with pytest.raises(QuotaExceededError):
            await quotas.charge(caller("ada"), READ)
        await quotas.set_allotment(Subject("ada"), Allotment())
        for _ in range(5):
            await quotas.charge(caller("ada"), READ)
        await quotas.set_allotment(Subject("ada"), None)
        with pytest.raises(QuotaExceededError):
            await quotas.charge(caller("ada"), READ)
        (share,) = await quotas.all_shares()
        assert not share.is_own and share.allotment == Allotment(calls=1)

    tell(tmp_path, QuotaRules(Allotment(calls=1)), story)


@pytest.mark.promise("A4")
def test_tokens_of_a_model_count_and_may_go_over_once(tmp_path: Path) -> None:
    async def story(quotas: DailyQuotas, clock: HandClock) -> None:
        await quotas.check("ada")
        await quotas.add_tokens("ada", 6000)
        with pytest.raises(QuotaExceededError, match="5 cost units"):
            await quotas.check("ada")
        with pytest.raises(QuotaExceededError):
            await quotas.charge(caller("ada"), READ)
        await quotas.check("eve")

    tell(tmp_path, QuotaRules(Allotment(cost=5), cost_per_1000_tokens=1.0), story)


@pytest.mark.promise("A4")
def test_refused_calls_and_pages_of_ones_own_access_cost_nothing(tmp_path: Path) -> None:
    async def story(quotas: DailyQuotas, clock: HandClock) -> None:
        stage = scene()
        limits = InProcessLimits(Rate(per_minute=60, burst=2), clock)
        gate = Gate(stage.gate._identity, limits, stage.records, clock, quotas)
        reader = await gate.identify(visit("reader"))
        with pytest.raises(InvalidInputError):
            await gate.call(operation(), {"colour": "red"}, reader, visit())
        await gate.call(operation(), {"name": "Ada"}, reader, visit())
        with pytest.raises(RateLimitExceededError):
            await gate.call(operation(), {"name": "Ada"}, reader, visit())
        (share,) = await quotas.shares_of("reader")
        assert share.use.calls == 1
        clock.seconds += 60
        await gate.call(operation(), {"name": "Ada"}, reader, visit())
        with pytest.raises(QuotaExceededError):
            await gate.call(operation(), {"name": "Ada"}, reader, visit())
        assert stage.phases()[-1] == ("refused", "quota_exceeded")
        await quotas.charge(reader, replace(operation(), room="admin"))
        local = Caller("local", frozenset(), is_limited=False)
        for _ in range(5):
            await quotas.charge(local, READ)

    tell(tmp_path, QuotaRules(Allotment(calls=2)), story)
