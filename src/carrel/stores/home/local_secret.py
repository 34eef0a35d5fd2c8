"""The secret of a local desk, which keeps other accounts of the machine out of it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

_NAME = "local-secret"


def local_secret(home: Path) -> str:
    """The secret in the home, made at first use; only the account that owns it can read it."""
    found = read_local_secret(home)
    if found is not None:
        return found
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    secret = secrets.token_urlsafe(32)
    draft = home / f".{_NAME}-{secrets.token_hex(8)}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        # Whole or not at all, and the first of two processes wins.
        os.link(draft, home / _NAME)
    except FileExistsError:
        return (home / _NAME).read_text(encoding="ascii").strip()
    finally:
        draft.unlink(missing_ok=True)
    return secret


def read_local_secret(home: Path) -> str | None:
    """The secret, or None where this desk has none."""
    try:
        return (home / _NAME).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
