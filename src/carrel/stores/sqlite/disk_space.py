"""Whether a write failed because the disk is full."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

# Less than one page of a database and of its write-ahead index.
_LEAST_BYTES = 64 * 1024
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_disk_full(error: BaseException, file: Path) -> bool:
    """True for ENOSPC and SQLITE_FULL, and for an input/output error of SQLite while there is no
    space left beside the file.
    """
    if isinstance(error, OSError):
        return error.errno in _FULL
    if not isinstance(error, sqlite3.Error):
        return False
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return True
    return (
        code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
        and _free_bytes(file.parent) < _LEAST_BYTES
    )


def _free_bytes(folder: Path) -> int:
    try:
        found = os.statvfs(folder)
    except (OSError, AttributeError):
        return _LEAST_BYTES
    return found.f_bavail * found.f_frsize
