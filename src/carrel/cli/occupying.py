"""A command holds the home folder while it runs, so that no restore replaces it underneath."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from carrel.stores.backup.occupancy import has_unfinished_restore, shared

_held = ExitStack()


def occupy(home: Path) -> None:
    """Holds the folder until `leave`. A restore that was killed is finished first."""
    if has_unfinished_restore(home):
        # Imported only then: starting must be fast, and this hardly ever happens.
        from carrel.stores.backup.restoring import recover

        done = recover(home)
        if done is not None:
            print(f"carrel: {done}", file=sys.stderr)
    _held.enter_context(shared(home))


def leave() -> None:
    """Lets go of whatever this command has held."""
    _held.close()
