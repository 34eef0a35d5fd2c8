"""Works by any identifier, from the services that know its kind, one after the other."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Isbn, Pmcid, Pmid
from carrel.services.literature.arxiv import Arxiv
from carrel.services.literature.books import GoogleBooks, OpenLibrary
from carrel.services.literature.dois import Crossref, DoiOrg
from carrel.services.literature.errors import WorkLookupError, WorkNotFoundError
from carrel.services.literature.pubmed import PmcConverter, PubMed
from carrel.services.literature.service_client import ServiceClient


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the services are; tests and mirrors have their own."""

    doi_org: str = "https://doi.org"
    crossref: str = "https://api.crossref.org"
    pubmed: str = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    pmc: str = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/"
    arxiv: str = "https://export.arxiv.org"
    open_library: str = "https://openlibrary.org"
    google_books: str = "https://www.googleapis.com"


class Works:
    """Asks doi.org and Crossref for DOIs, PubMed for its numbers and PMC's, arXiv, and two
    catalogues for ISBNs.
    """

    def __init__(
        self, client: ServiceClient, addresses: Addresses | None = None, pubmed_api_key: str = ""
    ) -> None:
        at = addresses or Addresses()
        self._doi_org = DoiOrg(client, at.doi_org)
        self._crossref = Crossref(client, at.crossref)
        self._pubmed = PubMed(client, at.pubmed, pubmed_api_key)
        self._pmc = PmcConverter(client, at.pmc)
        self._arxiv = Arxiv(client, at.arxiv)
        self._open_library = OpenLibrary(client, at.open_library)
        self._google_books = GoogleBooks(client, at.google_books)

    async def find(self, identifier: Identifier) -> CslItem:
        """The work as a CSL item without a key, or the error of the service that says most."""
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
                isbn = identifier
                return await _first(
                    [
                        lambda: self._open_library.look_up(isbn),
                        lambda: self._google_books.look_up(isbn),
                    ]
                )

    async def _doi(self, doi: Doi) -> CslItem:
        """doi.org knows every DOI there is, so its no is final; Crossref stands in when it
        fails.
        """
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


async def _first(asks: Sequence[Callable[[], Awaitable[CslItem]]]) -> CslItem:
    """The first answer. Where all fail, a service that could not be asked says more than one that
    has nothing.
    """
    problem: WorkLookupError | None = None
    for ask in asks:
        try:
            return await ask()
        except WorkLookupError as error:
            if problem is None or isinstance(problem, WorkNotFoundError):
                problem = error
    raise problem or WorkLookupError("no service", "There is no service to ask")
