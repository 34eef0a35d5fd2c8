"""Runs work up to its first wait without a task of its own; most requests end there."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine, Generator
from typing import Any

Work = Coroutine[Any, Any, None]


class SpareTask:
    """A task that waits for work, in whose name work begins.

    What runs has a current task, which time limits may keep and cancel: work that waits goes on in
    that very task, and another one becomes the spare one. So does one where work has left context
    variables behind; no work sees those of another.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: _WaitingTask | None = None

    def start(self, work: Work) -> asyncio.Task[None] | None:
        """Begin at once; the task in which the work goes on, or None where it has ended."""
        waiting = self._waiting
        if waiting is None or waiting.task.done():
            waiting = self._waiting = _WaitingTask(self._loop)
        if not waiting.is_ready or asyncio.current_task(self._loop) is not None:
            return self._loop.create_task(work)
        task = waiting.task
        asyncio.tasks._enter_task(self._loop, task)
        try:
            waits_for = waiting.context.run(work.send, None)
        except StopIteration:
            if waiting.context != waiting.untouched:
                self._waiting = None
                task.cancel()
            return None
        except asyncio.CancelledError:
            return None
        finally:
            asyncio.tasks._leave_task(self._loop, task)
        self._waiting = None
        waiting.hand_over(work, waits_for)
        return task


class _WaitingTask:
    """A task that does nothing until work is handed over."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.context = contextvars.copy_context()
        self.untouched = self.context.copy()
        self.is_ready = False
        self._handed: tuple[Work, Any] | None = None
        self._parking: asyncio.Future[None] = loop.create_future()
        self.task: asyncio.Task[None] = asyncio.Task(self._run(), loop=loop, context=self.context)
        # A loop that is closed while nobody works need not tell of it.
        self.task._log_destroy_pending = False  # type: ignore[attr-defined]

    def hand_over(self, work: Work, waits_for: Any) -> None:
        self._handed = work, waits_for
        self._parking.set_result(None)

    async def _run(self) -> None:
        self.is_ready = True
        await self

    def __await__(self) -> Generator[Any, Any, None]:
        """First for work, then as the work goes on."""
        try:
            yield from self._parking
        except asyncio.CancelledError as cancelled:
            if self._handed is None:
                raise
            # Cancelled between its first wait and its going on: what it waits for hears of it.
            work, waits_for = self._handed
            if waits_for is None or not waits_for.cancel():
                try:
                    waits_for = work.throw(cancelled)
                except StopIteration:
                    return
        else:
            assert self._handed is not None
            work, waits_for = self._handed
        try:
            while True:
                try:
                    sent = yield waits_for
                except GeneratorExit:
                    work.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - a cancellation belongs to the work
                    waits_for = work.throw(error)
                else:
                    waits_for = work.send(sent)
        except StopIteration:
            return
