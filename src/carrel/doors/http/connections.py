"""The open connections, and which to close when there are too many or one is slow."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from enum import IntEnum
from typing import Protocol

from carrel.policy.http_limits import ConnectionLimits

log = logging.getLogger("carrel.http")

# New connections are counted against their address after a moment: by then their first bytes have
# been read, and one that sent a whole request does not count as idle.
_SETTLE_SECONDS = 0.1
_LOG_EVERY_SECONDS = 10.0
_LONGEST_SWEEP_SECONDS = 1.0


class Activity(IntEnum):
    """What a connection is doing, in the order in which it is closed for a new one."""

    STARTING = 0
    IDLE = 1
    RECEIVING = 2
    WORKING = 3


class Connection(Protocol):
    """What the table has to know of a connection."""

    group: str
    is_from_proxy: bool
    number: int

    def activity(self) -> Activity: ...

    def is_overdue(self, now: float) -> str | None:
        """Why it has to go by now, or None."""

    def discard(self) -> None:
        """Close it at once."""


class ConnectionTable:
    """The open connections of this process, with room for new ones and an end for slow ones."""

    def __init__(self, limits: ConnectionLimits, loop: asyncio.AbstractEventLoop) -> None:
        self._limits = limits
        self._loop = loop
        self._numbers = itertools.count(1)
        self._open: set[Connection] = set()
        self._by_group: dict[str, set[Connection]] = {}
        self._unsettled: set[str] = set()
        self._sweep: asyncio.TimerHandle | None = None
        self._refused: Counter[str] = Counter()
        self._logging: asyncio.TimerHandle | None = None
        shortest = min(
            limits.header_timeout_seconds, limits.keep_alive_seconds, limits.send_timeout_seconds
        )
        self._sweep_seconds = min(_LONGEST_SWEEP_SECONDS, shortest / 2)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: Connection) -> bool:
        """Accept a connection, if needed in place of an idle one; False if there is no room."""
        group = connection.group
        if not connection.is_from_proxy and self._is_group_at_work(group):
            self.note("too many connections from one address")
            return False
        if len(self._open) >= self._limits.max_connections and not self._make_room(
            self._fullest_group()
        ):
            self.note("too many connections")
            return False
        connection.number = next(self._numbers)
        self._open.add(connection)
        self._by_group.setdefault(group, set()).add(connection)
        is_crowded = len(self._by_group[group]) > self._limits.max_connections_per_address
        if is_crowded and not connection.is_from_proxy and group not in self._unsettled:
            self._unsettled.add(group)
            self._loop.call_later(_SETTLE_SECONDS, self._settle, group)
        if self._sweep is None:
            self._sweep = self._loop.call_later(self._sweep_seconds, self._close_overdue)
        return True

    def remove(self, connection: Connection) -> None:
        if connection not in self._open:
            return
        self._open.discard(connection)
        others = self._by_group[connection.group]
        others.discard(connection)
        if not others:
            del self._by_group[connection.group]

    def note(self, reason: str) -> None:
        """Count a refused connection, for one log line every few seconds."""
        self._refused[reason] += 1
        if self._logging is None:
            self._logging = self._loop.call_later(_LOG_EVERY_SECONDS, self._log_refused)

    def _is_group_at_work(self, group: str) -> bool:
        """Whether an address already has as many requests under way as it may have connections."""
        most = self._limits.max_connections_per_address
        those = self._by_group.get(group, ())
        return (
            len(those) >= most and sum(one.activity() is Activity.WORKING for one in those) >= most
        )

    def _settle(self, group: str) -> None:
        """Closes what an address has open beyond its limit, but none that is at work."""
        self._unsettled.discard(group)
        excess = len(self._by_group.get(group, ())) - self._limits.max_connections_per_address
        for _ in range(excess):
            if not self._make_room(group):
                return
            self.note("too many connections from one address")

    def _make_room(self, group: str) -> bool:
        found = min(
            self._by_group.get(group, ()),
            key=lambda one: (one.activity(), one.number),
            default=None,
        )
        if found is None or found.activity() is Activity.WORKING:
            return False
        self._close(found)
        return True

    def _close(self, connection: Connection) -> None:
        self.remove(connection)
        connection.discard()

    def _fullest_group(self) -> str:
        return max(self._by_group, key=lambda group: len(self._by_group[group]), default="")

    def _close_overdue(self) -> None:
        self._sweep = None
        now = self._loop.time()
        for connection in [*self._open]:
            reason = connection.is_overdue(now)
            if reason is not None:
                self.note(reason)
                self._close(connection)
        if self._open:
            self._sweep = self._loop.call_later(self._sweep_seconds, self._close_overdue)

    def _log_refused(self) -> None:
        self._logging = None
        log.info(
            "connections closed", extra={"reasons": dict(self._refused), "open": len(self._open)}
        )
        self._refused.clear()
