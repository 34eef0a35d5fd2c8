"""What can be wrong with an index on disk; whoever owns it makes it again."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.stores.disk_space import DISK_FULL, write_problem

# tantivy stops when a block cannot be written; what it gives back then is less than this.
_LEAST_FREE_BYTES = 1024 * 1024


class UnusablePartError(Exception):
    """A part of an index is missing, damaged, unfinished or of another format: rebuild it."""


@contextmanager
def translate_writer_errors(folder: Path) -> Iterator[None]:
    """Converts what tantivy raises while it writes: OSError where the disk is full, else ours."""
    try:
        yield
    except (ValueError, UnusablePartError) as error:
        if write_problem(folder, _LEAST_FREE_BYTES) == DISK_FULL:
            raise OSError(errno.ENOSPC, "No space left for the index") from error
        raise UnusablePartError(f"cannot write the index in {folder.name}") from error


@contextmanager
def translate_panics() -> Iterator[None]:
    """Converts a panic of tantivy, which damaged files can cause, to UnusablePartError."""
    try:
        yield
    except BaseException as error:
        # The class is made at run time and cannot be imported; it is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise UnusablePartError("the files of the index are damaged") from error
