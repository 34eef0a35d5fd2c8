"""Locks of a corpus: one build at a time, and one addition after another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from carrel.rooms.papers.errors import BuildInProgressError
from carrel.stores.file_lock import LockHeldError, hold_lock

# Less than add_paper may take, so that who waits is told why.
_ADDITION_WAIT_SECONDS = 240.0


class BuildLockFile:
    """One build at a time in a folder; earlier versions lock the same file in the same way."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def held(self, wait_seconds: float = 0.0) -> Iterator[None]:
        """Holds the lock; raises BuildInProgressError where another build keeps it too long."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            try:
                held.enter_context(
                    hold_lock(self._path, is_database=True, wait_seconds=wait_seconds)
                )
            except LockHeldError as error:
                raise BuildInProgressError from error
            yield


@contextmanager
def wait_for_other_additions(workshop: Path) -> Iterator[None]:
    """Holds the lock of additions: servers that share a home add one paper after another.

    Raises BuildInProgressError where the turn does not come in time.
    """
    workshop.mkdir(parents=True, exist_ok=True)
    try:
        with hold_lock(workshop / "lock.db.adding", wait_seconds=_ADDITION_WAIT_SECONDS):
            yield
    except LockHeldError as error:
        raise BuildInProgressError from error
