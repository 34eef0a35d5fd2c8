"""Who works with a home folder: everybody who does shares it, and a restore has it alone. The
system lets go when one dies.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from carrel.stores.backup.errors import HomeInUseError, RestoreUnderWayError
from carrel.stores.file_lock import LockHeldError, hold_lock

log = logging.getLogger("carrel.home")

LOCK_NAME = ".carrel.lock"
WORKSHOP_NAME = ".carrel-restore"


def has_unfinished_restore(home: Path) -> bool:
    """Whether a restore is under way, or was killed; asked at every start, so it is one look at one
    name.
    """
    return (home / WORKSHOP_NAME).is_dir()


@contextmanager
def shared(home: Path) -> Iterator[None]:
    """Holds the folder together with others; RestoreUnderWayError while a restore has it.

    Where no lock can be made (the folder is not there, or is read-only, or its disk knows none),
    nothing is held; a restore
    cannot have it alone there either.
    """
    with ExitStack() as held:
        try:
            held.enter_context(hold_lock(home / LOCK_NAME, shared=True))
        except LockHeldError:
            raise RestoreUnderWayError(home) from None
        except OSError as error:
            log.info("home folder not held", extra={"reason": error.strerror})
        yield


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Holds the folder, which is made if need be, with nobody else in it; HomeInUseError
    otherwise.
    """
    home.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(hold_lock(home / LOCK_NAME))
        except LockHeldError:
            raise HomeInUseError(home) from None
        yield
