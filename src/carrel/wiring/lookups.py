"""Works by their identifiers from the services that know them; the client is imported only where
somebody asks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from carrel.core.errors import NotFoundError, UnavailableError
from carrel.libraries.identifiers import ArxivId, Doi, Identifier
from carrel.settings import Settings

if TYPE_CHECKING:
    from carrel.services.literature.service_client import ServiceClient
    from carrel.services.literature.works import Works


class WorkUnknownError(NotFoundError):
    """No service knows the identifier."""


class LookupUnavailableError(UnavailableError):
    """The services cannot be reached, so nothing is known of the identifier."""

    code = "lookup_unavailable"


class Services:
    """Asks under the contact address of the settings, and remembers the answers in the home folder.
    One client asks for all
    callers of this process, so that limits and circuit breakers hold for them together; whoever
    made it closes it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: ServiceClient | None = None
        self._works: Works | None = None

    async def find(self, identifier: Identifier) -> dict[str, object]:
        """The work as a CSL item."""
        from carrel.services.literature.errors import (
            NetworkUnavailableError,
            ServicePausedError,
            WorkLookupError,
            WorkNotFoundError,
        )

        try:
            return await self._opened().find(identifier)
        except WorkNotFoundError as error:
            raise WorkUnknownError(
                type(identifier).__name__, str(identifier), next_step="Check the identifier."
            ) from error
        except (NetworkUnavailableError, ServicePausedError) as error:
            raise LookupUnavailableError(
                f"{error.service} cannot be reached, so {identifier} could not be looked up",
                next_step="Connect to the network, or add the work as BibTeX, RIS or CSL-JSON.",
                details={"service": error.service, "identifier": str(identifier)},
            ) from error
        except WorkLookupError as error:
            raise LookupUnavailableError(
                str(error), next_step="Try again later, or add the work as BibTeX, RIS or CSL-JSON."
            ) from error

    async def find_csl_json(self, identifier: Doi | ArxivId) -> bytes | None:
        """The same as a CSL-JSON document, or None where nobody knows it."""
        try:
            return json.dumps([await self.find(identifier)]).encode()
        except WorkUnknownError:
            return None

    async def close(self) -> None:
        client, self._client, self._works = self._client, None, None
        if client is not None:
            await client.close()

    def _opened(self) -> Works:
        if self._works is None:
            from carrel.services.literature.service_client import (
                FileCache,
                RetryPolicy,
                ServiceClient,
            )
            from carrel.services.literature.works import Addresses, Works

            chosen = self._settings.references
            addresses = Addresses(
                **{name: value for name, value in chosen.services.model_dump().items() if value}
            )
            cache = FileCache(self._settings.home / "cache" / "lookups")
            self._client = ServiceClient(RetryPolicy(contact=chosen.contact), cache)
            self._works = Works(self._client, addresses, chosen.pubmed_api_key)
        return self._works
