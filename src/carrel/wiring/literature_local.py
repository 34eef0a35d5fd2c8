"""Operations of the literature room for the operator of the server."""

from __future__ import annotations

from pathlib import Path

from carrel.rooms.literature.retraction_operations import RetractionTableOperations
from carrel.rooms.literature.retraction_ports import LoadedTable, TableContent
from carrel.settings import Settings
from carrel.wiring.work_notices import DeskNotices


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


def local_operations(settings: Settings) -> RetractionTableOperations:
    async def load(path: Path) -> tuple[LoadedTable, TableContent]:
        from carrel.services.literature.retraction_file import RetractionFile

        notices = DeskNotices(settings)
        try:
            return await notices.stored.load(RetractionFile(_absolute(path)))
        finally:
            await notices.close()

    return RetractionTableOperations(load)
