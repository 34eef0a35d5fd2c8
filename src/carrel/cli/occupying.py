"""A command holds the home folder while it runs, so that no restore replaces it underneath."""

from __future__ import annotations

import sys
from contextlib import ExitStack

from carrel.settings import Settings
from carrel.wiring.occupancy import finish_restore, occupied

_held = ExitStack()


def occupy(settings: Settings) -> None:
    """Holds the home folder until `leave`. A restore that was killed is finished first, and that is recorded."""
    done = finish_restore(settings.home)
    if done is not None:
        from carrel.cli.unrecorded import go_on_unrecorded
        from carrel.wiring.command_audit import record_command

        with record_command(settings, "restore:recovered", "backup:", {"outcome": done}, on_unavailable=go_on_unrecorded):
            print(f"carrel: {done}", file=sys.stderr)
    _held.enter_context(occupied(settings.home))


def leave() -> None:
    """Lets go of whatever this command has held."""
    _held.close()
