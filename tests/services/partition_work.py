"""Functions that engines call in their workers."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def write_upper(partition: bytes, out_folder: str) -> str:
    """The partition in capitals, in a file named for it."""
    name = partition.decode()
    (Path(out_folder) / name).write_text(name.upper())
    return name


def refuse_bad(partition: bytes, out_folder: str) -> str:
    """As `write_upper`, but for a partition called bad."""
    if partition == b"bad":
        raise ValueError("this one cannot be done")
    return write_upper(partition, out_folder)


def die_once(partition: bytes, out_folder: str) -> str:
    """As `write_upper`, but whoever does b for the first time is killed in the middle."""
    mark = Path(out_folder) / "died"
    if partition == b"b" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return write_upper(partition, out_folder)


def die_always(partition: bytes, out_folder: str) -> str:
    """As `write_upper`, but whoever does b is killed each time."""
    if partition == b"b":
        os.kill(os.getpid(), signal.SIGKILL)
    return write_upper(partition, out_folder)
