"""The dispatcher that greets clients of `carrel mcp` while the rooms are being opened."""

from __future__ import annotations

from carrel.core.clock import SystemClock
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.handshake import handshake_endpoint
from carrel.policy.audit import NoAudit
from carrel.policy.gate import Gate
from carrel.policy.identity import LocalIdentity
from carrel.policy.limits import NoLimits
from carrel.rooms import declared_rooms
from carrel.settings import Settings


def handshake_dispatcher(settings: Settings) -> Dispatcher:
    """Answers initialize, ping and server/discover before the rooms are open."""
    rooms = [declared_rooms()[name] for name in settings.rooms]
    gate = Gate(LocalIdentity(), NoLimits(), NoAudit(), SystemClock())
    return Dispatcher(handshake_endpoint(rooms, settings.server), gate)
