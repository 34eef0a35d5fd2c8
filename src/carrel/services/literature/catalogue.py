"""The literature services there are: their adapters, usual addresses and keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from carrel.rooms.literature.ports import LiteratureService

if TYPE_CHECKING:
    from carrel.services.literature.service_client import ServiceClient


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """Where an adapter is, its usual address, and what else its constructor takes by name."""

    adapter: str
    address: str
    options: tuple[str, ...] = ()


SERVICES: Mapping[str, ServiceEntry] = {
    "openalex": ServiceEntry("openalex:OpenAlex", "https://api.openalex.org", ("api_key",)),
    "crossref": ServiceEntry("crossref:Crossref", "https://api.crossref.org", ("api_key",)),
    "pubmed": ServiceEntry(
        "pubmed:PubMed", "https://eutils.ncbi.nlm.nih.gov/entrez/eutils", ("api_key",)
    ),
    "europepmc": ServiceEntry(
        "europepmc:EuropePmc", "https://www.ebi.ac.uk/europepmc/webservices/rest"
    ),
    "arxiv": ServiceEntry("arxiv:Arxiv", "https://export.arxiv.org"),
    "semantic_scholar": ServiceEntry(
        "semantic_scholar:SemanticScholar", "https://api.semanticscholar.org", ("api_key",)
    ),
    "dblp": ServiceEntry("dblp:Dblp", "https://dblp.org"),
    "datacite": ServiceEntry("datacite:DataCite", "https://api.datacite.org"),
    "doaj": ServiceEntry("doaj:Doaj", "https://doaj.org"),
    "unpaywall": ServiceEntry("unpaywall:Unpaywall", "https://api.unpaywall.org"),
    "opencitations": ServiceEntry(
        "opencitations:OpenCitations", "https://api.opencitations.net", ("api_key",)
    ),
    "biorxiv": ServiceEntry("biorxiv:Biorxiv", "https://api.biorxiv.org"),
}


@dataclass(frozen=True, slots=True)
class ServiceAccess:
    """Addresses and keys by the names of services, where they are not the usual or not empty."""

    addresses: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)


def build_services(client: ServiceClient, access: ServiceAccess) -> dict[str, LiteratureService]:
    """Every adapter there is, by name; all of them share the client and its limits."""
    services: dict[str, LiteratureService] = {}
    for name, entry in SERVICES.items():
        adapter = _load_adapter(entry)
        if adapter is None:
            continue
        given = {"api_key": access.keys.get(name, "")}
        options = {option: given[option] for option in entry.options}
        address = access.addresses.get(name) or entry.address
        services[name] = adapter(client, address, **options)
    return services


def _load_adapter(entry: ServiceEntry) -> Callable[..., Any] | None:
    module, _, name = entry.adapter.partition(":")
    path = f"carrel.services.literature.{module}"
    if find_spec(path) is None:
        return None
    found = getattr(import_module(path), name, None)
    return found if found is not None and hasattr(found, "name") else None


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
