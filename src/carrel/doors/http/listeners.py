"""Closing a listener without resetting connections that wait to be accepted."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

_OPEN_FILES = Path("/proc/self/fd")
# Linux: SO_ATTACH_FILTER, and the one instruction of a filter that lets no byte of a packet pass.
_ATTACH_FILTER = 26
_DROP_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0)


def hold_new_connections() -> bool:
    """From now on nobody new gets through to this process; who waits already is still accepted.

    The first packet of a new connection is dropped, and its sender repeats it after a second: then
    the listener is closed and another replica takes the connection. Returns whether this system
    can do so. The kernel keeps the instruction, so that the memory may go.
    """
    if not sys.platform.startswith("linux") or multiprocessing.parent_process() is not None:
        # A worker that is replaced leaves its listener to the next.
        return False
    instructions = ctypes.create_string_buffer(_DROP_ALL)
    program = struct.pack("HL", 1, ctypes.addressof(instructions))
    found = False
    for listener in _find_listeners():
        with contextlib.suppress(OSError):
            listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)
            found = True
    return found


def stop_listening() -> None:
    """New connections are refused at once, also where other processes hold the same listener."""
    for listener in _find_listeners():
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def _find_listeners() -> Iterator[socket.socket]:
    """Every TCP listener of this process; each is closed again, which leaves the original open."""
    for file in list(_OPEN_FILES.iterdir()) if _OPEN_FILES.is_dir() else ():
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(file.name))) as found:
            if found.family in {socket.AF_INET, socket.AF_INET6} and found.getsockopt(
                socket.SOL_SOCKET, socket.SO_ACCEPTCONN
            ):
                yield found
