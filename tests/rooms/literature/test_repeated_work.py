"""What a server repeats goes on after a fault, and ends when it is closed."""

from __future__ import annotations

import asyncio

from carrel.core.errors import UnavailableError
from carrel.rooms.literature.repeated_work import RepeatedWork


def test_a_fault_does_not_end_what_is_repeated() -> None:
    async def scene() -> None:
        faults: list[Exception] = [
            UnavailableError("down", next_step="wait"),
            RuntimeError("a fault of ours"),
        ]
        rounds, is_done = 0, asyncio.Event()

        async def work() -> None:
            nonlocal rounds
            rounds += 1
            if faults:
                raise faults.pop(0)
            is_done.set()

        repeated = RepeatedWork("sample", work, lambda: True, 0.0)
        repeated.start()
        repeated.start()
        async with asyncio.timeout(30):
            await is_done.wait()
        await repeated.close()
        ended = rounds
        assert ended >= 3
        await asyncio.sleep(0)
        assert rounds == ended
        await repeated.close()

    asyncio.run(scene())


def test_nothing_is_done_where_there_is_no_work() -> None:
    async def scene() -> None:
        looked = asyncio.Event()

        def has_work() -> bool:
            looked.set()
            return False

        async def work() -> None:
            raise AssertionError

        repeated = RepeatedWork("sample", work, has_work, 0.0)
        repeated.start()
        async with asyncio.timeout(30):
            await looked.wait()
        await repeated.close()

    asyncio.run(scene())
