"""Errors of library files in the words of the references room."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from carrel.core.errors import DISK_FULL
from carrel.rooms.references.errors import (
    LibraryClosedError,
    LibraryDiskFullError,
    LibraryHalfChangedError,
    LibraryUnreadableError,
)
from carrel.stores.csl_json.document import UnreadableLibraryError
from carrel.stores.csl_json.library_file import LibraryFile


@contextmanager
def translate_read_errors(file: LibraryFile) -> Iterator[None]:
    """Converts errors of reading to LibraryUnreadableError, or what else is unavailable."""
    try:
        yield
    except UnreadableLibraryError as error:
        newest = file.newest_good_version()
        if newest is None:
            raise LibraryUnreadableError(str(error)) from error
        number, path = newest
        folder = f"{path.parent.parent.name}/{path.parent.name}"
        raise LibraryUnreadableError(str(error), number, folder) from error
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in DISK_FULL:
            raise LibraryDiskFullError(reason) from error
        if error.errno in {errno.EACCES, errno.EROFS}:
            raise LibraryClosedError(reason) from error
        raise LibraryUnreadableError(reason) from error


@contextmanager
def translate_file_errors(file: LibraryFile) -> Iterator[None]:
    """The same for changes, with LibraryHalfChangedError where the file had begun to change."""
    with translate_read_errors(file):
        try:
            yield
        except OSError as error:
            if file.is_touched:
                raise LibraryHalfChangedError(error.strerror or str(error)) from error
            raise
