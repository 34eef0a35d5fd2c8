"""Removing the folder of a library for good, beside processes that may write it at this moment."""

from __future__ import annotations

import os
import shutil
from contextlib import nullcontext
from pathlib import Path

from carrel.stores.csl_json.working_folder import locate_library
from carrel.stores.file_lock import hold_lock

# Beside the libraries and a level deeper, so that whoever lists them sees none of it.
_REMOVED = ".removed"
_LOCK_WAIT_SECONDS = 30.0


def is_left(folder: Path) -> bool:
    """Whether anything of a library's folder is there, as after a removal that was killed."""
    return folder.is_dir() or _aside(folder).is_dir()


def remove_library_folder(folder: Path, file_name: str) -> None:
    """Removes a folder with the library of that name; none is no error. Raises OSError.

    It goes out of the way in one step, while nobody writes: a process that has the library open
    puts back what it finds missing, and must not find a half of it.
    """
    aside = _aside(folder)
    if aside.is_dir():
        shutil.rmtree(aside)
    if not folder.is_dir():
        return
    aside.parent.mkdir(exist_ok=True)
    lock = locate_library(folder / file_name).lock_file
    # Elsewhere no folder can be renamed in which a file is open.
    is_locked = os.name == "posix" and lock.exists()
    with hold_lock(lock, wait_seconds=_LOCK_WAIT_SECONDS) if is_locked else nullcontext():
        folder.rename(aside)
    shutil.rmtree(aside)


def _aside(folder: Path) -> Path:
    return folder.parent / _REMOVED / folder.name
