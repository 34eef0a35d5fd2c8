"""One writer at a time among our own processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class LockedTooLongError(TimeoutError):
    """Another of our processes has held the library for too long."""


@contextmanager
def locked(file: Path, timeout_seconds: float = 30.0) -> Iterator[None]:
    """Holds the lock of `file` while the block runs. It is let go by the system when a process dies."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _acquire(descriptor, time.monotonic() + timeout_seconds, file)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, deadline: float, file: Path) -> None:
    while True:
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                import msvcrt

                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            if time.monotonic() > deadline:
                raise LockedTooLongError(f"{file.name} is held by another process") from None
            time.sleep(0.005)
        else:
            return
