"""Adds a paper in a child process: the event loop stays free, and a crash is contained."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from carrel.rooms.papers.errors import PaperNotAddedError
from carrel.rooms.papers.models import PaperAdded


async def add_in_child(
    add: Callable[[Path, Path], PaperAdded], into: Path, file: Path
) -> PaperAdded:
    """Run `add` in a new process; raises what it raises, PaperNotAddedError where that crashes.

    A cancelled caller does not wait for the process, which ends by itself.
    """
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, add, into, file)
    except BrokenProcessPool as error:
        raise PaperNotAddedError(
            "The file crashed its reader.",
            next_step="Send the paper in another form; nothing was added.",
        ) from error
    finally:
        pool.shutdown(wait=False)
