"""What a server does between SIGTERM and the end of listening: it says so, and goes on serving."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from carrel.doors.http.listeners import hold_new_connections, stop_listening

log = logging.getLogger("carrel.http")

# How long connections that were made already are still accepted.
_ACCEPTING_SECONDS = 0.2

_Handler = Callable[[int, FrameType | None], object]


class StopNotice:
    """Whether this server is about to stop.

    From SIGTERM on `is_given` is true: /ready answers 503 and every answer ends its connection,
    while new connections are still taken. After `delay_seconds` those that wait are accepted, and
    the signal goes on to whoever handled it before, who finishes the work. A second signal goes
    on at once, and so does Ctrl-C.
    """

    def __init__(self, delay_seconds: float = 0.0) -> None:
        self.is_given = False
        self._delay_seconds = delay_seconds

    @contextmanager
    def watch_signals(self) -> Iterator[None]:
        """Takes SIGTERM while inside; only the main thread of a process has signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGTERM)
        if not callable(before):
            # Nobody here stops gracefully, so that there is nothing to announce.
            yield
            return
        loop = asyncio.get_running_loop()

        def announce(number: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._give, loop, before, number)

        signal.signal(signal.SIGTERM, announce)
        try:
            yield
        finally:
            if signal.getsignal(signal.SIGTERM) is announce:
                signal.signal(signal.SIGTERM, before)

    def _give(self, loop: asyncio.AbstractEventLoop, go_on: _Handler, number: int) -> None:
        if self.is_given or not self._delay_seconds:
            self.is_given = True
            go_on(number, None)
            return
        self.is_given = True
        log.info("stopping soon", extra={"delay_seconds": self._delay_seconds})
        loop.call_later(self._delay_seconds, _close_gently, loop, go_on, number)


def _close_gently(loop: asyncio.AbstractEventLoop, go_on: _Handler, number: int) -> None:
    """Accept who waits, then let nobody wait any more, then go on."""

    def stop() -> None:
        stop_listening()
        go_on(number, None)

    if hold_new_connections():
        loop.call_later(_ACCEPTING_SECONDS, stop)
    else:
        go_on(number, None)
