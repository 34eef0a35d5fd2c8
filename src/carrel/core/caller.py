"""Who is calling, through which door, and what a running operation may know of the call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

LOCAL_USER = "local"
ANONYMOUS_USER = "anonymous"

ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Caller:
    """A person or program that has been recognised. `scopes` already holds what each scope implies."""

    user_id: str
    scopes: frozenset[str]
    client_id: str | None = None
    is_limited: bool = True


@dataclass(slots=True)
class Visit:
    """One request as it came through a door, before anybody decided anything."""

    door: str
    request_id: str
    address: str = "unknown"
    user_agent: str = "unknown"
    authorization: str | None = None


async def _say_nothing(done: float, total: float | None, message: str | None) -> None:
    return None


@dataclass(slots=True)
class Call:
    """What an operation knows while it runs: the caller, the visit, and a way to report progress."""

    caller: Caller
    visit: Visit
    report_progress: ReportProgress = field(default=_say_nothing)
