"""The state of the desk for administrators: health, storage and limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.decorators import operation
from carrel.core.errors import CarrelError
from carrel.core.health import Health
from carrel.doors.web.admin.access_views import iso_time
from carrel.doors.web.admin.callers import ADMIN_SCOPES, READ_COST
from carrel.doors.web.admin.models import (
    DeskStatus,
    LimitReport,
    NamedRate,
    PartHealth,
    RefusedCaller,
    StorageReport,
)
from carrel.doors.web.admin.ports import (
    AuditLogs,
    EverybodysJobs,
    HealthChecks,
    LimitSheet,
    ServerFacts,
    StorageMeter,
)
from carrel.doors.web.admin.questions import EmptyQuestion
from carrel.policy.audit_search import count_refusals
from carrel.policy.limits import Rate

# A home of a million files takes so long to walk over, a database of gigabytes to read.
_SLOW_SECONDS = 300.0
_REFUSALS_DAYS = 1


class DeskOperations:
    """Reads what the desk says of itself; nothing is changed."""

    def __init__(
        self,
        facts: ServerFacts,
        clock: Clock,
        health: HealthChecks,
        storage: StorageMeter,
        jobs: EverybodysJobs,
        limits: LimitSheet,
        logs: AuditLogs,
    ) -> None:
        self._facts = facts
        self._clock = clock
        self._health = health
        self._storage = storage
        self._jobs = jobs
        self._limits = limits
        self._logs = logs

    @operation(
        title="Look at the desk",
        description="Version, mode, uptime, and whether each part answers.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def get_desk_status(self, question: EmptyQuestion, call: Call) -> DeskStatus:
        return await self._describe(await self._health.look(), is_thorough=False)

    @operation(
        title="Examine the desk",
        description="Every part as thoroughly as carrel doctor looks at it.",
        scopes=ADMIN_SCOPES,
        timeout_seconds=_SLOW_SECONDS,
    )
    async def examine_desk(self, question: EmptyQuestion, call: Call) -> DeskStatus:
        return await self._describe(await self._health.examine(), is_thorough=True)

    @operation(
        title="Measure the storage",
        description="Where everything lies, with its bytes, and what the disk has free.",
        scopes=ADMIN_SCOPES,
        timeout_seconds=_SLOW_SECONDS,
        cost=READ_COST,
    )
    async def measure_storage(self, question: EmptyQuestion, call: Call) -> StorageReport:
        return await self._storage.measure()

    @operation(
        title="Look at the limits",
        description="The limits that are set, and who was refused in the last day.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def get_limits(self, question: EmptyQuestion, call: Call) -> LimitReport:
        sheet = self._limits
        since = (self._clock.now() - timedelta(days=_REFUSALS_DAYS)).isoformat(timespec="seconds")
        report = LimitReport(
            mode=self._facts.mode,
            is_limited=sheet.is_limited,
            is_shared=sheet.is_shared,
            common=_describe_rate("", sheet.common),
            rates=[_describe_rate(name, rate) for name, rate in sorted(sheet.rates.items())],
            costs=dict(sorted(sheet.costs.items())),
            log_in=[_describe_rate(name, rate) for name, rate in sheet.log_in.items()],
            since=since,
            knows_refusals=True,
        )
        try:
            reader = self._logs.open()
            counted_since, found = await asyncio.to_thread(count_refusals, reader, since)
        except CarrelError as error:
            told = {"knows_refusals": False, "problem": error.message}
            return report.model_copy(update=told)
        rows = [
            RefusedCaller(
                user_id=each.user_id,
                address=each.address,
                error_code=each.error_code,
                count=each.count,
                last_at=each.last_at,
                actions=each.actions,
            )
            for each in found
        ]
        return report.model_copy(update={"refused": rows, "since": counted_since})

    async def _describe(self, found: Mapping[str, Health], *, is_thorough: bool) -> DeskStatus:
        facts, now = self._facts, self._clock.now()
        parts = [
            PartHealth(
                name=name,
                is_well=each.is_well,
                says=each.says,
                next_step=each.next_step if not each.is_well or each.note else "",
            )
            for name, each in found.items()
        ]
        return DeskStatus(
            name=facts.name,
            version=facts.version,
            mode=facts.mode,
            address=facts.address,
            started_at=iso_time(facts.started_at),
            uptime_seconds=max(0, int(now.timestamp() - facts.started_at)),
            looked_at=now.isoformat(timespec="seconds"),
            is_thorough=is_thorough,
            is_well=all(part.is_well for part in parts),
            parts=parts,
            running_jobs=await self._jobs.count_running(),
        )


def _describe_rate(name: str, rate: Rate) -> NamedRate:
    return NamedRate(name=name, per_minute=rate.per_minute, burst=rate.burst)
