"""What alerts need: a store of saved searches and what they found, leases, and the desk's works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from carrel.core.caller import Call


@dataclass(frozen=True, slots=True)
class Alert:
    """A saved search of one person for works that are new since a day.

    Times are ISO; `ran_at` is empty before the first run.
    """

    id: str
    owner: str
    name: str
    query: str
    services: tuple[str, ...]
    since: str
    created_at: str
    ran_at: str = ""


@dataclass(frozen=True, slots=True)
class AlertMark:
    """The day up to which a service has answered completely, and how the last question went.

    Where one run could not ask about all the time, the next goes on at `resume_from`; all that was
    asked since `pass_began` is asked again then, since works come late.
    """

    service: str
    complete_until: str
    asked_at: str = ""
    failure: str = ""
    reason: str = ""
    resume_from: str = ""
    pass_began: str = ""


@dataclass(frozen=True, slots=True)
class SeenWork:
    """A found work under every key that it may come back by; `body` is what a digest shows.

    One that is not `is_new` was there before the alert: it is remembered and not told.
    """

    work_id: str
    keys: tuple[str, ...]
    body: str
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class KeptWork:
    """A work that an alert found; `told_at` is empty until a digest told of it."""

    number: int
    work_id: str
    found_at: str
    body: str
    told_at: str = ""


class AlertStore(Protocol):
    """Alerts of everybody; methods raise UnavailableError."""

    async def add(self, alert: Alert, marks: Sequence[AlertMark]) -> bool:
        """False where the owner has an alert of that name."""
        ...

    async def list_owned(self, owner: str) -> list[Alert]:
        """The owner's alerts, by name."""
        ...

    async def find(self, owner: str, name: str) -> Alert | None:
        """The owner's alert of that name or id."""
        ...

    async def remove(self, owner: str, alert_id: str) -> bool:
        """Removes the alert with everything it found; False where it is not the owner's."""
        ...

    async def list_due(self, before: str) -> list[Alert]:
        """Alerts of everybody that ran last before then, or never; the longest waiting first."""
        ...

    async def marks(self, alert_id: str) -> list[AlertMark]: ...

    async def keep(
        self,
        alert_id: str,
        worker: str,
        works: Sequence[SeenWork],
        marks: Sequence[AlertMark],
        at: str,
        most: int,
    ) -> list[int] | None:
        """Keeps the works that are new and moves the marks, in one transaction.

        Returns the numbers of the new works; None, with nothing kept, where the alert is gone or
        the worker's lease on it is lost. Of more than `most` works the oldest are forgotten.
        """
        ...

    async def list_works(
        self, alert_id: str, *, found_since: str, only_untold: bool, limit: int
    ) -> list[KeptWork]:
        """Works of an alert, the newest first."""
        ...

    async def count_untold(self, alert_id: str) -> int: ...

    async def mark_told(self, alert_id: str, numbers: Sequence[int], at: str) -> None: ...


class Leases(Protocol):
    """Leases by name, on one clock for all processes."""

    async def take(self, name: str, worker: str, seconds: float) -> bool:
        """Whether the worker holds the lease from now on; taking it again renews it."""
        ...

    async def release(self, name: str, worker: str) -> None: ...


def lease_of(alert_id: str) -> str:
    """The name of the lease that whoever runs an alert holds."""
    return f"alert:{alert_id}"


class DeskHoldings(Protocol):
    """What the caller's corpus and library have."""

    async def find(self, works: Sequence[Sequence[str]], call: Call) -> list[tuple[str, ...]]:
        """For each work, named by keys, where it is: `paper:ID`, `ref:KEY`; empty where nowhere."""
        ...
