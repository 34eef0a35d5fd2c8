"""Holding the home folder while a command runs, so that no restore replaces it underneath."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from carrel.stores.backup.occupancy import has_unfinished_restore, shared


def finish_restore(home: Path) -> str | None:
    """Finishes a restore that was killed half-way and says how it ended; None when there was none."""
    if not has_unfinished_restore(home):
        return None
    # Imported only then: starting must be fast, and this hardly ever happens.
    from carrel.stores.backup.restoring import recover

    return recover(home)


def occupied(home: Path) -> AbstractContextManager[None]:
    """The home folder, shared with other commands and kept from any restore."""
    return shared(home)
