"""Work that never waits needs no task of its own; work that waits notices no difference."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from carrel.doors.http.spare_task import SpareTask, Work

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name")
TURNS = 6


async def pass_turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


class Starter:
    """Starts work as the loop does when bytes came: outside of any task."""

    def __init__(self) -> None:
        self.spare = SpareTask(asyncio.get_running_loop())

    async def start(self, work: Work) -> asyncio.Task[None] | None:
        begun: asyncio.Future[asyncio.Task[None] | None] = (
            asyncio.get_running_loop().create_future()
        )
        asyncio.get_running_loop().call_soon(lambda: begun.set_result(self.spare.start(work)))
        return await begun


async def ready() -> Starter:
    """With a spare task that waits already."""
    starter = Starter()

    async def nothing() -> None: ...

    await starter.start(nothing())
    await pass_turns()
    return starter


def run(test: Callable[[Starter], Awaitable[None]]) -> None:
    async def main() -> None:
        await test(await ready())

    asyncio.run(main())


def test_work_that_does_not_wait_is_done_at_once_and_leaves_no_task() -> None:
    async def test(starter: Starter) -> None:
        seen: list[object] = []

        async def work() -> None:
            seen.append(asyncio.current_task())

        before = asyncio.all_tasks()
        for _ in range(3):
            assert await starter.start(work()) is None
        assert asyncio.all_tasks() == before
        assert seen[0] is not None
        assert len(set(map(id, seen))) == 1

    run(test)


def test_work_that_waits_goes_on_in_the_task_that_it_began_in() -> None:
    async def test(starter: Starter) -> None:
        seen: list[object] = []
        bell = asyncio.Event()

        async def work() -> None:
            seen.append(asyncio.current_task())
            await bell.wait()
            await asyncio.sleep(0)
            seen.append(asyncio.current_task())

        task = await starter.start(work())
        other = await starter.start(work())
        bell.set()
        assert task is not None
        assert other is not None
        await task
        await other
        assert seen.count(task) == seen.count(other) == 2

    run(test)


@pytest.mark.parametrize("waits_first", [False, True])
def test_a_time_limit_set_before_the_first_wait_ends_the_work(waits_first: bool) -> None:
    async def test(starter: Starter) -> None:
        seen: list[str] = []

        async def work() -> None:
            try:
                async with asyncio.timeout(0 if waits_first else 0.001):
                    await asyncio.Event().wait()
            except TimeoutError:
                seen.append("late")
            await asyncio.sleep(0)
            seen.append("went on")

        task = await starter.start(work())
        assert task is not None
        await task
        assert seen == ["late", "went on"]
        assert not task.cancelling()

    run(test)


def test_a_group_of_tasks_may_be_opened_before_the_first_wait() -> None:
    async def test(starter: Starter) -> None:
        seen: list[int] = []

        async def part(number: int) -> None:
            await asyncio.sleep(0)
            seen.append(number)

        async def work() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(part(1))
                group.create_task(part(2))
            seen.append(3)

        task = await starter.start(work())
        assert task is not None
        await task
        assert seen == [1, 2, 3]

    run(test)


@pytest.mark.parametrize("turns", range(4))
def test_work_is_cancelled_at_whatever_moment(turns: int) -> None:
    async def test(starter: Starter) -> None:
        seen: list[str] = []
        waited: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def work() -> None:
            try:
                await waited
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        task = await starter.start(work())
        assert task is not None
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == ["cancelled"]
        assert waited.cancelled()

    run(test)


def test_work_that_gave_up_its_turn_is_cancelled_too() -> None:
    async def test(starter: Starter) -> None:
        seen: list[str] = []
        holder: dict[str, Any] = {}

        async def work() -> None:
            holder["task"] = asyncio.current_task()
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                seen.append("cancelled")

        def begin() -> None:
            starter.spare.start(work())
            holder["task"].cancel()

        asyncio.get_running_loop().call_soon(begin)
        await pass_turns()
        assert seen == ["cancelled"]
        assert holder["task"].done()

    run(test)


def test_no_work_sees_the_context_of_another() -> None:
    async def test(starter: Starter) -> None:
        seen: list[str] = []

        async def work(name: str, *, waits: bool) -> None:
            seen.append(NAME.get("nobody"))
            NAME.set(name)
            if waits:
                await asyncio.sleep(0)
            seen.append(NAME.get())

        for waits in (False, True):
            for name in ("Ada", "Grace", "Mary"):
                await starter.start(work(name, waits=waits))
                await pass_turns()
        assert seen == ["nobody", "Ada", "nobody", "Grace", "nobody", "Mary"] * 2
        assert NAME.get("nobody") == "nobody"

    run(test)


def test_inside_a_task_and_with_no_spare_one_work_gets_its_own_task() -> None:
    async def main() -> None:
        seen: list[object] = []

        async def work() -> None:
            seen.append(asyncio.current_task())

        starter = Starter()
        first = await starter.start(work())
        await pass_turns()
        inside = starter.spare.start(work())
        await pass_turns()
        assert seen == [first, inside]
        assert asyncio.current_task() not in seen

    asyncio.run(main())


def test_a_spare_task_that_was_cancelled_is_replaced() -> None:
    async def test(starter: Starter) -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await pass_turns()
        seen: list[str] = []

        async def work() -> None:
            seen.append("done")

        for _ in range(3):
            await starter.start(work())
            await pass_turns()
        assert seen == ["done"] * 3

    run(test)
