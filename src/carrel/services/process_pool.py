"""A parallel map over child processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

GivenT = TypeVar("GivenT")
AnsweredT = TypeVar("AnsweredT")

_PROCESSES = 2
# So many pieces of work per process are sent ahead of their answers.
_AHEAD = 3


def map_in_processes(
    function: Callable[[GivenT], AnsweredT], work: Iterable[GivenT], /
) -> Iterator[AnsweredT]:
    """The answers in the order of the work; the processes are started by the first."""
    # Imported here: most processes never need them, and they take milliseconds at every start.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(_PROCESSES, mp_context=context) as pool:
        # Not `pool.map`, which takes all of the work into memory before the first answer.
        waiting: deque[Future[AnsweredT]] = deque()
        for each in work:
            waiting.append(pool.submit(function, each))
            if len(waiting) > _AHEAD * _PROCESSES:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
