"""What a client is told before any room is open, so that it need not wait for them. A test holds it
equal to the real thing.
"""

from __future__ import annotations

from carrel.core.clock import SystemClock
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.endpoint import Endpoint
from carrel.policy.audit import NoAudit
from carrel.policy.gate import Gate
from carrel.policy.identity import LocalIdentity
from carrel.policy.limits import NoLimits
from carrel.settings import Settings
from carrel.wiring.instructions import desk_instructions

_PURPOSES = {
    "papers": "Find papers in the corpus and read their metadata, summaries and full texts.",
    "references": "Keep a library of references: add, find, cite and export them, with their full "
    "texts.",
    "knowledge": "Keep notes, find them again, share them with the team, and look up named things.",
    "research": "Generate, review, rank and evolve hypotheses from the papers at hand; work goes "
    "on between calls.",
}
_WITH_PROMPTS = frozenset({"research"})
_WITH_JOBS = frozenset({"references", "research"})
_WITH_COMPLETIONS = frozenset({"papers", "references", "research"})


def handshake_dispatcher(settings: Settings) -> Dispatcher:
    """Answers initialize, ping and server/discover before the rooms are open."""
    clock = SystemClock()
    endpoint = Endpoint(
        "handshake",
        operations=(),
        prompts=() if _WITH_PROMPTS & set(settings.rooms) else None,
        server_name=settings.server.name,
        server_version=settings.server.version,
        instructions=_instructions(settings),
        offers_completions=bool(_WITH_COMPLETIONS & set(settings.rooms)),
        offers_tasks=bool(_WITH_JOBS & set(settings.rooms)) and not settings.server.compact,
    )
    return Dispatcher(endpoint, Gate(LocalIdentity(), NoLimits(), NoAudit(), clock))


def _instructions(settings: Settings) -> str:
    if len(settings.rooms) == 1 and not settings.server.compact:
        return _PURPOSES[settings.rooms[0]]
    purposes = {name: _PURPOSES[name] for name in settings.rooms}
    return desk_instructions(
        purposes, has_jobs=bool(_WITH_JOBS & purposes.keys()), is_compact=settings.server.compact
    )
