"""The literature services, whose client is imported and opened where somebody first asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.libraries.identifiers import ArxivId, Doi, Identifier
from carrel.settings import Settings

if TYPE_CHECKING:
    from carrel.services.literature.works import LiteratureServices


class LazyLiterature:
    """One client for all callers of this process, so that limits hold for them together.

    Whoever makes it closes it.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
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
            from carrel.services.literature.works import LiteratureServices

            chosen = self._settings.references
            self._services = LiteratureServices(
                chosen.contact,
                self._settings.home / "cache" / "lookups",
                {name: url for name, url in chosen.services.model_dump().items() if url},
                chosen.pubmed_api_key,
            )
        return self._services
