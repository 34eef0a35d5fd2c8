"""Writing a library where its name cannot be given to another file: into the file itself, with what
is needed to finish it later.

Both contents are kept as versions before the first byte is written, and a note says which they are.
Whoever holds the lock next
finds the note of a writer that was killed, and writes again.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from carrel.stores.csl_json.exchanging import sync_folder, write_durably

_NOTE_NAME = "in-place.json"


@dataclass(frozen=True, slots=True)
class UnfinishedWrite:
    """The digests of what stood in the file, and of what was being written."""

    expected: str
    wanted: str


def note_path(workshop: Path) -> Path:
    return workshop / _NOTE_NAME


def read_note(workshop: Path) -> UnfinishedWrite | None:
    """The note of a write that was not finished. A note that was itself cut short was written
    before any byte of the library.
    """
    try:
        found = json.loads(note_path(workshop).read_bytes())
        return UnfinishedWrite(str(found["expected"]), str(found["wanted"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        return None


def begin_write(workshop: Path, write: UnfinishedWrite) -> None:
    write_durably(
        note_path(workshop),
        json.dumps({"expected": write.expected, "wanted": write.wanted}).encode(),
    )
    sync_folder(workshop)


def end_write(workshop: Path) -> None:
    note_path(workshop).unlink(missing_ok=True)


def is_torn(found: bytes, expected: bytes, wanted: bytes) -> bool:
    """Whether `found` is `wanted` written over `expected` up to some byte; room made for it
    beforehand reads as zeros.
    """
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
    """Writes the file in place. Where the disk is full, that is found out before the first byte is
    changed.
    """
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
