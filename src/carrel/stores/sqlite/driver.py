"""Runs SQL that is shared with PostgreSQL on one SQLite file, with the clock of its leases."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

from carrel.stores.sql.driver import LeaseClock, Rows, Step
from carrel.stores.sqlite.connection import drive
from carrel.stores.sqlite.database import Database, Describe
from carrel.stores.sqlite.schema import UpgradeStep

ResultT = TypeVar("ResultT")

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class MachineClock(Protocol):
    """`ticks` counts seconds since the start named `boot`; `now` is the time of day."""

    def now(self) -> float: ...

    def boot(self) -> str: ...

    def ticks(self) -> float: ...


class SystemMachineClock:
    """The kernel's own clock, the same for every process and container; it never jumps."""

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
    """The boot id of the machine; empty where the system has none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeError):
        return ""


class SqliteDriver:
    """The driver over a file; the contract is that of `Driver`."""

    lease_clock = LeaseClock(now="carrel_now()", name="carrel_boot()", ticks="carrel_ticks()")

    def __init__(
        self,
        file: Path,
        steps: Sequence[UpgradeStep],
        *,
        busy_seconds: float = 10.0,
        clock: MachineClock | None = None,
        describe: Describe | None = None,
        survives_power_cut: bool = True,
    ) -> None:
        """What was written survives a kill; a power cut may take the last of it where it may."""
        self._survives_power_cut = survives_power_cut
        self._clock = clock or SystemMachineClock()
        self._database = Database(
            file,
            tuple(steps),
            busy_seconds=busy_seconds,
            describe=describe,
            configure=self._add_clock,
        )

    @property
    def file(self) -> Path:
        return self._database.path

    async def run(self, *steps: Step) -> list[Rows]:
        is_read_only = all(sql.startswith("SELECT") for sql, *_ in steps)
        return await self.transact(_each(steps), is_read_only=is_read_only)

    async def transact(
        self, work: Generator[Step, Rows, ResultT], *, is_read_only: bool = False
    ) -> ResultT:
        run = self._database.read if is_read_only else self._database.write
        return await run(lambda connection: drive(connection, work))

    async def close(self) -> None:
        await self._database.close()

    def _add_clock(self, connection: sqlite3.Connection) -> None:
        if not self._survives_power_cut:
            connection.execute("PRAGMA synchronous = NORMAL")
        connection.create_function("carrel_now", 0, self._clock.now)
        connection.create_function("carrel_boot", 0, self._clock.boot)
        connection.create_function("carrel_ticks", 0, self._clock.ticks)


def _each(steps: Sequence[Step]) -> Generator[Step, Rows, list[Rows]]:
    answers: list[Rows] = []
    for step in steps:
        rows = yield step
        answers.append(rows)
    return answers
