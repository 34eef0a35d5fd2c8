"""Background jobs on PostgreSQL where one is named, else on a file in the home folder."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from carrel.core.background_jobs import BackgroundJobs, JobHandler, JobPolicy, JobStore
from carrel.core.clock import Clock
from carrel.settings import Settings, SettingsError


@dataclass(frozen=True, slots=True)
class OpenedJobs:
    """A room's jobs, and how to begin those that an earlier process left behind."""

    jobs: BackgroundJobs
    start: Callable[[], Awaitable[None]]


def jobs_file(settings: Settings) -> Path:
    return settings.home / "jobs" / "jobs.db"


def background_jobs(
    settings: Settings, handlers: Mapping[str, JobHandler], clock: Clock
) -> OpenedJobs:
    """The jobs of a room's kinds. Nothing is read or made yet; the first job does."""
    chosen = settings.jobs
    policy = JobPolicy(
        chosen.max_concurrent, chosen.lease_seconds, chosen.look_every_seconds, chosen.keep_days
    )
    # Chance alone names a worker, so that two of the same host and process number never take each
    # other's jobs.
    jobs = BackgroundJobs(
        _store(settings), handlers, clock, f"worker_{secrets.token_hex(16)}", policy
    )

    async def start() -> None:
        jobs.take_up_work(lambda: settings.database.url is not None or jobs_file(settings).exists())

    return OpenedJobs(jobs, start)


def _store(settings: Settings) -> JobStore:
    from carrel.stores.sql.jobs import SqlJobs

    if settings.database.url is None:
        from carrel.stores.sqlite.driver import SqliteDriver

        return SqlJobs(SqliteDriver(jobs_file(settings), SqlJobs.schema_steps))
    try:
        from carrel.stores.postgres.database import PostgresDatabase
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"database.url is set, but {error.name} is not installed",
            next_step="Install carrel with the extra postgres.",
        ) from error
    return SqlJobs(
        PostgresDatabase(settings.database.url, "jobs", SqlJobs.schema_steps, connections=4)
    )
