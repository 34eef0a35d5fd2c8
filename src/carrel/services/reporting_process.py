"""Long work in a process of its own that reports its progress and can be ended."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar, cast

from carrel.core.errors import CarrelError, UnavailableError, describe_error
from carrel.core.progress import Progress

log = logging.getLogger("carrel.jobs")

ResultT = TypeVar("ResultT")
_REPORT_EVERY_SECONDS = 0.2
_END_SECONDS = 5.0


async def run_in_process(work: Callable[[Progress], ResultT], progress: Progress) -> ResultT:
    """The result of `work`, which must be picklable, from a new process.

    Raises the CarrelError that it raises, and UnavailableError where the process was ended. A
    cancelled caller ends the process.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work_there, args=(work, theirs), daemon=True)
    await asyncio.to_thread(process.start)
    theirs.close()
    try:
        while True:
            kind, value = await asyncio.to_thread(_receive, ours)
            if kind == "progress":
                _replay(value, progress)
            elif kind == "result":
                return cast(ResultT, value)
            else:
                raise value
    finally:
        process.terminate()
        await asyncio.shield(asyncio.to_thread(process.join, _END_SECONDS))
        ours.close()


def _receive(connection: Connection) -> tuple[str, Any]:
    """The next message; waits at most a second at a time, so that a cancelled caller gets away."""
    try:
        if not connection.poll(1.0):
            return "progress", ("advance", (0,))
        received: tuple[str, Any] = connection.recv()
        return received
    except (EOFError, OSError):
        return "error", UnavailableError(
            "The work was ended before it was done", next_step="Start it again."
        )


def _replay(told: tuple[str, tuple[Any, ...]], progress: Progress) -> None:
    name, values = told
    if name == "begin":
        progress.begin(*values)
    elif name == "advance":
        progress.advance(*values)
    else:
        progress.end()


class _SentProgress:
    """Sends what it is told to the parent, advances a few times a second."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting = 0
        self._sent_at = 0.0

    def begin(self, phase: str, total: int | None, unit: str, work: float | None = None) -> None:
        self._flush()
        self._connection.send(("progress", ("begin", (phase, total, unit))))

    def advance(self, amount: int = 1, work: float | None = None) -> None:
        self._waiting += amount
        now = time.monotonic()
        if now - self._sent_at >= _REPORT_EVERY_SECONDS:
            self._sent_at = now
            self._flush()

    def end(self) -> None:
        self._flush()
        self._connection.send(("progress", ("end", ())))

    def _flush(self) -> None:
        if self._waiting:
            self._connection.send(("progress", ("advance", (self._waiting,))))
            self._waiting = 0


def _work_there(work: Callable[[Progress], object], connection: Connection) -> None:
    try:
        result = work(_SentProgress(connection))
    except CarrelError as error:
        connection.send(("error", error))
    except Exception as error:
        log.exception("work in a process failed", extra={"cause": describe_error(error)})
        connection.send(("error", UnavailableError("The work failed; the server's log says why")))
    else:
        connection.send(("result", result))
