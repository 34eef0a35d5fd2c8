"""What the admin pages need of the desk; wiring hands it over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from carrel.core.answer import JobState
from carrel.core.background_jobs import JobRecord
from carrel.core.caller import Call
from carrel.core.health import Health
from carrel.doors.web.admin.models import BackupFile, StorageReport
from carrel.policy.audit_verification import AuditReader
from carrel.policy.authorization.models import Client
from carrel.policy.limits import Rate


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What does not change while the server runs."""

    name: str
    version: str
    mode: str
    address: str
    started_at: float
    # Whether static tokens and users' names are kept here, and whether people log in here.
    has_accounts: bool
    can_log_in: bool
    known_clients: Sequence[Client] = ()


@dataclass(frozen=True, slots=True)
class LimitSheet:
    """The limits that the settings name."""

    is_limited: bool
    is_shared: bool
    common: Rate
    rates: Mapping[str, Rate]
    costs: Mapping[str, float]
    log_in: Mapping[str, Rate]


class Leavers(Protocol):
    """Counts and ends what somebody leaves; raises NotFoundError where there is nothing."""

    async def count(self, name: str) -> tuple[dict[str, int], str]:
        """How much there is of each kind, and what stays."""
        ...

    async def hand_over(self, name: str, other: str) -> None: ...

    async def erase(self, name: str) -> None: ...


class HealthChecks(Protocol):
    """The health of the desk's parts, by their names."""

    async def look(self) -> Mapping[str, Health]:
        """At the same cost whatever the desk holds."""
        ...

    async def examine(self) -> Mapping[str, Health]:
        """As thoroughly as the doctor."""
        ...


class StorageMeter(Protocol):
    """How much lies where."""

    async def measure(self) -> StorageReport:
        """Walks over every file; what was measured a moment ago is given again."""
        ...


class AuditLogs(Protocol):
    """The audit log to read."""

    def open(self) -> AuditReader:
        """Raises NotConfiguredError where the platform keeps it."""
        ...


class EverybodysJobs(Protocol):
    """The background jobs of all people and rooms."""

    async def list_jobs(self, state: JobState | None, limit: int) -> list[JobRecord]:
        """Newest first."""
        ...

    async def count_running(self) -> int: ...

    async def cancel(self, job_id: str, call: Call) -> JobRecord:
        """The job after it was told to stop. Raises JobNotFoundError."""
        ...


class BackupShelf(Protocol):
    """Backups in the home's own folder; every method raises what `problem` tells, if any."""

    @property
    def folder(self) -> str: ...

    @property
    def elsewhere(self) -> Sequence[str]:
        """What a backup of this desk leaves where it is, in sentences."""
        ...

    @property
    def problem(self) -> str:
        """Why no backup can be made here; empty where one can."""
        ...

    async def list_files(self) -> list[BackupFile]:
        """The newest first."""
        ...

    async def start_backup(self, owner: str) -> str:
        """The id of the job that writes a new one."""
        ...

    async def start_check(self, name: str, owner: str) -> str:
        """The id of the job that reads all of one. Raises NotFoundError."""
        ...

    async def remove(self, name: str) -> None:
        """Raises NotFoundError."""
        ...

    def read(self, name: str) -> tuple[int, AsyncIterator[bytes]]:
        """The size of one, and its bytes. Raises NotFoundError."""
        ...
