"""Quotas: what is left for oneself, and what administrators see and set."""

from __future__ import annotations

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import NotConfiguredError
from carrel.core.operation import Effect, Question
from carrel.doors.web.admin.callers import ADMIN_SCOPES, READ_COST, refuse_programs
from carrel.doors.web.admin.models import ChangedQuota, QuotaReport, QuotaShare
from carrel.doors.web.admin.questions import EmptyQuestion
from carrel.policy.quotas import Allotment, DailyQuotas, Share, Subject

_NO_SCOPES: frozenset[str] = frozenset()
_MOST = 1e12


class QuotaSubject(Question):
    name: str = Field(min_length=1, max_length=255)
    is_group: bool = False


class QuotaWish(QuotaSubject):
    calls: float | None = Field(default=None, ge=0, le=_MOST, description="Without it, no limit")
    cost: float | None = Field(default=None, ge=0, le=_MOST, description="Without it, no limit")


class QuotaOperations:
    """`quotas` is None where nothing is counted."""

    def __init__(self, quotas: DailyQuotas | None) -> None:
        self._found = quotas

    @operation(
        title="Look at your quota",
        description="What you and your groups have used today, and what is left.",
        scopes=_NO_SCOPES,
        cost=READ_COST,
    )
    async def get_own_quota(self, question: EmptyQuestion, call: Call) -> QuotaReport:
        if self._found is None or not call.caller.is_limited:
            return QuotaReport(is_counting=False)
        return self._report(await self._found.shares_of(call.caller.user_id))

    @operation(
        title="Look at the quotas",
        description="Everybody who used something today, or has a quota of their own.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def list_quotas(self, question: EmptyQuestion, call: Call) -> QuotaReport:
        if self._found is None:
            return QuotaReport(is_counting=False)
        return self._report(await self._found.all_shares())

    @operation(
        title="Set a quota",
        description="What one person, or a group together, may use in a day from now on.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def set_quota(self, question: QuotaWish, call: Call) -> ChangedQuota:
        refuse_programs(call)
        subject = Subject(question.name, question.is_group)
        await self._quotas.set_allotment(subject, Allotment(question.calls, question.cost))
        return ChangedQuota(name=question.name)

    @operation(
        title="Clear a quota",
        description="Go back to what the settings say.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def clear_quota(self, question: QuotaSubject, call: Call) -> ChangedQuota:
        refuse_programs(call)
        await self._quotas.set_allotment(Subject(question.name, question.is_group), None)
        return ChangedQuota(name=question.name)

    @property
    def _quotas(self) -> DailyQuotas:
        """Raises NotConfiguredError."""
        if self._found is None:
            raise NotConfiguredError(
                "Nothing is counted here",
                next_step="Set quotas.enabled = true, and auth.mode.",
                details={"setting": "quotas.enabled"},
            )
        return self._found

    def _report(self, shares: list[Share]) -> QuotaReport:
        return QuotaReport(
            is_counting=True,
            seconds_left=self._quotas.seconds_left,
            shares=[_describe(share) for share in shares],
        )


def _describe(share: Share) -> QuotaShare:
    return QuotaShare(
        name=share.subject.name,
        is_group=share.subject.is_group,
        calls=share.use.calls,
        calls_quota=share.allotment.calls,
        cost=round(share.use.cost, 3),
        cost_quota=share.allotment.cost,
        is_own=share.is_own,
    )
