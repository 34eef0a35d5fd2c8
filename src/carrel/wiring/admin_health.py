"""The health of a running desk: a look at any time, or as thoroughly as the doctor."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from carrel.core.errors import UnavailableError
from carrel.core.health import Check, Health
from carrel.settings import Settings
from carrel.wiring.home import embedded_databases
from carrel.wiring.machine_checks import (
    check_disk,
    check_machine,
    check_settings,
    check_unserved,
)

if TYPE_CHECKING:
    from carrel.wiring.desk import Desk


class DeskHealth:
    """Asks the parts of a desk, and looks at the machine."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._examining = asyncio.Lock()

    async def look(self) -> Mapping[str, Health]:
        settings = self._desk.settings
        disk = await asyncio.to_thread(
            check_disk, settings.home, settings.server.min_free_disk_bytes
        )
        return {"disk": disk, **await _ask(self._desk.probes())}

    async def examine(self) -> Mapping[str, Health]:
        async with self._examining:
            machine = await asyncio.to_thread(_look_at_machine, self._desk.settings)
            return {**machine, **await _ask(self._desk.checks())}


async def _ask(checks: Mapping[str, Check]) -> dict[str, Health]:
    found = await asyncio.gather(*(check() for check in checks.values()))
    return dict(zip(checks, found, strict=True))


def _look_at_machine(settings: Settings) -> dict[str, Health]:
    found = {**check_settings(settings), **check_machine(settings), **check_unserved(settings)}
    try:
        embedded_databases(settings).refuse_damaged()
    except UnavailableError as error:
        found["databases"] = Health(False, error.message, error.next_step)
    return found
