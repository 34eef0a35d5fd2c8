"""`/health` and `/ready`; stores are checked at most once a second."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.core.health import Check, Health
from carrel.doors.http import HttpRequest, Response, Route
from carrel.doors.http.stop_notice import StopNotice

_REMEMBER_SECONDS = 1.0
_TIMEOUT_SECONDS = 2.0
# A look that opens a store may take longer than an answer may wait; it is given up only after this.
_GIVE_UP_SECONDS = 30.0
NOT_REACHABLE = "not_reachable"


class Readiness:
    """Caches the readiness report for a second; concurrent callers share one check."""

    def __init__(
        self, probes: Mapping[str, Check], clock: Clock, stop_notice: StopNotice | None = None
    ) -> None:
        self._stop_notice = stop_notice or StopNotice()
        self._probes = dict(probes)
        self._clock = clock
        self._found: dict[str, Health] = {}
        self._found_at: float | None = None
        self._asking: asyncio.Task[dict[str, Health]] | None = None
        self._looking: dict[str, asyncio.Task[Health]] = {}

    async def ask(self) -> dict[str, Health]:
        """The health of every store, by name."""
        if (
            self._found_at is not None
            and self._clock.monotonic() - self._found_at < _REMEMBER_SECONDS
        ):
            return self._found
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_all())
            self._asking.add_done_callback(self._forget_task)
        # One who hangs up must not end the question of the others.
        return await asyncio.shield(self._asking)

    def routes(self) -> dict[str, Route]:
        """Both routes; neither identifies its caller."""
        return {
            "/health": Route({"GET": _answer_alive}, is_open=True),
            "/ready": Route({"GET": self._answer_ready}, is_open=True),
        }

    async def _answer_ready(self, request: HttpRequest) -> Response:
        if self._stop_notice.is_given:
            return Response.json(503, {"status": "stopping", "checks": {}})
        checks = await self.ask()
        is_ready = all(check.is_well for check in checks.values())
        facts = {name: _public_facts(check) for name, check in checks.items()}
        status = "ready" if is_ready else "not ready"
        return Response.json(200 if is_ready else 503, {"status": status, "checks": facts})

    async def _ask_all(self) -> dict[str, Health]:
        names = list(self._probes)
        answers = await asyncio.gather(*(self._look_within_time(name) for name in names))
        self._found = dict(zip(names, answers, strict=True))
        self._found_at = self._clock.monotonic()
        return self._found

    async def _look_within_time(self, name: str) -> Health:
        """What the probe says, or that it has not answered yet; it goes on for the next who asks.

        Cut off each time, a store that is slow to open would never be open.
        """
        if name not in self._looking:
            self._looking[name] = asyncio.create_task(_look(self._probes[name]))
        task = self._looking[name]
        done, _ = await asyncio.wait({task}, timeout=_TIMEOUT_SECONDS)
        if not done:
            return Health(
                False,
                f"No answer within {_TIMEOUT_SECONDS:g} seconds",
                "Look whether it is running.",
                NOT_REACHABLE,
            )
        del self._looking[name]
        return await task

    def _forget_task(self, task: asyncio.Task[dict[str, Health]]) -> None:
        self._asking = None


async def _answer_alive(request: HttpRequest) -> Response:
    return Response.json(200, {"status": "healthy"})


def _public_facts(check: Health) -> dict[str, object]:
    """What strangers may know of a store."""
    facts: dict[str, object] = {"ok": check.is_well}
    if check.problem:
        facts["problem"] = check.problem
    if check.note and check.is_well:
        facts["note"] = check.note
    return facts


async def _look(probe: Check) -> Health:
    try:
        async with asyncio.timeout(_GIVE_UP_SECONDS):
            return await probe()
    except CarrelError as error:
        return Health(False, error.message, error.next_step)
    except TimeoutError:
        return Health(
            False,
            f"No answer within {_GIVE_UP_SECONDS:g} seconds",
            "Look whether it is running.",
            NOT_REACHABLE,
        )
