"""Hands the stores and services of administration over to its operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel import __version__
from carrel.core.clock import Clock
from carrel.core.decorators import collect_operations
from carrel.core.operation import Operation
from carrel.doors.web.admin.account_operations import AccountOperations
from carrel.doors.web.admin.audit_operations import AuditOperations
from carrel.doors.web.admin.desk_operations import DeskOperations
from carrel.doors.web.admin.job_operations import AllJobsOperations, BackupOperations
from carrel.doors.web.admin.leaving_operations import LeavingOperations
from carrel.doors.web.admin.own_access_operations import OwnAccessOperations
from carrel.doors.web.admin.ports import LimitSheet, ServerFacts
from carrel.doors.web.admin.program_operations import ProgramOperations
from carrel.doors.web.admin.quota_operations import QuotaOperations
from carrel.policy.authorization.administration import AccountAdministration
from carrel.policy.authorization.login import LOG_IN_RATES
from carrel.policy.limits import Rate
from carrel.policy.quotas import DailyQuotas
from carrel.settings import Settings, access_rules
from carrel.wiring.admin_backups import CHECK, MAKE, HomeBackups
from carrel.wiring.admin_health import DeskHealth
from carrel.wiring.admin_jobs import AllJobs
from carrel.wiring.admin_storage import DiskMeter
from carrel.wiring.audit import open_audit_reader

if TYPE_CHECKING:
    from carrel.policy.audit_verification import AuditReader
    from carrel.wiring.desk import Desk

_ROOM = "admin"


class SettingsAuditLogs:
    """The audit log that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def open(self) -> AuditReader:
        return open_audit_reader(self._settings)


class DeskLeavers:
    """Opens all that may hold something of a person, for one look or one end."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock

    async def count(self, name: str) -> tuple[dict[str, int], str]:
        from carrel.wiring.leavers import open_leaving

        async with open_leaving(self._settings, name, self._clock) as leaving:
            counts = await leaving.count()
            await leaving.refuse_nobody(counts)
            return counts, leaving.audit_says()

    async def hand_over(self, name: str, other: str) -> None:
        from carrel.wiring.leavers import open_leaving

        async with open_leaving(self._settings, name, self._clock) as leaving:
            await leaving.refuse_other(other)
            await leaving.hand_over(other)

    async def erase(self, name: str) -> None:
        from carrel.wiring.leavers import open_leaving

        async with open_leaving(self._settings, name, self._clock) as leaving:
            await leaving.erase()


def admin_operations(desk: Desk) -> tuple[Operation[Any], ...]:
    """What administrators may do, and each person with their own access, for the gate."""
    settings, store = desk.settings, desk.access.store
    accounts = None if store is None else AccountAdministration(store, desk.clock)
    facts, quotas = _server_facts(desk), desk.access.quotas
    backups = HomeBackups(desk)
    jobs = AllJobs(desk, backups.jobs, frozenset({MAKE, CHECK}))
    desk.closers += [backups.jobs.close, jobs.close]
    logs = SettingsAuditLogs(settings)
    holders = (
        DeskOperations(
            facts, desk.clock, DeskHealth(desk), DiskMeter(desk), jobs, _limits(desk), logs
        ),
        AccountOperations(accounts, facts),
        ProgramOperations(accounts, facts),
        OwnAccessOperations(accounts, facts),
        QuotaOperations(quotas if isinstance(quotas, DailyQuotas) else None),
        LeavingOperations(DeskLeavers(settings, desk.clock)),
        AuditOperations(logs, desk.clock),
        AllJobsOperations(jobs),
        BackupOperations(backups, jobs),
    )
    return tuple(each for holder in holders for each in collect_operations(_ROOM, holder))


def _server_facts(desk: Desk) -> ServerFacts:
    settings, access = desk.settings, desk.access
    can_log_in = access.built_in is not None
    return ServerFacts(
        name=settings.server.name,
        version=__version__,
        mode=access.mode,
        address=settings.base_url,
        started_at=desk.clock.now().timestamp(),
        has_accounts=access.store is not None,
        can_log_in=can_log_in,
        known_clients=access_rules.authorization_options(settings).known_clients
        if can_log_in
        else (),
    )


def _limits(desk: Desk) -> LimitSheet:
    settings = desk.settings
    chosen = settings.limits
    return LimitSheet(
        is_limited=desk.access.mode != "local",
        is_shared=settings.database.url is not None or settings.server.workers > 1,
        common=Rate(chosen.per_minute, chosen.burst),
        rates={name: Rate(rate.per_minute, rate.burst) for name, rate in chosen.rates.items()},
        costs=chosen.costs,
        log_in=LOG_IN_RATES if desk.access.built_in is not None else {},
    )
