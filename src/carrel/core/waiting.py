"""Waiting with a limit that costs nothing when there is nothing to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

ResultT = TypeVar("ResultT")


async def within(seconds: float, work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Await `work` with a timeout, set up only if it really waits; raises TimeoutError."""
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        result: ResultT = done.value
        return result
    async with asyncio.timeout(seconds):
        return await _StartedCoroutine(work, waits_for)


class _StartedCoroutine(Generic[ResultT]):
    """A coroutine that has run up to its first wait, awaited from there."""

    def __init__(self, work: Coroutine[Any, Any, ResultT], waits_for: object) -> None:
        self._work = work
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, ResultT]:
        work, waits_for = self._work, self._waits_for
        try:
            while True:
                try:
                    sent = yield waits_for
                except GeneratorExit:
                    work.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - a cancellation belongs to the work, whatever its kind
                    waits_for = work.throw(error)
                else:
                    waits_for = work.send(sent)
        except StopIteration as done:
            result: ResultT = done.value
            return result
