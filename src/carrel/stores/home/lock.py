"""The lock of a home folder: every process that works in it shares it, a restore has it alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from carrel.stores.backup.errors import HomeInUseError, RestoreUnderWayError
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.home.privacy import make_private

log = logging.getLogger("carrel.home")

LOCK_NAME = ".carrel.lock"
# The folder in which a restore prepares its files, and in which it leaves its journal.
RESTORE_FOLDER_NAME = ".carrel-restore"


def has_unfinished_restore(home: Path) -> bool:
    """Whether a restore is under way or was killed; one look at one name, for every start."""
    return (home / RESTORE_FOLDER_NAME).is_dir()


def finish_restore(home: Path) -> str | None:
    """Finishes a restore that was killed half-way; how it ended, or None where there was none."""
    if not has_unfinished_restore(home):
        return None
    # Not at the top: starting must be fast, and this hardly ever happens.
    from carrel.stores.backup.restore_journal import recover

    return recover(home)


@contextmanager
def share_home(home: Path) -> Iterator[None]:
    """Hold the home folder with others; raises RestoreUnderWayError during a restore.

    Nothing is held where no lock can be made (no folder, read-only, no locks on that disk).
    """
    with ExitStack() as held:
        try:
            held.enter_context(hold_lock(home / LOCK_NAME, shared=True))
        except LockHeldError:
            raise RestoreUnderWayError(home) from None
        except OSError as error:
            log.info("home folder not held", extra={"reason": error.strerror})
        yield


def hold_home(home: Path) -> AbstractContextManager[None]:
    """The home, closed to other accounts, shared with other commands and kept from any restore."""
    if home.is_dir():
        make_private(home)
    return share_home(home)


@contextmanager
def serve_home(home: Path, *, stays: bool) -> Iterator[None]:
    """Keeps the home from any restore; whoever stays makes it first, to be seen there."""
    if stays:
        make_private(home)
    outcome = finish_restore(home)
    if outcome is not None:
        logging.getLogger("carrel.desk").warning("restore", extra={"outcome": outcome})
    with share_home(home):
        yield


@contextmanager
def hold_home_alone(home: Path) -> Iterator[None]:
    """Holds the home, made if need be, with nobody else in it; raises HomeInUseError."""
    home.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(hold_lock(home / LOCK_NAME))
        except LockHeldError:
            raise HomeInUseError(home) from None
        yield
