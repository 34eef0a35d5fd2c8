"""Background jobs of a room, on the one table of jobs."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

from carrel.core.background_jobs import BackgroundJobs, JobHandler, JobPolicy
from carrel.core.clock import Clock
from carrel.settings import Settings
from carrel.settings.places import database_files
from carrel.stores.sql.jobs import SqlJobs
from carrel.wiring.home import open_driver


def open_jobs(
    settings: Settings, handlers: Mapping[str, JobHandler], clock: Clock
) -> BackgroundJobs:
    """Work that goes on after an answer. Nothing is read or made yet; the first job does."""
    store = SqlJobs(open_driver(settings, "jobs", SqlJobs.schema_steps))
    chosen = settings.jobs
    policy = JobPolicy(
        chosen.max_concurrent, chosen.lease_seconds, chosen.look_every_seconds, chosen.keep_days
    )
    # Chance alone names a worker, so that two of the same host and process number never take each
    # other's jobs.
    return BackgroundJobs(store, handlers, clock, f"worker_{secrets.token_hex(16)}", policy)


def has_jobs(settings: Settings) -> Callable[[], bool]:
    """Whether there is a table of jobs, which none but the first job makes."""
    has_url, file = settings.database.url is not None, database_files(settings)["jobs"]
    return lambda: has_url or file.exists()
