"""Drives adapters of services against answers that a test puts under the addresses they ask."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlencode

from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.literature.ports import SearchOrder, ServiceSearchRequest
from carrel.services.literature.recordings import Exchange, read_exchange
from carrel.services.literature.service_client import ServiceClient
from tests.services.literature.fake_time import LongestWaits, Waits
from tests.services.literature.recorded import SERVICES_DATA, RecordedServices

ResultT = TypeVar("ResultT")
CONTACT = "librarian@institute.example"


def body_of(service: str, number: str) -> bytes:
    """The body of a recording, by the number its file begins with."""
    return exchange_of(service, number).body


def exchange_of(service: str, number: str) -> Exchange:
    paths = [
        path
        for path in (SERVICES_DATA / service).glob(f"{number}-*.json")
        if path.suffix == ".json"
    ]
    assert paths, f"{service} has no recording {number}"
    return read_exchange(paths[0])


def make_request(
    text: str, limit: int = 25, order: SearchOrder = "relevance", *, preprints: bool = True
) -> ServiceSearchRequest:
    return ServiceSearchRequest(
        parse_paper_query(text), limit=limit, order=order, includes_preprints=preprints
    )


@dataclass
class AnsweringServer:
    """A server for one service; `put` says what it answers, `run` opens it and asks."""

    service: str
    server: RecordedServices = field(default_factory=lambda: RecordedServices(services=()))
    waits: Waits = field(default_factory=Waits)

    def put(
        self,
        path: str,
        params: dict[str, str] | None,
        body: bytes | str,
        status: int = 200,
        content_type: str = "application/json",
        form: dict[str, str] | None = None,
    ) -> None:
        """Answer a GET of path and parameters, or a POST of a form."""
        query = f"?{urlencode(params)}" if params else ""
        self.server.add(
            self.service,
            Exchange(
                "GET" if form is None else "POST",
                f"https://host.example{path}{query}",
                status,
                {"content-type": content_type},
                body if isinstance(body, bytes) else body.encode(),
                urlencode(form) if form else "",
            ),
        )

    def run(self, ask: Callable[[ServiceClient, str], Awaitable[ResultT]]) -> ResultT:
        async def asked(url: str) -> ResultT:
            async with ServiceClient(
                CONTACT,
                sleep=self.waits.sleep,
                clock=self.waits.clock,
                now=lambda: 0.0,
                rng=LongestWaits(),
            ) as client:
                return await ask(client, url)

        with self.server as server:
            return asyncio.run(asked(server.url(self.service)))

    @property
    def paths(self) -> list[str]:
        return [each.path for each in self.server.asked]
