"""What can stop a whole build. One bad source never does; it becomes a line of the report."""

from __future__ import annotations

from carrel.core.errors import CarrelError, ConflictError, InvalidInputError


class BuildInProgressError(ConflictError):
    """Another build is writing into the same folder."""

    def __init__(self) -> None:
        super().__init__(
            "Another build is working on this corpus.",
            next_step="Wait until it has ended, then start again.",
        )


class NewerBuildStateError(ConflictError):
    """The memory of earlier builds is of a newer version than this product knows."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"{reason}.",
            next_step="Build with the newer Carrel, or into another folder; nothing was changed.",
        )


class NothingToBuildError(InvalidInputError):
    """None of the sources that were named exists."""

    def __init__(self, sources: list[str]) -> None:
        super().__init__(
            "None of the sources exists.",
            next_step="Name files or folders that exist; nothing was changed.",
            details={"sources": sources},
        )


class PaperNotAddedError(CarrelError):
    """What was sent could not be made into a paper."""

    code = "paper_not_added"


class ForeignSnapshotError(ConflictError):
    """The folder holds a snapshot that was built elsewhere."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The folder holds a {name} that Carrel did not build.",
            next_step="Build into another folder; the snapshot there was left as it is.",
        )
