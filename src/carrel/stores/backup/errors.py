"""Errors of backup and restore."""

from __future__ import annotations

from pathlib import Path

from carrel.core.errors import ConflictError, InvalidInputError, UnavailableError


class NotABackupError(InvalidInputError):
    """The file is something else."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"{file} is not a backup made by Carrel",
            next_step="Name a file that carrel backup wrote.",
        )


class DamagedBackupError(InvalidInputError):
    """The file is not what was written."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(
            f"{file} is damaged: {reason}", next_step="Use another backup; nothing was changed."
        )


class UnsafeBackupError(InvalidInputError):
    """The file holds something that a backup never holds, and that could write elsewhere."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(
            f"{file} is refused: {reason}",
            next_step="Carrel wrote no such file; nothing was changed.",
        )


class NewerBackupError(InvalidInputError):
    """The file was made by a newer version of the product."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(
            f"{file} was made by a newer Carrel: {reason}",
            next_step="Install that version; nothing was changed.",
        )


class BackupFailedError(UnavailableError):
    """Something could not be carried, so there is no backup."""


class HomeInUseError(ConflictError):
    """A process works with the home folder."""

    def __init__(self, home: Path) -> None:
        super().__init__(
            f"{home} is in use: a server or another carrel command works with it",
            next_step="Stop it (also clients that started carrel mcp), then run this again; "
            "nothing was changed.",
        )


class RestoreUnderWayError(ConflictError):
    """The home folder is just being replaced."""

    def __init__(self, home: Path) -> None:
        super().__init__(
            f"A restore is under way in {home}",
            next_step="Wait until it has ended, then start again.",
        )


class HomeNotEmptyError(ConflictError):
    """There are data already where the backup would go."""

    def __init__(self, places: list[Path]) -> None:
        super().__init__(
            f"There are data already: "
            f"{', '.join(map(str, places[:5]))}{' …' if len(places) > 5 else ''}",
            next_step="Choose an empty --home, or move them aside with --force; nothing was "
            "changed.",
            details={"places": [str(place) for place in places]},
        )
