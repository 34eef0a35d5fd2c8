"""Reading at an offset, and flags to open files with, on every system."""

from __future__ import annotations

import os

# Not inherited by child processes, and never with translated line ends.
OPEN_FLAGS: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_at(descriptor: int, offset: int, count: int) -> bytes:
    """These bytes, or fewer at the end of the file."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    pieces = []
    while count > 0 and (piece := os.read(descriptor, count)):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)
