"""A parallel map over child processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

GivenT = TypeVar("GivenT")
AnsweredT = TypeVar("AnsweredT")

_PROCESSES = 2


def map_in_processes(
    function: Callable[[GivenT], AnsweredT], work: Iterable[GivenT], /
) -> Iterator[AnsweredT]:
    """The answers in the order of the work; the processes are started by the first."""
    # Imported here: most processes never need them, and they take milliseconds at every start.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(_PROCESSES, mp_context=context) as pool:
        yield from pool.map(function, work)
