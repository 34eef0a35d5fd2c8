"""The embedded databases of a home folder, and what can be done where one was replaced."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError
from carrel.stores.database_identity import DatabaseReplacedError, identity_file, refuse_replaced
from carrel.stores.home.lock import hold_home_alone

_COMPANIONS = ("", "-wal", "-shm", "-journal")


class EmbeddedDatabases:
    """The files of one home that hold what nothing else does, by their names at the commands."""

    def __init__(self, home: Path, files: Mapping[str, Path]) -> None:
        self._home = home
        self._files = files

    def refuse_replaced(self, unused: Collection[str] = ()) -> None:
        """Raises DatabaseReplacedError before anything is made in place of missing data."""
        for name, file in self._files.items():
            if name not in unused:
                refuse_replaced(file)

    def refuse_damaged(self) -> None:
        """Reads all of each database; raises DatabaseReplacedError for a missing or damaged one."""
        # Not at the top: a desk that only looks whether its databases are there starts without
        # SQLite.
        from carrel.stores.sqlite.schema import refuse_damaged

        for file in self._files.values():
            refuse_damaged(file)

    def describe(self) -> list[tuple[str, str]]:
        """Each database with what is known of it."""
        from carrel.stores.sqlite.schema import refuse_damaged

        found = []
        for name, file in self._files.items():
            try:
                refuse_damaged(file)
            except DatabaseReplacedError as error:
                found.append((name, error.message))
            else:
                found.append((name, str(file) if file.exists() else "not made yet"))
        return found

    def accept(self, name: str) -> Path:
        """Takes the file that is there now for the database, from the next start on."""
        file = self._file(name)
        with hold_home_alone(self._home):
            identity_file(file).unlink(missing_ok=True)
        return file

    def reset(self, name: str, clock: Clock) -> Path | None:
        """Moves the file aside, so that the next start begins with an empty one; returns where."""
        file = self._file(name)
        with hold_home_alone(self._home):
            aside = file.parent / f"before-reset-{clock.now():%Y%m%dT%H%M%S}"
            moved = None
            for suffix in _COMPANIONS:
                part = file.with_name(f"{file.name}{suffix}")
                if part.exists():
                    aside.mkdir(exist_ok=True)
                    moved = part.replace(aside / part.name).parent
            identity_file(file).unlink(missing_ok=True)
        return moved

    def _file(self, name: str) -> Path:
        if name not in self._files:
            raise InvalidInputError(
                f"There is no embedded database {name}",
                next_step=f"Choose from: {', '.join(self._files) or 'none with these settings'}.",
            )
        return self._files[name]
