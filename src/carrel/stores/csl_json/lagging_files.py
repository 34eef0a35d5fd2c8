"""Library files that a killed process left behind their journal are brought up to date."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from carrel.core.errors import describe_error
from carrel.stores.csl_json.ledger import LibraryLedger
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.placed_file import PlacedNote
from carrel.stores.csl_json.working_folder import LEDGER_NAME, locate_library

log = logging.getLogger("carrel.references")


def is_lagging(path: Path) -> bool:
    """Whether the journal of a library has changes that its file lacks; reads no library."""
    location = locate_library(path)
    last = LibraryLedger(location.folder / LEDGER_NAME).last()
    placed = PlacedNote(location.placed).read()
    return last is not None and placed is not None and last.number > placed.revision


class LaggingFiles:
    """Looks once at each library in the background; one that cannot be written is left as it is."""

    def __init__(self, list_files: Callable[[], Iterable[Path]]) -> None:
        self._list_files = list_files
        self._is_closed = threading.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin on a thread of its own."""
        self._task = asyncio.create_task(
            asyncio.to_thread(self.bring_up_to_date), name="lagging library files"
        )

    async def close(self) -> None:
        """End after the file that is being written."""
        self._is_closed.set()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def bring_up_to_date(self) -> None:
        for path in self._list_files():
            if self._is_closed.is_set():
                return
            try:
                if is_lagging(path):
                    LibraryFile(path).materialize()
            except (OSError, ValueError) as error:
                log.warning(
                    "library file not brought up to date", extra={"cause": describe_error(error)}
                )
