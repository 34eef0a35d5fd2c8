"""The literature room: the services outside, and the corpus and libraries that works come into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.core.catalogue import Room
from carrel.rooms.literature import ROOM
from carrel.rooms.literature.desk_works import DeskWorks
from carrel.rooms.literature.operations import LiteratureOperations
from carrel.rooms.literature.search import LiteratureSearch
from carrel.rooms.literature.service import Literature
from carrel.rooms.literature.service_choice import SearchPolicy
from carrel.services.literature.catalogue import LazyServices, ServiceAccess
from carrel.settings import Settings
from carrel.wiring.desk import OpenRoom
from carrel.wiring.desk_works import CorpusAtHand
from carrel.wiring.papers import OpenCorpus

if TYPE_CHECKING:
    from carrel.services.literature.service_client import ServiceClient


def open_services(settings: Settings) -> LazyServices:
    """The services with the keys, addresses and mode of the settings; nothing is opened yet."""
    chosen = settings.literature
    keys = {
        "openalex": chosen.openalex_api_key,
        "semantic_scholar": chosen.semantic_scholar_api_key,
        "pubmed": chosen.pubmed_api_key or settings.references.pubmed_api_key,
        "crossref": chosen.crossref_token,
        "opencitations": chosen.opencitations_token,
    }
    addresses = {name: url for name, url in chosen.addresses.model_dump().items() if url}

    def open_client() -> ServiceClient:
        from carrel.services.literature.service_client import FileCache, ServiceClient

        contact = chosen.contact or settings.references.contact
        return ServiceClient(contact, FileCache(settings.cache_folder / "cache" / "literature"))

    return LazyServices(open_client, ServiceAccess(addresses, keys))


def open_literature_room(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """Nothing is asked yet; services are opened by the first question."""
    services = open_services(settings)
    chosen = settings.literature
    policy = SearchPolicy(
        services=chosen.services,
        has_semantic_scholar_key=bool(chosen.semantic_scholar_api_key),
        timeout_seconds=chosen.timeout_seconds,
        max_cost_usd=chosen.max_cost_usd,
        is_network_allowed=settings.network or chosen.mode in ("replay", "offline"),
    )
    desk = DeskWorks(CorpusAtHand(corpus), corpus.links.libraries)
    literature = Literature(LiteratureSearch(services, policy), desk)
    holders: list[object] = [LiteratureOperations(literature)]
    # Each further part of the room adds its operations here, one line each; `services` has the
    # adapters (`services.all()`) and the client (`services.client`), both opened when first used.

    async def close() -> None:
        await services.close()

    return OpenRoom(Room.collect(ROOM, *holders), close=close)
