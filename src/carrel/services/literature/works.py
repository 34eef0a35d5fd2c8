"""Works by any identifier, from the services that know its kind, one after the other."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from carrel.libraries.bibliography.imports import ORIGIN_MARK, CslItem
from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Isbn, Pmcid, Pmid
from carrel.rooms.literature.errors import FailureKind, NetworkForbiddenError
from carrel.services.literature.arxiv_items import ArxivItems
from carrel.services.literature.books import GoogleBooks, OpenLibrary
from carrel.services.literature.dois import CrossrefItems, DoiOrg
from carrel.services.literature.errors import (
    LookupUnavailableError,
    NetworkUnavailableError,
    WorkLookupError,
    WorkNotFoundError,
    WorkUnknownError,
)
from carrel.services.literature.pubmed_items import PmcConverter, PubMedItems
from carrel.services.literature.service_client import ServiceClient


@dataclass(frozen=True, slots=True)
class Addresses:
    """Base URLs of the services; tests and mirrors replace them."""

    doi_org: str = "https://doi.org"
    crossref: str = "https://api.crossref.org"
    pubmed: str = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    pmc: str = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/"
    arxiv: str = "https://export.arxiv.org"
    open_library: str = "https://openlibrary.org"
    google_books: str = "https://www.googleapis.com"


_NEXT_STEPS: Mapping[FailureKind, str] = {
    "network_off": "Set literature.mode = live",
    "not_recorded": "Set literature.mode = live or record",
    "key_refused": "Check the key of the service in the settings",
}


class Works:
    """Works by any identifier, each kind from the services that know it."""

    def __init__(
        self, client: ServiceClient, addresses: Addresses | None = None, pubmed_api_key: str = ""
    ) -> None:
        at = addresses or Addresses()
        self._doi_org = DoiOrg(client, at.doi_org)
        self._crossref = CrossrefItems(client, at.crossref)
        self._pubmed = PubMedItems(client, at.pubmed, pubmed_api_key)
        self._pmc = PmcConverter(client, at.pmc)
        self._arxiv = ArxivItems(client, at.arxiv)
        self._open_library = OpenLibrary(client, at.open_library)
        self._google_books = GoogleBooks(client, at.google_books)

    async def find(self, identifier: Identifier) -> CslItem:
        """The work as a CSL item without a key; raises the most informative service's error."""
        match identifier:
            case Doi():
                return await self._doi(identifier)
            case Pmid():
                return await self._pubmed.look_up(identifier)
            case Pmcid():
                return await self._pmcid(identifier)
            case ArxivId():
                return await self._arxiv.look_up(identifier)
            case Isbn():
                return await self._isbn(identifier)

    async def _doi(self, doi: Doi) -> CslItem:
        """doi.org knows every DOI, so its no is final; Crossref is asked when doi.org fails."""
        try:
            return await self._doi_org.look_up(doi)
        except WorkNotFoundError:
            raise
        except WorkLookupError as first:
            try:
                return await self._crossref.look_up(doi)
            except WorkNotFoundError:
                # Not in Crossref says little: other agencies register DOIs too.
                raise first from None

    async def _pmcid(self, pmcid: Pmcid) -> CslItem:
        same = await self._pmc.convert(pmcid)
        if same.pmid is not None:
            item = await self._pubmed.look_up(same.pmid)
        elif same.doi is not None:
            item = await self._doi(same.doi)
        else:
            raise WorkNotFoundError("PubMed Central", str(pmcid))
        return item | {"PMCID": str(pmcid)}

    async def _isbn(self, isbn: Isbn) -> CslItem:
        """An unavailable catalogue takes precedence over one that does not have the book."""
        try:
            return await self._open_library.look_up(isbn)
        except WorkLookupError as first:
            try:
                return await self._google_books.look_up(isbn)
            except WorkLookupError as second:
                raise (second if isinstance(first, WorkNotFoundError) else first) from None


class LiteratureServices:
    """Works through one client, which is closed with it."""

    def __init__(
        self, client: ServiceClient, addresses: Mapping[str, str], pubmed_api_key: str = ""
    ) -> None:
        self._client = client
        self._works = Works(self._client, Addresses(**addresses), pubmed_api_key)

    async def find(self, identifier: Identifier) -> CslItem:
        """The work without a key.

        Raises WorkUnknownError, LookupUnavailableError, or NetworkForbiddenError where settings
        forbid to ask.
        """
        if self._client.is_forbidden:
            raise NetworkForbiddenError
        try:
            return await self._works.find(identifier)
        except WorkNotFoundError as error:
            raise WorkUnknownError(
                type(identifier).__name__, str(identifier), next_step="Check the identifier."
            ) from error
        except NetworkUnavailableError as error:
            raise LookupUnavailableError(
                f"{error.service} cannot be reached, so {identifier} could not be looked up",
                next_step="Connect to the network, or add the work as BibTeX, RIS or CSL-JSON.",
                details={"service": error.service, "identifier": str(identifier)},
            ) from error
        except WorkLookupError as error:
            raise LookupUnavailableError(
                error.reason,
                next_step=f"{_NEXT_STEPS.get(error.failure, 'Try again later')}, or add the work "
                "as BibTeX, RIS or CSL-JSON.",
                details={"service": error.service, "identifier": str(identifier)},
            ) from error

    async def find_csl_json(self, identifier: Doi | ArxivId) -> bytes | None:
        """The same as a CSL-JSON document that names its origin, or None if no service knows it."""
        try:
            item = await self.find(identifier)
        except WorkUnknownError:
            return None
        custom = item.get("custom") or {}
        return json.dumps([{**item, "custom": {**custom, ORIGIN_MARK: "publisher"}}]).encode()

    async def close(self) -> None:
        await self._client.close()
