"""A command holds the home folder while it runs, so that no restore replaces it underneath."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from carrel.settings import Settings
from carrel.wiring.home import finish_restore, hold_home

_held = ExitStack()
_OWN_FILES_ONLY = 0o077
_usual_mask = os.umask(_OWN_FILES_ONLY)
os.umask(_usual_mask)


@contextmanager
def for_others() -> Iterator[None]:
    """While inside, new files get the modes that the person's own mask gives, as exports should."""
    before = os.umask(_usual_mask)
    try:
        yield
    finally:
        os.umask(before)


def occupy(settings: Settings) -> None:
    """Holds the home folder until `leave`. A restore that was killed is finished first, and that is
    recorded.
    """
    # What a desk keeps is its owner's; commands that write for others set another mask around that.
    os.umask(_OWN_FILES_ONLY)
    done = finish_restore(settings.home)
    if done is not None:
        from carrel.cli.unrecorded import go_on_unrecorded
        from carrel.wiring.audit import record_command

        with record_command(
            settings,
            "restore:recovered",
            "backup:",
            {"outcome": done},
            on_unavailable=go_on_unrecorded,
        ):
            print(f"carrel: {done}", file=sys.stderr)
    _held.enter_context(hold_home(settings.home))


def leave() -> None:
    """Lets go of whatever this command has held."""
    _held.close()
    os.umask(_usual_mask)
