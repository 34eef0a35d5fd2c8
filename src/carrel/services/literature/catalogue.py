"""The literature services there are: their adapters, usual addresses and keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.rooms.literature.ports import LiteratureService

if TYPE_CHECKING:
    from carrel.services.literature.service_client import ServiceClient

ADDRESSES: Mapping[str, str] = {
    "openalex": "https://api.openalex.org",
    "crossref": "https://api.crossref.org",
    "pubmed": "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
    "europepmc": "https://www.ebi.ac.uk/europepmc/webservices/rest",
    "arxiv": "https://export.arxiv.org",
    "arxiv_texts": "https://arxiv.org",
    "semantic_scholar": "https://api.semanticscholar.org",
    "dblp": "https://dblp.org",
    "datacite": "https://api.datacite.org",
    "doaj": "https://doaj.org",
    "unpaywall": "https://api.unpaywall.org",
    "opencitations": "https://api.opencitations.net",
    "biorxiv": "https://api.biorxiv.org",
}


@dataclass(frozen=True, slots=True)
class ServiceAccess:
    """Addresses and keys by the names of services, where they are not the usual or not empty."""

    addresses: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)

    def address(self, name: str) -> str:
        return self.addresses.get(name) or ADDRESSES[name]

    def key(self, name: str) -> str:
        return self.keys.get(name, "")


def build_services(client: ServiceClient, access: ServiceAccess) -> dict[str, LiteratureService]:
    """Every adapter there is, by name; all of them share the client and its limits."""
    # Imported with the readers of every service, which a desk needs with the first question.
    from carrel.services.literature.arxiv import Arxiv
    from carrel.services.literature.biorxiv import Biorxiv
    from carrel.services.literature.crossref import Crossref
    from carrel.services.literature.datacite import DataCite
    from carrel.services.literature.dblp import Dblp
    from carrel.services.literature.doaj import Doaj
    from carrel.services.literature.europepmc import EuropePmc
    from carrel.services.literature.openalex import OpenAlex
    from carrel.services.literature.opencitations import OpenCitations
    from carrel.services.literature.pubmed import PubMed
    from carrel.services.literature.semantic_scholar import SemanticScholar
    from carrel.services.literature.unpaywall import Unpaywall

    at, key = access.address, access.key
    services: tuple[LiteratureService, ...] = (
        OpenAlex(client, at("openalex"), api_key=key("openalex")),
        Crossref(client, at("crossref"), api_key=key("crossref")),
        PubMed(client, at("pubmed"), api_key=key("pubmed")),
        EuropePmc(client, at("europepmc")),
        Arxiv(client, at("arxiv"), texts_url=at("arxiv_texts")),
        SemanticScholar(client, at("semantic_scholar"), api_key=key("semantic_scholar")),
        Dblp(client, at("dblp")),
        DataCite(client, at("datacite")),
        Doaj(client, at("doaj")),
        Unpaywall(client, at("unpaywall")),
        OpenCitations(client, at("opencitations"), api_key=key("opencitations")),
        Biorxiv(client, at("biorxiv")),
    )
    return {service.name: service for service in services}


class LazyServices:
    """The services, opened where somebody first asks; whoever makes it closes it."""

    def __init__(self, open_client: Callable[[], ServiceClient], access: ServiceAccess) -> None:
        self._open_client = open_client
        self._access = access
        self._client: ServiceClient | None = None
        self._services: dict[str, LiteratureService] | None = None

    @property
    def client(self) -> ServiceClient:
        """The one client of this room, for what is asked beside the services."""
        if self._client is None:
            self._client = self._open_client()
        return self._client

    def all(self) -> Mapping[str, LiteratureService]:
        """Every service by its name."""
        if self._services is None:
            self._services = build_services(self.client, self._access)
        return self._services

    async def close(self) -> None:
        client, self._client, self._services = self._client, None, None
        if client is not None:
            await client.close()
