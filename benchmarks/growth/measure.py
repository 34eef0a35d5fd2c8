"""CPU time and memory of a parser on pathological texts, in forked processes that cannot take more
than their share.
"""

from __future__ import annotations

import math
import os
import pickle
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.growth.families import Family
from carrel.libraries.text.budget import InputTooCostlyError

# The limits of one measurement. A parser that needs more CPU than this for one size is over every
# budget.
CPU_LIMIT_SECONDS = 4.0
MEMORY_LIMIT_BYTES = 2 * 1024**3
# Below this the timer, the allocator and the caches say more than the parser does.
NOISE_SECONDS = 0.02

# The screen: two sizes, small enough that a linear parser takes some milliseconds for both, and
# three bounds. They are low: what
# they let through by mistake costs a full measurement, what they hold back is measured only when it
# is drawn into the sample.
SCREEN_SIZES = (4_000, 16_000)
SCREEN_CPU_LIMIT_SECONDS = 1.0
SCREEN_EXPONENT = 1.2
SCREEN_SECONDS_PER_CHARACTER = 5e-6
SCREEN_SURPLUS = 0.15
# Under this at the larger size even a quadratic parser needs less than its budget at the largest
# size of a full measurement.
SCREEN_NOISE_SECONDS = 0.0005

Run = Callable[[str], object]
Allowed = tuple[type[Exception], ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One call: seconds of CPU, growth of memory since the start, and what was raised that should
    not be.
    """

    seconds: float
    peak_bytes: int
    raised: str


@dataclass(frozen=True, slots=True)
class Measured:
    """Samples at each size; fewer than sizes where the process was killed."""

    sizes: tuple[int, ...]
    samples: tuple[Sample, ...]
    killed_by: str

    @property
    def seconds(self) -> tuple[float, ...]:
        return tuple(sample.seconds for sample in self.samples)

    @property
    def peak_bytes(self) -> int:
        return max((sample.peak_bytes for sample in self.samples), default=0)

    @property
    def problem(self) -> str:
        return self.killed_by or next(
            (sample.raised for sample in self.samples if sample.raised), ""
        )

    @property
    def exponent(self) -> float | None:
        """The slope of log CPU over log size; None where there is too little time to tell."""
        if self.killed_by:
            return math.inf
        if self.samples[-1].seconds < NOISE_SECONDS:
            return None
        points = [
            (math.log(size), math.log(spent))
            for size, spent in zip(self.sizes, self.seconds, strict=True)
            if spent > NOISE_SECONDS / 4
        ]
        return _slope(points) if len(points) > 1 else None

    @property
    def is_suspicious(self) -> bool:
        """Whether the two sizes of the screen give a reason to measure at full size."""
        if self.problem:
            return True
        small, large = self.seconds[0], self.seconds[-1]
        if large < SCREEN_NOISE_SECONDS:
            return False
        points = [
            (math.log(size), math.log(max(spent, 1e-6)))
            for size, spent in zip(self.sizes, self.seconds, strict=True)
        ]
        # A constant part of a call hides a slow growth from the exponent, and not from the time
        # beyond linear.
        linear = small * self.sizes[-1] / self.sizes[0]
        return (
            _slope(points) > SCREEN_EXPONENT
            or large / self.sizes[-1] > SCREEN_SECONDS_PER_CHARACTER
            or large - linear > max(SCREEN_NOISE_SECONDS, linear * SCREEN_SURPLUS)
        )


def _slope(points: Sequence[tuple[float, float]]) -> float:
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def measure(run: Run, family: Family, sizes: Sequence[int], allowed: Allowed) -> Measured:
    """One family at each size, in a process of its own."""
    return _measured(run, [family], tuple(sizes), allowed, CPU_LIMIT_SECONDS)[0]


def screen(run: Run, families: Sequence[Family], allowed: Allowed) -> list[Measured]:
    """Every family at the two small sizes, many in one process; a new one is forked where one was
    killed.
    """
    found: list[Measured] = []
    while len(found) < len(families):
        found += _measured(
            run, families[len(found) :], SCREEN_SIZES, allowed, SCREEN_CPU_LIMIT_SECONDS
        )
    return found


def _measured(
    run: Run,
    families: Sequence[Family],
    sizes: tuple[int, ...],
    allowed: Allowed,
    limit_seconds: float,
) -> list[Measured]:
    """Forks one process for the families. Ends early, with the family that killed the process,
    where one did.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _measure_in_child(run, families, sizes, allowed, limit_seconds, writing)
    os.close(writing)
    found: list[Measured] = []
    samples: list[Sample] = []
    with os.fdopen(reading, "rb") as said:
        while len(found) < len(families):
            try:
                samples.append(pickle.load(said))
            except EOFError:
                break
            if len(samples) == len(sizes):
                found.append(Measured(sizes, tuple(samples), ""))
                samples = []
    _, status = os.waitpid(child, 0)
    if len(found) < len(families):
        killed_by = (
            signal.Signals(os.WTERMSIG(status)).name
            if os.WIFSIGNALED(status)
            else f"exit {os.WEXITSTATUS(status)}"
        )
        found.append(
            Measured(sizes, tuple(samples), "too much CPU" if killed_by == "SIGPROF" else killed_by)
        )
    return found


def _measure_in_child(
    run: Run,
    families: Sequence[Family],
    sizes: tuple[int, ...],
    allowed: Allowed,
    limit_seconds: float,
    writing: int,
) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with os.fdopen(writing, "wb") as says:
        for family in families:
            for size in sizes:
                # The signal is not handled, so it ends the process even inside a regular
                # expression.
                signal.setitimer(signal.ITIMER_PROF, limit_seconds)
                seconds, raised = _time_one(run, family(size), allowed)
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
                pickle.dump(Sample(seconds, peak * 1024, raised), says)
                says.flush()
    os._exit(0)


def _time_one(run: Run, text: str, allowed: Allowed) -> tuple[float, str]:
    raised = ""
    # Of the thread: while a timer of the process is set, Linux counts the time of the process in
    # ticks of some milliseconds.
    began = time.thread_time()
    try:
        run(text)
    except InputTooCostlyError as error:
        # A refusal for depth or output comes early and is right; one for time hides the growth that
        # is looked for.
        raised = "over its time" if error.exceeded == "cpu" else ""
    except allowed:
        pass
    except BaseException as error:  # noqa: BLE001 - what it raises is what is measured
        raised = f"{type(error).__name__}: {error}"[:80]
    return time.thread_time() - began, raised
