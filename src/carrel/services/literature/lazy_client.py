"""The literature services, opened where somebody first asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from carrel.libraries.identifiers import ArxivId, Doi, Identifier

if TYPE_CHECKING:
    from carrel.services.literature.works import LiteratureServices


class LazyLiterature:
    """One client for all callers of this process, so that limits hold for them together.

    Whoever makes it closes it.
    """

    def __init__(self, open_services: Callable[[], LiteratureServices]) -> None:
        self._open_services = open_services
        self._services: LiteratureServices | None = None

    async def find(self, identifier: Identifier) -> dict[str, Any]:
        return await self._open().find(identifier)

    async def find_csl_json(self, identifier: Doi | ArxivId) -> bytes | None:
        return await self._open().find_csl_json(identifier)

    async def close(self) -> None:
        services, self._services = self._services, None
        if services is not None:
            await services.close()

    def _open(self) -> LiteratureServices:
        if self._services is None:
            self._services = self._open_services()
        return self._services
