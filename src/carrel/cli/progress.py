"""Progress of a long command: a bar on a terminal, an occasional line elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from carrel.core.clock import Clock, SystemClock

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

_SECONDS_BETWEEN_DRAWINGS = 0.1
_SECONDS_BETWEEN_LINES = 5.0
_BAR_CELLS = 24
_UNITS = ("B", "kB", "MB", "GB", "TB")


class TerminalProgress:
    """Progress on standard error, so that answers stay clean; one phase at a time."""

    def __init__(self, stream: TextIO | None = None, clock: Clock | None = None) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock or SystemClock()
        self._bar: tuple[RichProgress, TaskID] | None = None
        self._phase = ""
        self._unit = ""
        self._total: int | None = None
        self._done = 0
        self._started = self._shown = 0.0

    def begin(self, phase: str, total: int | None, unit: str) -> None:
        self._phase, self._total, self._unit, self._done = phase, total, unit, 0
        self._started = self._shown = self._clock.monotonic()
        if self._stream.isatty():
            self._bar = self._start_bar()
        else:
            amount = "" if total is None else f" {_amount(total, unit)}"
            print(f"{phase}{amount}", file=self._stream, flush=True)

    def advance(self, amount: int = 1) -> None:
        self._done += amount
        now = self._clock.monotonic()
        pause = _SECONDS_BETWEEN_LINES if self._bar is None else _SECONDS_BETWEEN_DRAWINGS
        if now - self._shown < pause:
            return
        self._shown = now
        if self._bar is None:
            share = f"{min(1.0, self._done / self._total):4.0%}  " if self._total else ""
            print(f"{self._phase}  {share}{self._facts()}", file=self._stream, flush=True)
        else:
            self._draw(*self._bar)

    def end(self) -> None:
        if self._bar is not None:
            self._draw(*self._bar)
            self._bar[0].stop()
            self._bar = None
            return
        seconds = self._clock.monotonic() - self._started
        print(
            f"{self._phase}: {_amount(self._done, self._unit)} in {_duration(seconds)}",
            file=self._stream,
            flush=True,
        )

    def _start_bar(self) -> tuple[RichProgress, TaskID]:
        # Only here: rich takes longer to import than most commands take to run.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(_BAR_CELLS),
            TaskProgressColumn(),
            TextColumn("{task.fields[facts]}", markup=False),
            console=Console(file=self._stream, force_terminal=True),
            auto_refresh=False,
            get_time=self._clock.monotonic,
        )
        bar.start()
        return bar, bar.add_task(self._phase, total=self._total, facts=self._facts())

    def _draw(self, bar: RichProgress, task: TaskID) -> None:
        bar.update(task, completed=self._done, facts=self._facts(), refresh=True)

    def _facts(self) -> str:
        """The count, the rate, and the remaining time at that rate."""
        seconds = self._clock.monotonic() - self._started
        rate = self._done / seconds if seconds > 0 else 0.0
        done, speed = _amount(self._done, self._unit), f"{_amount(round(rate), self._unit)}/s"
        if not self._total:
            return f"{done}  {speed}"
        has_rest = rate > 0 and self._done < self._total
        left = f"  {_duration((self._total - self._done) / rate)} left" if has_rest else ""
        return f"{done} of {_amount(self._total, self._unit)}  {speed}{left}"


def _amount(count: int, unit: str) -> str:
    if unit != "bytes":
        return f"{count:,} {unit}"
    size = float(count)
    for name in _UNITS:
        if size < 1000 or name == _UNITS[-1]:
            return f"{size:.0f} {name}" if name == "B" else f"{size:.1f} {name}"
        size /= 1000
    raise AssertionError("the last unit takes everything")


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return (
        f"{minutes} min {rest:02d} s"
        if minutes < 60
        else f"{minutes // 60} h {minutes % 60:02d} min"
    )
