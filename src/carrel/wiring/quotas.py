"""Quotas: counted in the home or in the shared database, by the groups of an institute."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from carrel.core.clock import Clock
from carrel.core.errors import UnavailableError
from carrel.policy.quotas import (
    Allotment,
    DailyQuotas,
    GroupQuota,
    Groups,
    NoGroups,
    NoQuotas,
    QuotaExceededError,
    QuotaRules,
    Quotas,
)
from carrel.rooms.research.errors import OwnersQuotaError
from carrel.settings import Settings
from carrel.wiring.home import open_driver

if TYPE_CHECKING:
    from carrel.stores.sql.sign_ins import SqlSignIns

log = logging.getLogger("carrel.quotas")
Close = Callable[[], Awaitable[None]]


class InstituteGroups:
    """The groups that an institute told of people when they last logged in."""

    def __init__(self, sign_ins: SqlSignIns) -> None:
        self._sign_ins = sign_ins

    async def of(self, user_id: str) -> Sequence[str]:
        person = await self._sign_ins.person_of(user_id)
        return () if person is None else person.groups


class QuotaOfModels:
    """Tokens of language models, charged to the owner of the project."""

    def __init__(self, quotas: Quotas) -> None:
        self._quotas = quotas

    async def check(self, owner: str) -> None:
        try:
            await self._quotas.check(owner)
        except QuotaExceededError as error:
            raise OwnersQuotaError(
                error.message,
                next_step=f"{error.next_step} Then resume_research.",
                details=error.details,
            ) from error
        except UnavailableError as error:
            log.error("quotas cannot be counted", extra={"reason": error.message})

    async def add(self, owner: str, tokens: int) -> None:
        # The answer is paid for: that it is not counted is no reason to lose it.
        try:
            await self._quotas.add_tokens(owner, tokens)
        except UnavailableError as error:
            log.error("quotas cannot be counted", extra={"reason": error.message})


def open_quotas(settings: Settings, clock: Clock, groups: Groups) -> tuple[Quotas, Close | None]:
    """The quotas that callers are charged; nothing is counted for the one local user."""
    if settings.auth.mode in {None, "local"} or not settings.quotas.is_counting:
        return NoQuotas(), None
    counted = count_quotas(settings, clock, groups)
    return counted[0], counted[1]


def open_own_quotas(settings: Settings, clock: Clock) -> tuple[Quotas, Close | None]:
    """The same for what works in the background, with a connection of its own."""
    if settings.auth.mode in {None, "local"} or not settings.quotas.is_counting:
        return NoQuotas(), None
    groups, close_groups = open_groups(settings)
    quotas, close = count_quotas(settings, clock, groups)

    async def close_both() -> None:
        await close()
        await close_groups()

    return quotas, close_both


def open_groups(settings: Settings) -> tuple[Groups, Close]:
    """The groups of people where an institute tells them."""
    if not settings.auth.oidc.issuer:
        return NoGroups(), _nothing
    from carrel.wiring.access import open_access_store

    store = open_access_store(settings)
    return InstituteGroups(store.sign_ins), store.close


def count_quotas(settings: Settings, clock: Clock, groups: Groups) -> tuple[DailyQuotas, Close]:
    """The book and the rules, whatever the mode of access is."""
    from carrel.stores.sql.quotas import SqlQuotaBook

    book = SqlQuotaBook(open_driver(settings, "quotas", SqlQuotaBook.schema_steps))
    return DailyQuotas(book, groups, clock, quota_rules(settings)), book.close


def quota_rules(settings: Settings) -> QuotaRules:
    """The quotas that the settings name."""
    chosen = settings.quotas
    groups = {
        group.name: GroupQuota(
            Allotment(group.calls_per_day, group.cost_per_day),
            Allotment(group.each_calls_per_day, group.each_cost_per_day),
        )
        for group in chosen.groups
    }
    return QuotaRules(
        Allotment(chosen.calls_per_day, chosen.cost_per_day),
        groups,
        settings.limits.costs,
        chosen.cost_per_1000_tokens,
    )


async def _nothing() -> None:
    return None
