"""The product, built: its rooms with their stores, and the gate in front of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from carrel.core.catalogue import Catalogue, Room
from carrel.core.clock import SystemClock
from carrel.policy.audit import Audit, NoAudit
from carrel.policy.gate import Gate
from carrel.policy.identity import LocalIdentity
from carrel.policy.limits import InProcessLimits, Rate
from carrel.policy.origin import is_loopback
from carrel.settings import Settings, SettingsError
from carrel.stores.json_lines.audit import JsonLinesAudit


@dataclass(frozen=True, slots=True)
class Health:
    """Whether one part works, what it says of itself, and what to do if it does not."""

    is_well: bool
    says: str
    next_step: str = ""


Check = Callable[[], Awaitable[Health]]


@dataclass(slots=True)
class OpenRoom:
    """A room with its stores: how to check them, how to close them, and how to begin the work that waits in them."""

    room: Room
    checks: dict[str, Check] = field(default_factory=dict)
    close: Callable[[], Awaitable[None]] | None = None
    start: Callable[[], Awaitable[None]] | None = None


@dataclass(slots=True)
class Desk:
    """The product, built. Whoever opens it closes it."""

    settings: Settings
    catalogue: Catalogue
    gate: Gate
    clock: SystemClock
    rooms: list[OpenRoom]
    audit: Audit

    async def close(self) -> None:
        async with AsyncExitStack() as stack:
            if isinstance(self.audit, JsonLinesAudit):
                stack.callback(self.audit.close)
            for room in self.rooms:
                if room.close is not None:
                    stack.push_async_callback(room.close)

    async def health(self) -> dict[str, Health]:
        """What every part says of itself."""
        return {name: await check() for room in self.rooms for name, check in room.checks.items()}

    @asynccontextmanager
    async def opened(self, *, takes_up_work: bool = False) -> AsyncIterator[Desk]:
        """Open while inside. A process that stays takes up work that an earlier one left unfinished."""
        try:
            if takes_up_work:
                for room in self.rooms:
                    if room.start is not None:
                        await room.start()
            yield self
        finally:
            await self.close()


def open_desk(settings: Settings, extra_rooms: Iterable[OpenRoom] = ()) -> Desk:
    """Builds every room that the settings ask for, and the gate in front of them."""
    _refuse_to_be_open_to_the_world(settings)
    clock = SystemClock()
    rooms = [*(_OPENERS[name](settings) for name in settings.rooms), *extra_rooms]
    audit: Audit = JsonLinesAudit(settings.audit_file) if settings.audit.enabled else NoAudit()
    limits = InProcessLimits(Rate(settings.limits.per_minute, settings.limits.burst), clock)
    gate = Gate(LocalIdentity(), limits, audit, clock)
    return Desk(settings, Catalogue(room.room for room in rooms), gate, clock, rooms, audit)


def _refuse_to_be_open_to_the_world(settings: Settings) -> None:
    host = settings.server.host
    if not is_loopback(host):
        raise SettingsError(
            f"Refusing to listen on {host} with no authentication: anybody who can reach it would hold every scope",
            next_step="Listen on 127.0.0.1, or set auth.mode.",
            details={"setting": "server.host"},
        )


def _open_papers(settings: Settings) -> OpenRoom:
    from carrel.wiring.papers import open_papers

    return open_papers(settings)


def _open_references(settings: Settings) -> OpenRoom:
    from carrel.wiring.references import open_references

    return open_references(settings)


def _open_research(settings: Settings) -> OpenRoom:
    from carrel.wiring.research import open_research

    return open_research(settings)


_OPENERS: dict[str, Callable[[Settings], OpenRoom]] = {
    "papers": _open_papers,
    "references": _open_references,
    "research": _open_research,
}
