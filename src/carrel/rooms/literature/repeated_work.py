"""Work that a server repeats in the background: alerts that are due, records that wait."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from carrel.core.errors import CarrelError

log = logging.getLogger("carrel.literature")

# How often a server looks whether an alert is due.
ALERTS_EVERY_SECONDS = 60.0
# How often a server looks whether the table of retractions has changed.
TABLE_EVERY_SECONDS = 60.0
# How often a server asks services for records that wait to be completed.
COMPLETION_EVERY_SECONDS = 900.0


class RepeatedWork:
    """Does a piece of work again and again until it is closed; a fault does not end it."""

    def __init__(
        self,
        name: str,
        work: Callable[[], Awaitable[object]],
        has_work: Callable[[], bool],
        every_seconds: float,
    ) -> None:
        """`has_work` says whether there may be any, without making a store."""
        self._name = name
        self._work = work
        self._has_work = has_work
        self._every_seconds = every_seconds
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._keep_working())

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _keep_working(self) -> None:
        while True:
            try:
                if self._has_work():
                    await self._work()
            except CarrelError as error:
                log.warning("work not done", extra={"work": self._name, "code": error.code})
            except Exception:
                log.exception("work not done", extra={"work": self._name})
            await asyncio.sleep(self._every_seconds)
