"""The clock that leases in a SQLite file are measured by: one that counts since the machine was
started and never jumps.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Protocol

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class MachineClock(Protocol):
    """`ticks` counts seconds under the name `boot`; `now` is the time of day, for leases that were
    given under another name.
    """

    def now(self) -> float: ...

    def boot(self) -> str: ...

    def ticks(self) -> float: ...


class SystemMachineClock:
    """The kernel's own, the same for every process and container on it. Sleep of the machine
    counts.
    """

    def now(self) -> float:
        return time.time()

    def boot(self) -> str:
        return boot_name()

    def ticks(self) -> float:
        # Without a name for this start of the machine its counter could not be told from another's.
        if not boot_name():
            return time.time()
        return time.clock_gettime(time.CLOCK_BOOTTIME)


@cache
def boot_name() -> str:
    """What this start of the machine is called; empty where the system does not say."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeError):
        return ""
