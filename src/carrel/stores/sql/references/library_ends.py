"""Removes libraries that are rows, each with its history and attached files."""

from __future__ import annotations

from carrel.stores.sql.driver import Driver
from carrel.stores.sql.references.libraries import personal_name
from carrel.stores.sql.references.statements import remove_library


class RowLibraryEnds:
    """People's own libraries over a driver."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def has_library(self, user_id: str) -> bool:
        (rows,) = await self._driver.run(
            (
                "SELECT 1 FROM reference_libraries WHERE library = :library",
                {"library": personal_name(user_id).key},
            )
        )
        return bool(rows)

    async def remove_library(self, user_id: str) -> None:
        await self._driver.run(*remove_library(personal_name(user_id)))

    async def close(self) -> None:
        await self._driver.close()
