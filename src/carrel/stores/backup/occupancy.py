"""Who works with a home folder: everybody who does shares it, and a restore has it alone. The system lets go when one dies."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.stores.backup.errors import HomeInUseError, RestoreUnderWayError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger("carrel.home")

LOCK_NAME = ".carrel.lock"
WORKSHOP_NAME = ".carrel-restore"


def has_unfinished_restore(home: Path) -> bool:
    """Whether a restore is under way, or was killed; asked at every start, so it is one look at one name."""
    return (home / WORKSHOP_NAME).is_dir()


@contextmanager
def shared(home: Path) -> Iterator[None]:
    """Holds the folder together with others; RestoreUnderWayError while a restore has it.

    Where no lock can be made (the folder is not there, or is read-only, or its disk knows none), nothing is held; a restore
    cannot have it alone there either.
    """
    try:
        descriptor = os.open(home / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RestoreUnderWayError(home) from None
            except OSError as error:
                log.warning("home folder not held", extra={"reason": error.strerror})
        yield
    finally:
        os.close(descriptor)


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Holds the folder, which is made if need be, with nobody else in it; HomeInUseError otherwise."""
    home.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(home / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HomeInUseError(home) from None
        yield
    finally:
        os.close(descriptor)
