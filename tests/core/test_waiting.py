"""Waiting with a limit."""

from __future__ import annotations

import asyncio

import pytest

from carrel.core.waiting import within


def test_work_that_never_waits_is_answered_without_a_loop_turn() -> None:
    async def at_once() -> int:
        return 7

    assert asyncio.run(within(1.0, at_once())) == 7


def test_work_that_waits_goes_on_where_it_stopped() -> None:
    async def twice() -> list[str]:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, "first")
        heard = [await future]
        await asyncio.sleep(0)
        return [*heard, "second"]

    assert asyncio.run(within(5.0, twice())) == ["first", "second"]


def test_work_that_waits_too_long_is_stopped_and_cleans_up() -> None:
    cleaned: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("cleaned")

    with pytest.raises(TimeoutError):
        asyncio.run(within(0.001, forever()))
    assert cleaned == ["cleaned"]


def test_an_error_of_the_work_is_its_own() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise LookupError("not here")

    with pytest.raises(LookupError, match="not here"):
        asyncio.run(within(1.0, fails()))


def test_a_cancelled_caller_cancels_the_work() -> None:
    async def scene() -> list[str]:
        seen: list[str] = []
        started = asyncio.Event()

        async def work() -> None:
            try:
                started.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        async def outer() -> None:
            await asyncio.sleep(0)
            await within(60.0, work())

        task = asyncio.create_task(outer())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert asyncio.run(scene()) == ["cancelled"]
