"""Background jobs in shared SQL; leases run on the clock of the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from carrel.core.answer import JobState
from carrel.core.background_jobs import JobProgress, JobRecord
from carrel.stores.sql.driver import Driver, Rows, Step

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS background_jobs (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, state TEXT NOT NULL, message
          TEXT NOT NULL,
        input TEXT NOT NULL, result TEXT, error_code TEXT, done INTEGER NOT NULL DEFAULT 0, total
          INTEGER,
        worker TEXT, lease_until DOUBLE PRECISION NOT NULL DEFAULT 0, lease_clock TEXT NOT NULL
          DEFAULT '',
        lease_ticks DOUBLE PRECISION NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT
          NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS background_jobs_state ON background_jobs (state, updated_at)",
)
# One script for each version. What an earlier version lacks goes into a new script at the end,
# never into an old one.
SCRIPTS = (";\n".join(SCHEMA),)

_COLUMNS = (
    "id, kind, owner, state, message, input, created_at, updated_at, done, total, result, "
    "error_code"
)


class SqlJobs:
    """The job store over a driver; the contract is the port's."""

    schema_steps = SCRIPTS

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._clock = clock = driver.lease_clock
        self._lease = f"{clock.now} + :seconds, {clock.name}, {clock.ticks} + :seconds"

    async def close(self) -> None:
        await self._driver.close()

    async def add(self, record: JobRecord, worker: str, lease_seconds: float) -> None:
        sql = f"""INSERT INTO background_jobs (id, kind, owner, state, message, input, result, done,
              total, worker,
                lease_until, lease_clock, lease_ticks, created_at, updated_at)
            VALUES (:id, :kind, :owner, :state, :message, :input, :result, :done, :total, :worker,
                {self._lease}, :created_at, :updated_at)"""
        facts = asdict(record) | {"worker": worker, "seconds": lease_seconds}
        facts.pop("error_code")
        await self._rows(sql, **facts)

    async def get(self, job_id: str) -> JobRecord | None:
        rows = await self._rows(f"SELECT {_COLUMNS} FROM background_jobs WHERE id = :id", id=job_id)
        return _record(rows[0]) if rows else None

    async def claim(self, job_id: str, worker: str, lease_seconds: float) -> JobRecord | None:
        sql = f"""UPDATE background_jobs SET worker = :worker, {self._clock.grant}
            WHERE id = :id AND state = 'running' AND {self._clock.has_expired}
            RETURNING {_COLUMNS}"""
        rows = await self._rows(sql, id=job_id, worker=worker, seconds=lease_seconds)
        return _record(rows[0]) if rows else None

    async def renew(self, job_ids: Sequence[str], worker: str, lease_seconds: float) -> None:
        sql = (
            f"UPDATE background_jobs SET {self._clock.grant} WHERE id = :id AND worker = :worker "
            f"AND state = 'running'"
        )
        steps: list[Step] = [
            (sql, {"id": job_id, "worker": worker, "seconds": lease_seconds}) for job_id in job_ids
        ]
        if steps:
            await self._driver.run(*steps)

    async def release(self, job_id: str, worker: str) -> None:
        sql = (
            "UPDATE background_jobs SET worker = NULL WHERE id = :id AND worker = :worker AND "
            "state = 'running'"
        )
        await self._rows(sql, id=job_id, worker=worker)

    async def save(self, job_id: str, worker: str, progress: JobProgress, at: str) -> bool:
        sql = """UPDATE background_jobs SET result = :result, done = :done, total = :total, message
              = :message, updated_at = :at
            WHERE id = :id AND worker = :worker AND state = 'running' RETURNING id"""
        return bool(await self._rows(sql, id=job_id, worker=worker, at=at, **asdict(progress)))

    async def end(
        self,
        job_id: str,
        state: JobState,
        message: str,
        error_code: str | None,
        at: str,
        worker: str | None,
    ) -> bool:
        sql = """UPDATE background_jobs SET state = :state, message = :message, error_code = :code,
              updated_at = :at, worker = NULL
            WHERE id = :id AND state = 'running' AND (:anybody = 1 OR worker = :worker) RETURNING
              id"""
        facts = {"state": state, "message": message, "code": error_code, "at": at}
        return bool(
            await self._rows(
                sql, id=job_id, worker=worker or "", anybody=int(worker is None), **facts
            )
        )

    async def remove(self, job_id: str) -> None:
        await self._rows("DELETE FROM background_jobs WHERE id = :id", id=job_id)

    async def list_abandoned(self, kinds: Sequence[str]) -> list[str]:
        named = {f"kind_{number}": kind for number, kind in enumerate(kinds)}
        places = ", ".join(f":{name}" for name in named)
        sql = f"""SELECT id FROM background_jobs
            WHERE state = 'running' AND {self._clock.has_expired} AND kind IN ({places})
            ORDER BY created_at, id"""
        return [str(row[0]) for row in await self._rows(sql, **named)] if kinds else []

    async def list_owned(
        self, owner: str, kinds: Sequence[str], state: JobState | None, limit: int
    ) -> list[JobRecord]:
        named = {f"kind_{number}": kind for number, kind in enumerate(kinds)}
        places = ", ".join(f":{name}" for name in named)
        sql = f"""SELECT {_COLUMNS} FROM background_jobs
            WHERE owner = :owner AND kind IN ({places}) AND (:state = '' OR state = :state)
            ORDER BY created_at DESC, id DESC LIMIT :limit"""
        facts = {"owner": owner, "state": state or "", "limit": limit}
        return [_record(row) for row in await self._rows(sql, **facts, **named)] if kinds else []

    async def list_all(self, state: JobState | None, limit: int) -> list[JobRecord]:
        sql = """SELECT id, kind, owner, state, message, '', created_at, updated_at, done, total,
              NULL, error_code FROM background_jobs WHERE (:state = '' OR state = :state)
            ORDER BY created_at DESC, id DESC LIMIT :limit"""
        return [_record(row) for row in await self._rows(sql, state=state or "", limit=limit)]

    async def remove_ended(self, before: str) -> None:
        await self._rows(
            "DELETE FROM background_jobs WHERE state <> 'running' AND updated_at < :before",
            before=before,
        )

    async def _rows(self, sql: str, **parameters: object) -> Rows:
        return (await self._driver.run((sql, parameters)))[0]


def _record(row: tuple[Any, ...]) -> JobRecord:
    return JobRecord(*row)
