"""The operating system's name for whoever runs this process."""

from __future__ import annotations

import getpass
import os


def operator_name() -> str:
    """The account's name, or its number where it has none (a container run under any uid), or
    `unknown` (Windows without one).
    """
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):
        number = getattr(os, "getuid", None)
        return f"uid-{number()}" if number is not None else "unknown"
