"""Brings the file of a library to its journal, a moment after each change and on its own thread."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable

from carrel.core.errors import describe_error

log = logging.getLogger("carrel.references")

# Promised are two seconds; writing 100,000 references takes most of the rest.
DELAY_SECONDS = 0.75
_FIRST_RETRY_SECONDS = 2.0
_LAST_RETRY_SECONDS = 60.0


class FileFollower:
    """Calls `notice` soon after a change, and `materialize` once for all changes of a moment.

    Both may fail: what is in the journal is tried again after a while, and at `close`.
    """

    def __init__(
        self,
        notice: Callable[[], None],
        materialize: Callable[[], None],
        delay_seconds: float = DELAY_SECONDS,
    ) -> None:
        self._notice = notice
        self._materialize = materialize
        self._delay_seconds = delay_seconds
        self._condition = threading.Condition()
        self._is_changed = False
        self._is_working = False
        self._is_closed = False
        self._due_at: float | None = None
        self._retry_seconds = _FIRST_RETRY_SECONDS
        self._thread: threading.Thread | None = None

    @property
    def is_pending(self) -> bool:
        """Whether there is something that the file, or the index beside it, does not have yet."""
        with self._condition:
            return self._is_changed or self._is_working or self._due_at is not None

    def wake(self) -> None:
        """The journal has a change that the file has not."""
        with self._condition:
            if self._is_closed:
                raise RuntimeError("the library is closed")
            self._is_changed = True
            if self._due_at is None:
                self._due_at = time.monotonic() + self._delay_seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="library-file", daemon=True)
                self._thread.start()
                # A process that ends without closing its libraries leaves whole files, too.
                atexit.register(self.close)
            self._condition.notify()

    def close(self) -> None:
        """Bring the file to the journal now, and end the thread."""
        with self._condition:
            self._is_closed = True
            thread, self._thread = self._thread, None
            self._condition.notify()
        if thread is not None:
            thread.join()
            atexit.unregister(self.close)

    def _run(self) -> None:
        while self._wait():
            pass
        if self._due_at is not None:
            self._try_materialize()

    def _wait(self) -> bool:
        """Do what is due next; False once the follower is closed."""
        with self._condition:
            while not self._is_closed and not self._is_changed:
                left = None if self._due_at is None else self._due_at - time.monotonic()
                if left is not None and left <= 0:
                    break
                self._condition.wait(left)
            if self._is_closed:
                return False
            is_changed, self._is_changed = self._is_changed, False
            is_due = self._due_at is not None and self._due_at <= time.monotonic()
            self._is_working = True
        if is_changed:
            self._try(self._notice)
        if is_due:
            self._try_materialize()
        with self._condition:
            self._is_working = False
        return True

    def _try_materialize(self) -> None:
        with self._condition:
            self._due_at = None
        if self._try(self._materialize):
            self._retry_seconds = _FIRST_RETRY_SECONDS
            return
        with self._condition:
            self._due_at = time.monotonic() + self._retry_seconds
        self._retry_seconds = min(2 * self._retry_seconds, _LAST_RETRY_SECONDS)

    def _try(self, work: Callable[[], None]) -> bool:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the journal has it; it is tried again
            log.warning(
                "library file not brought up to date", extra={"cause": describe_error(error)}
            )
            return False
        return True
