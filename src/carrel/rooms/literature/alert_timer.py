"""A server's timer for alerts; of several processes one runs each alert."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from carrel.core.errors import CarrelError
from carrel.rooms.literature.alerts import Alerts

log = logging.getLogger("carrel.literature")

# How often a server looks whether an alert is due.
LOOK_EVERY_SECONDS = 60.0


class AlertTimer:
    """Runs everybody's alerts each time they are due, until it is closed."""

    def __init__(
        self,
        alerts: Alerts,
        every: timedelta,
        has_alerts: Callable[[], bool],
        look_every_seconds: float = LOOK_EVERY_SECONDS,
    ) -> None:
        """`has_alerts` says whether there may be any, without making a store."""
        self._alerts = alerts
        self._every = every
        self._has_alerts = has_alerts
        self._look_every_seconds = look_every_seconds
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._keep_running())

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _keep_running(self) -> None:
        while True:
            try:
                if self._has_alerts():
                    await self._alerts.run_due(self._every)
            except CarrelError as error:
                log.warning("alerts did not run", extra={"code": error.code})
            except Exception:
                # A fault in one round must not end all further ones.
                log.exception("alerts did not run")
            await asyncio.sleep(self._look_every_seconds)
