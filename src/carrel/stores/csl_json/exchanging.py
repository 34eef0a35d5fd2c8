"""Replacing a file so that what was there before can still be looked at: the two names change places in one step."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def _renameat2() -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        found = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return None
    found.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return found


_RENAME = _renameat2()


def exchange(draft: Path, target: Path) -> Path | None:
    """Puts `draft` in place of `target`. Returns where the replaced file is now, or None where there was none.

    Where the system cannot swap names, the old file is kept by a second name first; an edit in the instant between is then in
    that second name's file only if it was written in place.
    """
    if _RENAME is not None and target.exists():
        if _RENAME(_AT_FDCWD, os.fsencode(draft), _AT_FDCWD, os.fsencode(target), _RENAME_EXCHANGE) == 0:
            sync_folder(target.parent)
            return draft
        if ctypes.get_errno() not in {2, 22, 38, 95}:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(target))
    kept = draft.with_suffix(".replaced")
    kept.unlink(missing_ok=True)
    try:
        os.link(target, kept)
    except FileNotFoundError:
        kept = None  # type: ignore[assignment]
    draft.replace(target)
    sync_folder(target.parent)
    return kept


def sync_folder(folder: Path) -> None:
    """Makes a change of names last."""
    if os.name == "nt":
        # A folder cannot be opened there, and NTFS journals its names by itself.
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
