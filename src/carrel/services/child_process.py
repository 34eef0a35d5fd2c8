"""Runs one function in a process of its own, so that a crash stays there."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class ChildCrashedError(Exception):
    """The child process ended before it could answer."""


async def run_in_child(function: Callable[..., ResultT], *arguments: Any) -> ResultT:
    """Calls a function of a module in a new process; raises what it raises, or ChildCrashedError.

    A caller that stops waiting does not wait for the process, which ends by itself.
    """
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)
    except BrokenProcessPool as error:
        raise ChildCrashedError from error
    finally:
        pool.shutdown(wait=False)
