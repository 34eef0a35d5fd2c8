"""Shows how far a long piece of work is, on standard error."""

from __future__ import annotations

import sys
from typing import TextIO


class Progress:
    """One phase at a time: begin, advance as work is done, end."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._phase = ""
        self._unit = ""
        self._total: int | None = None
        self._done = 0

    def begin(self, phase: str, total: int | None, unit: str) -> None:
        self._phase, self._total, self._unit, self._done = phase, total, unit, 0
        self._draw()

    def advance(self, amount: int = 1) -> None:
        self._done += amount
        if self._stream.isatty():
            self._draw()

    def end(self) -> None:
        self._draw()
        print(file=self._stream, flush=True)

    def _draw(self) -> None:
        amount = f"{self._done}" if self._total is None else f"{self._done} of {self._total}"
        beginning = "\r\x1b[2K" if self._stream.isatty() else ""
        ending = "" if self._stream.isatty() else "\n"
        print(f"{beginning}{self._phase}  {amount} {self._unit}", end=ending, file=self._stream, flush=True)
