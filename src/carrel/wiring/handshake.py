"""What a client is told before any room is open, so that it need not wait for them. A test holds it
equal to the real thing.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.clock import SystemClock
from carrel.core.room import RoomDeclaration
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.endpoint import Endpoint
from carrel.policy.audit import NoAudit
from carrel.policy.gate import Gate
from carrel.policy.identity import LocalIdentity
from carrel.policy.limits import NoLimits
from carrel.rooms import declared_rooms
from carrel.settings import Settings
from carrel.wiring.instructions import desk_instructions


def handshake_dispatcher(settings: Settings) -> Dispatcher:
    """Answers initialize, ping and server/discover before the rooms are open."""
    rooms = [declared_rooms()[name] for name in settings.rooms]
    clock = SystemClock()
    endpoint = Endpoint(
        "handshake",
        operations=(),
        prompts=() if any(room.has_prompts for room in rooms) else None,
        server_name=settings.server.name,
        server_version=settings.server.version,
        instructions=_instructions(rooms, is_compact=settings.server.compact),
        offers_completions=any(room.has_completions for room in rooms),
        offers_tasks=any(room.has_jobs for room in rooms) and not settings.server.compact,
    )
    return Dispatcher(endpoint, Gate(LocalIdentity(), NoLimits(), NoAudit(), clock))


def _instructions(rooms: Sequence[RoomDeclaration], *, is_compact: bool) -> str:
    if len(rooms) == 1 and not is_compact:
        return rooms[0].purpose
    has_jobs = any(room.has_jobs for room in rooms)
    return desk_instructions(rooms, has_jobs=has_jobs, is_compact=is_compact)
