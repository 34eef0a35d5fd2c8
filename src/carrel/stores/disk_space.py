"""Checks whether a folder is writable and has space, without leaving files."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from pathlib import Path

from carrel.core.health import Check, Health

DISK_FULL = "disk_full"
NOT_WRITABLE = "not_writable"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_UNNAMED_FILES = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})
_PROBE = bytes(4096)


def write_problem(folder: Path, min_free_bytes: int) -> str | None:
    """Why nothing can be written into a folder (its nearest parent where missing), or None."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        if shutil.disk_usage(place).free < min_free_bytes:
            return DISK_FULL
        if place == folder:
            _write_unnamed(place)
    except OSError as error:
        return DISK_FULL if error.errno in _FULL else NOT_WRITABLE
    return None if os.access(place, os.W_OK) else NOT_WRITABLE


def check_disk_first(check: Check, folder: Path, min_free_bytes: int) -> Check:
    """The same check, failing where nothing can be written into the folder."""

    async def check_both() -> Health:
        problem = await asyncio.to_thread(write_problem, folder, min_free_bytes)
        if problem is None:
            return await check()
        next_step = "Make room on the disk, or correct the folder's rights."
        return Health(False, f"{folder}: {problem}", next_step, problem)

    return check_both


def _write_unnamed(folder: Path) -> None:
    """Writes a block into an unnamed file: quotas and full inode tables show only then."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        return
    try:
        descriptor = os.open(folder, flag | os.O_WRONLY, 0o600)
    except OSError as error:
        if error.errno in _NO_UNNAMED_FILES:
            return
        raise
    try:
        if os.write(descriptor, _PROBE) < len(_PROBE):
            raise OSError(errno.ENOSPC, "only a part could be written")
    finally:
        os.close(descriptor)
