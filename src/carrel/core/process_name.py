"""A name for this process that no other has, for names of temporary files and of requests."""

from __future__ import annotations

import os
import secrets

_TOKEN = secrets.token_hex(6)


def process_name() -> str:
    """The process number, which containers share, and chance, which forks share."""
    return f"{os.getpid()}-{_TOKEN}"
