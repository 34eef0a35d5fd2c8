"""Shows how far a long piece of work is: a bar with rate and time left on a terminal, a line now
and then elsewhere.
"""

from __future__ import annotations

import sys
from typing import TextIO

from carrel.core.clock import Clock, SystemClock

_BAR_CELLS = 24
_SECONDS_BETWEEN_DRAWINGS = 0.1
_SECONDS_BETWEEN_LINES = 5.0
_UNITS = ("B", "kB", "MB", "GB", "TB")


class Progress:
    """One phase at a time: begin, advance as work is done, end. Writes to standard error, so that
    answers stay clean.
    """

    def __init__(self, stream: TextIO | None = None, clock: Clock | None = None) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock or SystemClock()
        self._is_terminal = self._stream.isatty()
        self._phase = ""
        self._unit = ""
        self._total: int | None = None
        self._done = 0
        self._started = self._shown = 0.0

    def begin(self, phase: str, total: int | None, unit: str) -> None:
        self._phase, self._total, self._unit, self._done = phase, total, unit, 0
        self._started = self._clock.monotonic()
        self._shown = self._started
        if self._is_terminal:
            self._draw()
        else:
            amount = "" if total is None else f" {_amount(total, unit)}"
            print(f"{phase}{amount}", file=self._stream, flush=True)

    def advance(self, amount: int = 1) -> None:
        self._done += amount
        now = self._clock.monotonic()
        pause = _SECONDS_BETWEEN_DRAWINGS if self._is_terminal else _SECONDS_BETWEEN_LINES
        if now - self._shown >= pause:
            self._shown = now
            self._draw()

    def end(self) -> None:
        if self._is_terminal:
            self._draw()
            print(file=self._stream, flush=True)
        else:
            seconds = self._clock.monotonic() - self._started
            print(
                f"{self._phase}: {_amount(self._done, self._unit)} in {_duration(seconds)}",
                file=self._stream,
                flush=True,
            )

    def _draw(self) -> None:
        line = self._line()
        if self._is_terminal:
            print(f"\r\x1b[2K{line}", end="", file=self._stream, flush=True)
        else:
            print(line, file=self._stream, flush=True)

    def _line(self) -> str:
        seconds = self._clock.monotonic() - self._started
        rate = self._done / seconds if seconds > 0 else 0.0
        speed = f"{_amount(round(rate), self._unit)}/s"
        if not self._total:
            return f"{self._phase}  {_amount(self._done, self._unit)}  {speed}"
        share = min(1.0, self._done / self._total)
        filled = round(share * _BAR_CELLS)
        bar = f"[{'#' * filled}{'.' * (_BAR_CELLS - filled)}] " if self._is_terminal else ""
        left = (
            f"  {_duration((self._total - self._done) / rate)} left"
            if rate > 0 and self._done < self._total
            else ""
        )
        amounts = f"{_amount(self._done, self._unit)} of {_amount(self._total, self._unit)}"
        return f"{self._phase}  {bar}{share:4.0%}  {amounts}  {speed}{left}"


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
