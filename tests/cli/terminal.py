"""A real terminal of a chosen width for tests: what a program writes there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence

from tests.processes import warm


def read_terminal(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    width: int = 80,
    exit_code: int = 0,
) -> str:
    """Everything that a program writes when standard output and error are a terminal."""
    # Only here: Windows has neither.
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, width))
    with warm.start(
        command, env=dict(environment), stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        said = b""
        # The other end is closed: Linux says so with an error.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                said += piece
        process.wait()
    os.close(ours)
    assert process.returncode == exit_code, said.decode()
    return said.decode()
