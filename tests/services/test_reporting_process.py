"""Long work in a process of its own: its result, its errors, its progress and its end."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import partial
from pathlib import Path

import pytest

from carrel.core.errors import ConflictError, UnavailableError
from carrel.core.progress import NoProgress, Progress
from carrel.rooms.papers.addition_job import AdditionProgress
from carrel.services.reporting_process import run_in_process


def _count(most: int, progress: Progress) -> int:
    progress.begin("counting", most, "steps")
    for _ in range(most):
        progress.advance()
    progress.end()
    return os.getpid()


def _refuse(progress: Progress) -> int:
    raise ConflictError("It is being done already", next_step="Wait.")


def _break(progress: Progress) -> int:
    raise ZeroDivisionError


def _die(progress: Progress) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def _wait(sign: Path, progress: Progress) -> int:
    sign.write_text(str(os.getpid()))
    progress.begin("waiting", None, "")
    signal.pause()
    return 0


def test_the_result_and_the_progress_come_back_from_another_process() -> None:
    progress = AdditionProgress()
    assert asyncio.run(run_in_process(partial(_count, 500), progress)) != os.getpid()
    assert (progress.phase, progress.done, progress.total) == ("counting", 500, 500)


def test_a_refusal_comes_back_as_it_is_and_a_fault_without_its_inside() -> None:
    with pytest.raises(ConflictError, match="being done already"):
        asyncio.run(run_in_process(_refuse, NoProgress()))
    with pytest.raises(UnavailableError, match="the server's log") as raised:
        asyncio.run(run_in_process(_break, NoProgress()))
    assert "ZeroDivision" not in str(raised.value)


def test_a_process_that_was_killed_is_told_of() -> None:
    with pytest.raises(UnavailableError, match="ended before"):
        asyncio.run(run_in_process(_die, NoProgress()))


def test_a_cancelled_caller_ends_the_process(tmp_path: Path) -> None:
    sign = tmp_path / "pid"

    class Told(NoProgress):
        def __init__(self) -> None:
            self.has_begun = asyncio.Event()

        def begin(
            self, phase: str, total: int | None, unit: str, work: float | None = None
        ) -> None:
            self.has_begun.set()

    async def cancel_when_it_works() -> None:
        progress = Told()
        task = asyncio.create_task(run_in_process(partial(_wait, sign), progress))
        await asyncio.wait_for(progress.has_begun.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_when_it_works())
    with pytest.raises(ProcessLookupError):
        os.kill(int(sign.read_text()), 0)
