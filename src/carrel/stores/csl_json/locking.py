"""One writer at a time among our own processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.stores.file_lock import LockHeldError, hold_lock

LockedTooLongError = LockHeldError


@contextmanager
def locked(file: Path, timeout_seconds: float = 30.0) -> Iterator[None]:
    """Holds the lock of `file` while the block runs. It is let go by the system when a process dies."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(file, wait_seconds=timeout_seconds):
        yield
