"""Reads the first bytes of a database without taking from SQLite the locks that it holds on the
file in this process.

POSIX drops every lock that a process has on a file when the process closes any descriptor of it.
SQLite's locks gone, another process
that closes the database takes itself for the last one and removes the log, and what is written here
afterwards is lost. So what was
opened here stays open.
https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

# A desk has three or four databases; only tests open so many desks in one process that older ones
# are let go.
_MOST_HELD = 64

_lock = threading.Lock()
_held: dict[tuple[int, int], int] = {}


def read_database_start(file: Path, count: int) -> bytes:
    """At most the first `count` bytes of a file."""
    if os.name == "nt":
        with file.open("rb") as stream:
            return stream.read(count)
    with _lock:
        found = file.stat()
        held = _held.get((found.st_dev, found.st_ino))
        descriptor = _hold(file) if held is None else held
        os.lseek(descriptor, 0, os.SEEK_SET)
        return os.read(descriptor, count)


def _hold(file: Path) -> int:
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    opened = os.fstat(descriptor)
    # Another file may have come in its place since it was looked at, one that is held already: then
    # both stay open.
    if (opened.st_dev, opened.st_ino) not in _held:
        while len(_held) >= _MOST_HELD:
            os.close(_held.pop(next(iter(_held))))
        _held[opened.st_dev, opened.st_ino] = descriptor
    return descriptor
