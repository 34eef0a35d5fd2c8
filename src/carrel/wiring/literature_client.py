"""The client of literature services, with the keys, addresses and mode of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.services.literature.catalogue import ServiceAccess
from carrel.settings import Settings

if TYPE_CHECKING:
    from carrel.services.literature.service_client import ServiceClient


def service_access(settings: Settings) -> ServiceAccess:
    """Keys and addresses of the services."""
    chosen = settings.literature
    keys = {
        "openalex": chosen.openalex_api_key,
        "semantic_scholar": chosen.semantic_scholar_api_key,
        "pubmed": chosen.pubmed_api_key or settings.references.pubmed_api_key,
        "crossref": chosen.crossref_token,
        "opencitations": chosen.opencitations_token,
    }
    addresses = {name: url for name, url in chosen.addresses.model_dump().items() if url}
    return ServiceAccess(addresses, keys)


def open_client(settings: Settings, *, is_live: bool = False) -> ServiceClient:
    """A client; whoever opens it closes it. `is_live` asks afresh, and keeps and records nothing.

    All clients of a home take turns together, over processes.
    """
    from carrel.services.literature.cache import AnswerCache
    from carrel.services.literature.governor import Governor
    from carrel.services.literature.recordings import Recordings
    from carrel.services.literature.service_client import ServiceClient

    chosen = settings.literature
    folder = settings.cache_folder / "cache" / "literature"
    cache = AnswerCache(
        folder / "answers", chosen.max_cache_bytes, replaces=settings.home / "cache" / "lookups"
    )
    return ServiceClient(
        chosen.contact or settings.references.contact,
        None if is_live else cache,
        mode="live" if is_live else chosen.mode,
        recordings=Recordings(chosen.recordings or settings.home / "literature" / "recordings"),
        governor=Governor(folder / "governor.db"),
        network=settings.network,
        proxy=chosen.proxy,
        deadline_seconds=chosen.timeout_seconds,
    )
