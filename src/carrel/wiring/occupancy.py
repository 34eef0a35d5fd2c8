"""Holding the home folder while a command runs, so that no restore replaces it underneath."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

from carrel.stores.backup.occupancy import has_unfinished_restore, shared
from carrel.stores.private_home import make_private


def finish_restore(home: Path) -> str | None:
    """Finishes a restore that was killed half-way and says how it ended; None when there was
    none.
    """
    if not has_unfinished_restore(home):
        return None
    # Imported only then: starting must be fast, and this hardly ever happens.
    from carrel.stores.backup.restoring import recover

    return recover(home)


def occupied(home: Path) -> AbstractContextManager[None]:
    """The home folder, shared with other commands, kept from any restore, and closed to other
    accounts.
    """
    if home.is_dir():
        make_private(home)
    return shared(home)


def is_open_to_others(home: Path) -> bool:
    """Whether other accounts of this machine could look into the home."""
    return home.is_dir() and os.name != "nt" and bool(home.stat().st_mode & 0o007)
