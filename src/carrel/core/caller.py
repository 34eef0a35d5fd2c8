"""Who is calling, through which door, and what a running operation may know of the call."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from carrel.core.progress import NoProgress, Progress

LOCAL_USER = "local"
ANONYMOUS_USER = "anonymous"
# The door of the command line, the only one that serves local operations.
COMMAND_LINE = "cli"

NO_PROGRESS = NoProgress()
ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]

_NETWORK_BITS = 64


@dataclass(frozen=True, slots=True)
class Caller:
    """A person or program that was recognised; `scopes` holds what each scope implies too."""

    user_id: str
    scopes: frozenset[str]
    client_id: str | None = None
    is_limited: bool = True


def library_name(user_id: str) -> str:
    """What a person's library is called: fit for a folder, and without telling who it is."""
    return hashlib.sha256(user_id.encode()).hexdigest()[:32]


@lru_cache(maxsize=4096)
def address_group(address: str) -> str:
    """What limits count as one caller: an IPv4 address, or the /64 of an IPv6 address.

    A /64 is what a single customer holds. What is no address stands for itself.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    if found.is_loopback:
        return str(found)
    return str(ipaddress.ip_network((found, _NETWORK_BITS), strict=False))


class Allowance(NamedTuple):
    """What is left to a caller after a charge, for the headers that say so."""

    limit: int
    remaining: int
    reset_seconds: int


@dataclass(slots=True)
class Visit:
    """One request as it came through a door, before anybody decided anything.

    `receipts` collects what was charged; `operator` is the operating system's account of whoever
    typed a command, for the audit log.
    """

    door: str
    request_id: str
    address: str = "unknown"
    user_agent: str = "unknown"
    authorization: str | None = None
    platform_authorization: str | None = None
    path: str = ""
    operator: str = ""
    receipts: list[Allowance] = field(default_factory=list, compare=False, repr=False)

    @property
    def address_group(self) -> str:
        """What limits by address count: an IPv4 address or an IPv6 /64."""
        return address_group(self.address)


async def _say_nothing(done: float, total: float | None, message: str | None) -> None:
    return None


@dataclass(slots=True)
class Call:
    """What an operation knows while it runs.

    A caller that `can_follow` work which outlasts the call may be answered with a `Job`.
    `progress` is the bar of the command line, for local operations; others report to the client.
    """

    caller: Caller
    visit: Visit
    report_progress: ReportProgress = field(default=_say_nothing)
    can_follow: bool = False
    progress: Progress = NO_PROGRESS
