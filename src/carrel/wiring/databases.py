"""The embedded databases of a home folder that hold what nothing else does, and what can be done
where one was replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError
from carrel.settings import Settings
from carrel.stores.backup.occupancy import alone
from carrel.stores.database_identity import DatabaseReplacedError, identity_file, refuse_replaced

_COMPANIONS = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class EmbeddedDatabase:
    """One database: its name on the command line, and its file."""

    name: str
    file: Path


def embedded_databases(settings: Settings) -> tuple[EmbeddedDatabase, ...]:
    """Those that are in files with these settings."""
    found = []
    if settings.knowledge_store == "sqlite":
        found.append(EmbeddedDatabase("knowledge", settings.home / "knowledge.sqlite"))
    if not settings.database.url:
        found.append(EmbeddedDatabase("access", settings.home / "access.sqlite"))
        found.append(EmbeddedDatabase("research", settings.home / "research" / "research.db"))
        found.append(EmbeddedDatabase("jobs", settings.home / "jobs" / "jobs.db"))
    return tuple(found)


def refuse_replaced_databases(settings: Settings) -> None:
    """Raises DatabaseReplacedError at the start of a desk whose data are not there, before anything
    is made in their place.
    """
    for database in embedded_databases(settings):
        refuse_replaced(database.file)


def refuse_damaged_databases(settings: Settings) -> None:
    """Raises DatabaseReplacedError for a database that is not there or is damaged anywhere. Reads
    all of each.
    """
    # Not at the top: a desk that only looks whether its databases are there starts without SQLite.
    from carrel.stores.sqlite.guarded import refuse_damaged

    for database in embedded_databases(settings):
        refuse_damaged(database.file)


def describe_databases(settings: Settings) -> list[tuple[str, str]]:
    """Each database with what is known of it."""
    from carrel.stores.sqlite.guarded import refuse_damaged

    found = []
    for database in embedded_databases(settings):
        try:
            refuse_damaged(database.file)
        except DatabaseReplacedError as error:
            found.append((database.name, error.message))
        else:
            found.append(
                (database.name, str(database.file) if database.file.exists() else "not made yet")
            )
    return found


def accept_database(settings: Settings, name: str) -> Path:
    """Forgets which database was kept, so that the file that is there now is the one from the next
    start on.
    """
    database = _named(settings, name)
    with alone(settings.home):
        identity_file(database.file).unlink(missing_ok=True)
    return database.file


def reset_database(settings: Settings, name: str, clock: Clock) -> Path | None:
    """Moves the file aside, so that the next start begins with an empty one; where it is now, if
    there was one.
    """
    database = _named(settings, name)
    with alone(settings.home):
        aside = database.file.parent / f"before-reset-{clock.now():%Y%m%dT%H%M%S}"
        moved = None
        for suffix in _COMPANIONS:
            file = database.file.with_name(f"{database.file.name}{suffix}")
            if file.exists():
                aside.mkdir(exist_ok=True)
                moved = file.replace(aside / file.name).parent
        identity_file(database.file).unlink(missing_ok=True)
    return moved


def _named(settings: Settings, name: str) -> EmbeddedDatabase:
    known = {database.name: database for database in embedded_databases(settings)}
    if name not in known:
        raise InvalidInputError(
            f"There is no embedded database {name}",
            next_step=f"Choose from: {', '.join(known) or 'none with these settings'}.",
        )
    return known[name]
