"""The history of one library of rows for the operator's commands, which wait for each answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from carrel.core.errors import NotFoundError
from carrel.rooms.references.ports import KeptVersion, PastChange, PastText
from carrel.stores.sql.references.libraries import RowLibraries
from carrel.stores.sql.references.library import RowLibrary
from carrel.stores.sql.references.statements import LibraryName

ResultT = TypeVar("ResultT")


class RowPast:
    """Every method opens the database for itself, and raises its errors."""

    def __init__(self, open_libraries: Callable[[], RowLibraries], name: LibraryName) -> None:
        self._open_libraries = open_libraries
        self._name = name

    def list_changes(self, reference_id: str | None = None) -> list[PastChange]:
        """Every change, newest first; those of one reference if named."""
        return list(self._ask(lambda library: library.list_changes(reference_id)))

    def list_versions(self) -> list[KeptVersion]:
        """None: rows are restored one by one, or by undoing changes."""
        return []

    def list_texts(self, reference_id: str) -> list[PastText]:
        """Every version of one reference, oldest first."""
        past = self._ask(lambda library: library.list_past(reference_id))
        return [
            PastText(
                version.revision,
                None if version.item is None else json.dumps(version.item, ensure_ascii=False),
                version.is_present,
            )
            for version in reversed(past)
        ]

    def restore_version(self, number: int) -> int:
        """Raises NotFoundError: a database keeps no whole versions."""
        raise NotFoundError(
            "Version",
            str(number),
            next_step="A library in a database is restored by references, or by its backups.",
        )

    def restore_reference(self, reference_id: str, revision: int | None = None) -> None:
        """Restore a revision, or the state before the last change; raises NotFoundError."""
        self._ask(lambda library: library.restore(reference_id, revision))

    def _ask(self, ask: Callable[[RowLibrary], Awaitable[ResultT]]) -> ResultT:
        async def asking() -> ResultT:
            libraries = self._open_libraries()
            try:
                return await ask(libraries.open_library(self._name))
            finally:
                await libraries.close()

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, asking()).result()
