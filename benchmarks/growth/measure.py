"""CPU time and memory of one parser on one family, each in a process of its own that cannot take more than its share."""

from __future__ import annotations

import math
import os
import pickle
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# The limits of one measurement. A parser that needs more than this for 200 kB is over every budget.
CPU_LIMIT_SECONDS = 2
MEMORY_LIMIT_BYTES = 2 * 1024**3
# Below this the timer, the allocator and the caches say more than the parser does.
NOISE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of CPU at each size, the growth of memory, and what was raised, if anything."""

    seconds: tuple[float, ...]
    peak_bytes: int
    raised: str
    is_killed: bool

    def exponent(self, sizes: Sequence[int]) -> float | None:
        """The slope of log time over log size; None where there is too little time to tell."""
        if self.is_killed:
            return math.inf
        points = [
            (math.log(size), math.log(spent))
            for size, spent in zip(sizes, self.seconds, strict=False)
            if spent > NOISE_SECONDS / 4
        ]
        if not self.seconds or self.seconds[-1] < NOISE_SECONDS or len(points) < 2:
            return None
        mean_x = sum(x for x, _ in points) / len(points)
        mean_y = sum(y for _, y in points) / len(points)
        spread = sum((x - mean_x) ** 2 for x, _ in points)
        return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def measure(
    run: Callable[[str], object], make: Callable[[int], str], sizes: Sequence[int], allowed: tuple[type[Exception], ...]
) -> Measured:
    """Runs a parser at each size in a forked process, and listens to what it says."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _measure_in_child(run, make, sizes, allowed, writing)
    os.close(writing)
    seconds: list[float] = []
    peak, raised = 0, ""
    with os.fdopen(reading, "rb") as said:
        while True:
            try:
                spent, peak, problem = pickle.load(said)
            except EOFError:
                break
            seconds.append(spent)
            raised = problem or raised
    _, status = os.waitpid(child, 0)
    is_killed = len(seconds) < len(sizes)
    if is_killed and os.WIFSIGNALED(status):
        raised = signal.Signals(os.WTERMSIG(status)).name
    return Measured(tuple(seconds), peak, raised, is_killed)


def _measure_in_child(
    run: Callable[[str], object],
    make: Callable[[int], str],
    sizes: Sequence[int],
    allowed: tuple[type[Exception], ...],
    writing: int,
) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    already = int(used.ru_utime + used.ru_stime) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (already + CPU_LIMIT_SECONDS, already + CPU_LIMIT_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    before = used.ru_maxrss
    with os.fdopen(writing, "wb") as says:
        for size in sizes:
            text = make(size)
            problem = ""
            began = time.process_time()
            try:
                run(text)
            except allowed:
                pass
            except BaseException as error:  # noqa: BLE001 - what it raises is what is measured
                problem = f"{type(error).__name__}: {error}"[:80]
            spent = time.process_time() - began
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            pickle.dump((spent, peak * 1024, problem), says)
            says.flush()
    os._exit(0)
