"""One cheap live question to each literature service, to prove that it answers and is read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmid
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.literature.errors import FailureKind, LiteratureServiceError
from carrel.rooms.literature.ports import (
    LiteratureService,
    RecordService,
    SearchService,
    ServiceCost,
    ServiceSearchRequest,
)
from carrel.services.fetching import HttpAnswer
from carrel.services.literature.service_client import ServiceClient

# Works that the services have had for years. By identifier, which is free where others are not.
_WORKS: Mapping[str, Identifier] = {
    "pubmed": Pmid("29456894"),
    "arxiv": ArxivId("1706.03762"),
    "datacite": Doi("10.48550/arxiv.1706.03762"),
    "biorxiv": Doi("10.1101/2020.09.09.20191205"),
}
_WORK = Doi("10.7717/peerj.4375")
_WORDS = "attention is all you need"


@dataclass(frozen=True, slots=True)
class Probe:
    """What came of one question; with `failure` it was not answered, and `reason` says why."""

    service: str
    title: str
    failure: FailureKind | None = None
    reason: str = ""
    # Whether the work came that the service is known to have.
    is_found: bool = False
    asked_for: str = ""
    pool: str = ""
    cost: ServiceCost = field(default_factory=ServiceCost)


async def probe_services(
    client: ServiceClient, services: Mapping[str, LiteratureService], seconds: float
) -> list[Probe]:
    """Every service asked once, side by side, by a client that has no cache."""
    watch = _PoolWatch()
    client.observer = watch.see
    with client.deadline(seconds):
        probes = [_probe(service, watch, seconds) for service in services.values()]
        return list(await asyncio.gather(*probes))


class _PoolWatch:
    """Remembers in which pool each service answered."""

    def __init__(self) -> None:
        self.pools: dict[str, str] = {}

    def see(self, service: str, answer: HttpAnswer) -> None:
        pool = answer.headers.get("x-api-pool", "")
        if pool:
            self.pools[service] = pool


async def _probe(service: LiteratureService, watch: _PoolWatch, seconds: float) -> Probe:
    work = _WORKS.get(service.name, _WORK)
    try:
        async with asyncio.timeout(seconds):
            is_found, cost = await _ask(service, work)
    except TimeoutError:
        reason = f"{service.title} did not answer within {seconds:g} seconds"
        return Probe(service.name, service.title, "timed_out", reason)
    except LiteratureServiceError as error:
        return Probe(service.name, service.title, error.failure, error.reason)
    return Probe(
        service.name,
        service.title,
        is_found=is_found,
        asked_for=str(work) if hasattr(service, "look_up") else _WORDS,
        pool=watch.pools.get(service.name, ""),
        cost=cost,
    )


async def _ask(service: LiteratureService, work: Identifier) -> tuple[bool, ServiceCost]:
    if hasattr(service, "look_up"):
        found = await cast("RecordService", service).look_up([work])
        return bool(found.found), found.cost
    request = ServiceSearchRequest(parse_paper_query(_WORDS), limit=1)
    answer = await cast("SearchService", service).search(request)
    return bool(answer.records), answer.cost
