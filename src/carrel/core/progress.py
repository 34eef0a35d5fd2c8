"""Progress of a long piece of work, reported phase by phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Receives the progress of work; a phase of unknown length has no total.

    Where things of one size take unlike long, `work` says how long in comparison: of all when the
    phase begins, and of what was done when it advances. Without it the amounts are the work.
    """

    def begin(
        self, phase: str, total: int | None, unit: str, work: float | None = None
    ) -> None: ...

    def advance(self, amount: int = 1, work: float | None = None) -> None: ...

    def end(self) -> None: ...


class NoProgress:
    """Discards all progress."""

    def begin(self, phase: str, total: int | None, unit: str, work: float | None = None) -> None:
        return None

    def advance(self, amount: int = 1, work: float | None = None) -> None:
        return None

    def end(self) -> None:
        return None


ReportCount = Callable[[int, int], None]
"""Called now and then with how many are done, and of how many."""


def run_with_progress(
    progress: Progress | None, phase: str, unit: str, work: Callable[[ReportCount | None], object]
) -> None:
    """Run work that reports counts, shown as one phase; without `progress` none is reported."""
    if progress is None:
        work(None)
        return
    so_far = 0

    def report(done: int, total: int) -> None:
        nonlocal so_far
        if so_far == 0:
            progress.begin(phase, total, unit)
        progress.advance(done - so_far)
        so_far = done

    work(report)
    if so_far:
        progress.end()
