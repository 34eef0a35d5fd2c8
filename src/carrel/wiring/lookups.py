"""Works by their identifiers from the services that know them; the client is imported only where somebody asks."""

from __future__ import annotations

import json

from carrel.core.errors import NotFoundError, UnavailableError
from carrel.core.identifiers import ArxivId, Doi, Identifier
from carrel.settings import Settings


class WorkUnknownError(NotFoundError):
    """No service knows the identifier."""


class LookupUnavailableError(UnavailableError):
    """The services cannot be reached, so nothing is known of the identifier."""

    code = "lookup_unavailable"


class Services:
    """Asks politely, under the contact address of the settings, and remembers the answers in the home folder."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def find(self, identifier: Identifier) -> dict[str, object]:
        """The work as a CSL item."""
        from carrel.engines.lookup.cache import FileCache
        from carrel.engines.lookup.errors import NetworkUnavailableError, WorkLookupError, WorkNotFoundError
        from carrel.engines.lookup.polite import Manners, PoliteClient
        from carrel.engines.lookup.works import Addresses, Works

        chosen = self._settings.references
        addresses = Addresses(**{name: value for name, value in chosen.services.model_dump().items() if value})
        cache = FileCache(self._settings.home / "cache" / "lookups")
        async with PoliteClient(Manners(contact=chosen.contact), cache) as client:
            try:
                return await Works(client, addresses, chosen.pubmed_api_key).find(identifier)
            except WorkNotFoundError as error:
                raise WorkUnknownError(type(identifier).__name__, str(identifier), next_step="Check the identifier.") from error
            except NetworkUnavailableError as error:
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
