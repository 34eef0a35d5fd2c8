"""Who else can read a client's file that now holds a token."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path

from carrel.cli.output import show
from carrel.services.mcp_clients.ways import Http, Way

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def warn_of_readers(file: Path, scope: str | None, way: Way) -> None:
    """Say on standard error where a token was written into a file that others may read."""
    if not isinstance(way, Http) or not way.headers:
        return
    if scope == "project":
        show(
            f"carrel: {file} holds a token now and belongs to the project; keep it out of version "
            f"control, or write it without --scope project.",
            file=sys.stderr,
        )
    elif os.name == "posix" and file.stat().st_mode & _OTHERS:
        show(
            f"carrel: {file} holds a token now, and other accounts of this machine can read it. "
            f"Close it with chmod 600 {shlex.quote(str(file))}.",
            file=sys.stderr,
        )
