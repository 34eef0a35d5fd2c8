"""The caller, the visit through a door, and the context of a running operation."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from carrel.core.progress import NoProgress, Progress

LOCAL_USER = "local"
ANONYMOUS_USER = "anonymous"
# The door of the command line, the only one that serves local operations.
COMMAND_LINE = "cli"

NO_PROGRESS = NoProgress()
ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]

_NETWORK_BITS = 64
# The id, the method and the parameters of a request of MCP whose envelope is valid.
McpRequest = tuple[str | int, str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Caller:
    """A person or program that was recognised; `scopes` holds what each scope implies too."""

    user_id: str
    scopes: frozenset[str]
    client_id: str | None = None
    is_limited: bool = True


def library_name(user_id: str) -> str:
    """The folder name of a person's library: a hash that does not reveal the user."""
    return hashlib.sha256(user_id.encode()).hexdigest()[:32]


@lru_cache(maxsize=4096)
def address_group(address: str) -> str:
    """The key of limits by address: an IPv4 address, an IPv6 /64 (one customer), or other text."""
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
    """A caller's remaining rate limit after a charge, for the response headers."""

    limit: int
    remaining: int
    reset_seconds: int


@dataclass(slots=True)
class Visit:
    """One request as a door received it, before any check.

    `receipts` collects the charges; `operator` is the operating system account, for the audit log.
    `takes_links` says whether its protocol knows links to resources in an answer; `session` tells
    apart the clients of one person where the door knows it. What stands last is for telemetry
    (core/call_observer.py) and stays as it is where nothing is measured.
    """

    door: str
    request_id: str
    address: str = "unknown"
    user_agent: str = "unknown"
    authorization: str | None = None
    platform_authorization: str | None = None
    path: str = ""
    operator: str = ""
    takes_links: bool = True
    session: str = ""
    receipts: list[Allowance] = field(default_factory=list, compare=False, repr=False)
    began: float = 0.0
    failure: str = ""
    trace_headers: tuple[str, str] | None = None
    mcp_request: McpRequest | None = None
    mcp_code: int | None = None

    @property
    def address_group(self) -> str:
        """The key of limits by address: an IPv4 address or an IPv6 /64."""
        return address_group(self.address)


async def _say_nothing(done: float, total: float | None, message: str | None) -> None:
    return None


@dataclass(slots=True)
class Call:
    """The context of a running operation; only if `can_follow` may the answer be a `Job`.

    `progress` is the progress bar of local operations; others use `report_progress`.
    """

    caller: Caller
    visit: Visit
    report_progress: ReportProgress = field(default=_say_nothing)
    can_follow: bool = False
    progress: Progress = NO_PROGRESS
