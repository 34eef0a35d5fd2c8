"""Progress of a long command: one bar on a terminal, an occasional line elsewhere.

Drawn by hand: rich takes longer to import than many commands take to run, and hides the cursor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from carrel.cli.output import has_colour, terminal_width
from carrel.cli.pace import LEAST_SECONDS, LEAST_SHARE, Pace
from carrel.core.clock import Clock, SystemClock
from carrel.libraries.text.control_characters import escape_controls

_SECONDS_BETWEEN_DRAWINGS = 0.1
_SECONDS_BETWEEN_LINES = 5.0
_WIDEST_BAR = 24
_NARROWEST_BAR = 8
_UNITS = ("B", "kB", "MB", "GB", "TB")
_ERASE = "\r\x1b[K"
_open: list[TerminalProgress] = []


class TerminalProgress:
    """Progress on standard error, so that answers stay clean; one phase at a time.

    A bar is gone when its phase ends. Where no bar can be drawn, only a phase that takes some
    seconds is told.
    """

    def __init__(self, stream: TextIO | None = None, clock: Clock | None = None) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock or SystemClock()
        self._is_drawn = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._phase = ""
        self._unit = ""
        self._total: int | None = None
        self._done = 0
        self._work: float | None = None
        self._pace = Pace(0.0)
        self._started = self._shown = 0.0
        # Readers start before the first piece is done, so that piece says little of the pace.
        self._first_at: float | None = None
        self._first_done = 0
        self._is_open = self._is_told = False
        self._given_facts: Sequence[str] | None = None

    def begin(self, phase: str, total: int | None, unit: str, work: float | None = None) -> None:
        self._given_facts = None
        self._open_phase(phase, total, unit, work)

    def _open_phase(
        self, phase: str, total: int | None, unit: str, work: float | None = None
    ) -> None:
        self.close()
        self._phase, self._unit = escape_controls(phase), escape_controls(unit)
        self._total, self._done = total, 0
        self._work = work if work is not None else total
        self._started = self._shown = self._clock.monotonic()
        self._pace = Pace(self._started)
        self._first_at, self._first_done = None, 0
        self._is_open, self._is_told = True, False
        _open.append(self)
        if self._is_drawn:
            self._draw()

    def advance(self, amount: int = 1, work: float | None = None) -> None:
        self._done += amount
        now = self._clock.monotonic()
        if self._first_at is None:
            self._first_at, self._first_done = now, self._done
        self._pace.add(now, amount if work is None else work)
        pause = _SECONDS_BETWEEN_DRAWINGS if self._is_drawn else _SECONDS_BETWEEN_LINES
        if now - self._shown < pause:
            return
        self._shown = now
        if self._is_drawn:
            self._draw()
        else:
            self._tell()

    def show_share(self, phase: str, share: float, facts: Sequence[str]) -> None:
        """Draw work of which another says how far it is; told nowhere but on a terminal."""
        self._given_facts = [escape_controls(fact) for fact in facts]
        if not self._is_open:
            self._open_phase(phase, None, "", 1.0)
        self._phase, self._pace.done = escape_controls(phase), share
        if self._is_drawn:
            self._draw()

    def end(self) -> None:
        is_told = self._is_told
        if self._is_drawn and self._is_open:
            self._draw()
        self.close()
        if is_told:
            seconds = self._clock.monotonic() - self._started
            self._print(f"{self._phase}: {_amount(self._done, self._unit)} in {_duration(seconds)}")

    def close(self) -> None:
        """Take the bar away, wherever the phase was; nothing else is told."""
        if self._is_open and self._is_drawn:
            self._stream.write(_ERASE)
            self._stream.flush()
        self._is_open = False
        if self in _open:
            _open.remove(self)

    @property
    def share(self) -> float | None:
        """The share of the work that is done; None where nobody knows how much there is."""
        return min(1.0, self._pace.done / self._work) if self._work else None

    def _tell(self) -> None:
        if not self._is_told:
            amount = "" if self._total is None else f" {_amount(self._total, self._unit)}"
            self._print(f"{self._phase}{amount}")
            self._is_told = True
        share = "" if self.share is None else f"{self.share:4.0%}  "
        self._print(f"{self._phase}  {share}{'  '.join(self._facts())}")

    def _print(self, line: str) -> None:
        print(line, file=self._stream, flush=True)

    def _draw(self) -> None:
        # The last column stays free: some terminals begin a new line when it is written.
        width = terminal_width(self._stream) - 1
        self._stream.write(f"{_ERASE}{self._bar_line(width)}")
        self._stream.flush()

    def _bar_line(self, width: int) -> str:
        """The phase, the bar and as many facts as there is room for."""
        percent = "" if self.share is None else f" {self.share:4.0%}"
        facts = self._facts()
        # What is left out first: how much there is, then the rate, and the time left last.
        for dropped in range(len(facts) + 1):
            told = "  ".join(facts[dropped:])
            text = f"{percent} {told}" if told else percent
            room = width - len(self._phase) - 1 - len(text)
            if room >= _NARROWEST_BAR or (self.share is None and room >= 0):
                bar = "" if self.share is None else self._bar(min(room, _WIDEST_BAR))
                return f"{self._phase} {bar}{text}"
        return f"{self._phase}{percent}"[:width]

    def _bar(self, cells: int) -> str:
        full = round((self.share or 0.0) * cells)
        done, left = ("━", "─") if _is_unicode(self._stream) else ("=", "-")
        if not has_colour(self._stream):
            return f"{done * full}{left * (cells - full)}"
        return f"\x1b[36m{done * full}\x1b[0m\x1b[2m{left * (cells - full)}\x1b[0m"

    def _facts(self) -> Sequence[str]:
        """The count, the rate, and the remaining time."""
        if self._given_facts is not None:
            return self._given_facts
        now = self._clock.monotonic()
        done = _amount(self._done, self._unit)
        if self._total:
            done = f"{_number(self._done, self._unit)} of {_amount(self._total, self._unit)}"
        speed = _speed(self._rate(now), self._unit)
        left = self._pace.seconds_left(now, self._work) if self._work else None
        return [done, *([speed] if speed else []), *_time_left(left)]

    def _rate(self, now: float) -> float:
        """Pieces in a second; the first one counts only while there is no other."""
        seconds, pieces = now - self._started, self._done
        if self._first_at is not None and self._done > self._first_done:
            seconds, pieces = now - self._first_at, self._done - self._first_done
        elif self.share is not None and self.share < LEAST_SHARE:
            return 0.0
        return pieces / seconds if seconds >= LEAST_SECONDS else 0.0


def close_progress() -> None:
    """Take away the bar of whatever was under way; for the end of a command, however it ends."""
    while _open:
        _open[-1].close()


def _is_unicode(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"


def _time_left(seconds: float | None) -> Sequence[str]:
    return [] if seconds is None else [f"{_duration(seconds)} left"]


def _speed(rate: float, unit: str) -> str:
    """By the second, slow work by the minute; nothing where that would be nought."""
    if round(rate):
        return f"{_amount(round(rate), unit)}/s"
    if unit == "bytes" or not round(rate * 60):
        return ""
    return f"{rate * 60:.0f} {unit}/min"


def _number(count: int, unit: str) -> str:
    return _amount(count, unit) if unit == "bytes" else f"{count:,}"


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
