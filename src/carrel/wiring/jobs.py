"""Background jobs on PostgreSQL where one is named, else on a file in the home folder."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from carrel.core.background_jobs import BackgroundJobs, JobHandler, JobPolicy
from carrel.core.clock import Clock
from carrel.settings import Settings
from carrel.settings.places import database_files
from carrel.stores.sql.jobs import SqlJobs
from carrel.wiring.drivers import open_driver


@dataclass(frozen=True, slots=True)
class OpenedJobs:
    """A room's jobs, and how to begin those that an earlier process left behind."""

    jobs: BackgroundJobs
    start: Callable[[], Awaitable[None]]


def background_jobs(
    settings: Settings, handlers: Mapping[str, JobHandler], clock: Clock
) -> OpenedJobs:
    """The jobs of a room's kinds. Nothing is read or made yet; the first job does."""
    store = SqlJobs(open_driver(settings, "jobs", SqlJobs.schema_steps, connections=4))
    chosen = settings.jobs
    policy = JobPolicy(
        chosen.max_concurrent, chosen.lease_seconds, chosen.look_every_seconds, chosen.keep_days
    )
    # Chance alone names a worker, so that two of the same host and process number never take each
    # other's jobs.
    jobs = BackgroundJobs(store, handlers, clock, f"worker_{secrets.token_hex(16)}", policy)

    file = database_files(settings)["jobs"]

    async def start() -> None:
        jobs.take_up_work(lambda: settings.database.url is not None or file.exists())

    return OpenedJobs(jobs, start)
