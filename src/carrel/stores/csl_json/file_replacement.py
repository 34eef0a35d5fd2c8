"""Replacing a file so that what was replaced can still be read, or writing it in place."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
# The file system, or the system, has no exchange of names; or the target went away meanwhile.
_NO_EXCHANGE = {errno.ENOENT, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}
# The name itself cannot be given to another file: it is a mount point, on another file system, or
# in a folder that is not ours.
_NOT_REPLACEABLE = {errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES, errno.EROFS}


class NotReplaceableError(OSError):
    """The name cannot be given to another file; nothing was changed."""


def _load_renameat2() -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        found = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return None
    found.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return found


_RENAMEAT2 = _load_renameat2()


def swap_names(one: Path, other: Path) -> int:
    """Atomically exchange two file names; returns 0 or the errno."""
    if _RENAMEAT2 is None:
        return errno.ENOSYS
    if (
        _RENAMEAT2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
        == 0
    ):
        return 0
    return ctypes.get_errno()


def exchange(draft: Path, target: Path) -> Path | None:
    """Replace `target` by `draft`; returns where the replaced file is now, None if there was none.

    Without an atomic exchange the old file is linked or copied first; an edit made in between
    is then kept only if it was written in place.
    """
    if target.exists():
        failure = swap_names(draft, target)
        if failure == 0:
            sync_folder(target.parent)
            return draft
        if failure in _NOT_REPLACEABLE:
            raise NotReplaceableError(failure, os.strerror(failure), str(target))
        if failure not in _NO_EXCHANGE:
            raise OSError(failure, os.strerror(failure), str(target))
    kept = _keep_second_name(target, draft.with_suffix(".replaced"))
    try:
        draft.replace(target)
    except OSError as error:
        if kept is not None:
            kept.unlink(missing_ok=True)
        if error.errno in _NOT_REPLACEABLE:
            raise NotReplaceableError(error.errno, error.strerror, str(target)) from error
        raise
    sync_folder(target.parent)
    return kept


def copy_attributes(source: Path, copy: Path) -> None:
    """Copies owner, mode and extended attributes. NotReplaceableError where that is forbidden."""
    wanted, found = source.stat(), copy.stat()
    try:
        if os.name == "posix" and (wanted.st_uid, wanted.st_gid) != (found.st_uid, found.st_gid):
            os.chown(copy, wanted.st_uid, wanted.st_gid)
        if wanted.st_mode != found.st_mode:
            copy.chmod(wanted.st_mode & 0o7777)
        for name in os.listxattr(source) if sys.platform.startswith("linux") else ():
            # Labels of the security modules are given by the system.
            if not name.startswith("security."):
                os.setxattr(copy, name, os.getxattr(source, name))
    except OSError as error:
        if error.errno in _NOT_REPLACEABLE:
            raise NotReplaceableError(error.errno, error.strerror, str(source)) from error
        if error.errno != errno.EOPNOTSUPP:
            raise


def write_durably(path: Path, data: bytes) -> None:
    """Writes a file and waits until its content is on the disk; its name may still be lost."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush a folder to disk, so that renames in it are durable."""
    if os.name == "nt":
        # A folder cannot be opened there, and NTFS journals its names by itself.
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot sync a folder; they order changes of names themselves.
        if error.errno not in {errno.EINVAL, errno.EOPNOTSUPP}:
            raise
    finally:
        os.close(descriptor)


def _keep_second_name(target: Path, kept: Path) -> Path | None:
    kept.unlink(missing_ok=True)
    try:
        os.link(target, kept)
    except FileNotFoundError:
        return None
    except OSError:
        shutil.copyfile(target, kept)
    return kept


# Before a write in place both contents are kept as versions, and a note says which they are.
# Whoever holds the lock next finds the note of a killed writer, and writes again.
NOTE_NAME = "in-place.json"


@dataclass(frozen=True, slots=True)
class UnfinishedWrite:
    """The digests of the former content of the file, and of the one that was being written."""

    expected: str
    wanted: str


def read_note(note: Path) -> UnfinishedWrite | None:
    """The note of an unfinished write, or None."""
    try:
        found = json.loads(note.read_bytes())
        return UnfinishedWrite(str(found["expected"]), str(found["wanted"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        # A note that was itself cut short was written before any byte of the library.
        return None


def write_note(note: Path, write: UnfinishedWrite) -> None:
    write_durably(note, json.dumps(asdict(write)).encode())
    sync_folder(note.parent)


def is_torn(found: bytes, expected: bytes, wanted: bytes) -> bool:
    """Whether `found` is `wanted` written over `expected` up to some byte."""
    done = _common_prefix_length(found, wanted)
    before = expected.ljust(len(found), b"\0")
    return (
        len(found) <= max(len(expected), len(wanted)) and found[done:] == before[done : len(found)]
    )


def _common_prefix_length(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def overwrite(target: Path, data: bytes) -> None:
    """Write the file in place; a full disk is detected before the first byte changes."""
    descriptor = os.open(
        target, os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    )
    try:
        size = os.fstat(descriptor).st_size
        if len(data) > size and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(descriptor, 0, len(data))
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
