"""The shared database of a desk as a part of its backup."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from carrel.core.errors import InvalidInputError

DATABASE_PREFIX = "database"


class DatabaseCopies(Protocol):
    """Carries all of a database in files, and back into an empty one."""

    def dump(self, folder: Path) -> None:
        """Writes everything as of one moment into files of the folder. UnavailableError."""
        ...

    def refuse_filled(self, mark: str) -> None:
        """Raises DatabaseNotEmptyError unless nothing is kept there, or what `mark` names is."""
        ...

    def load(self, folder: Path, mark: str) -> bool:
        """Puts everything in place or nothing; False where what `mark` names is there already.

        Raises DatabaseNotEmptyError, or UnavailableError where it could not be verified.
        """
        ...


def need_database(database: DatabaseCopies | None) -> DatabaseCopies:
    """The database that a backup needs; raises InvalidInputError where the settings name none."""
    if database is None:
        raise InvalidInputError(
            "The backup carries a PostgreSQL database, and no database is named",
            next_step="Set DATABASE_URL to a new, empty database (createdb NAME) and run it "
            "again; nothing was changed.",
            details={"setting": "database.url"},
        )
    return database
