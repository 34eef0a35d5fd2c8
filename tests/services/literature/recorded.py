"""A local server that answers as services once did, from recorded exchanges.

Each service is under its name: `http://127.0.0.1:port/openalex/works?search=…`. What is asked
after the name is either the path at the service's host or the path after the service's usual
base, such as `/europepmc/search`. Who asks (mailto, email, api_key, tool) and the order of
parameters do not matter. A request without a recording is answered by 404 with the header
`x-not-recorded`, and is in `missing`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from carrel.services.literature.recordings import Exchange, read_exchanges
from carrel.services.literature.requests import RequestKey, request_key
from tests.loopback_server import Asked, Canned, LoopbackServer

SERVICES_DATA = Path(__file__).parents[3] / ".." / "shared" / "data" / "services"
needs_recordings = pytest.mark.skipif(
    not (SERVICES_DATA / "index.json").is_file(), reason="the shared recordings are not here"
)
# Where the folder of recordings has another name than the service.
_FOLDERS = {"semanticscholar": "semantic_scholar", "ncbi-idconv": "idconv", "doi": "doi_org"}
_BASES = (
    "/entrez/eutils",
    "/europepmc/webservices/rest",
    "/graph/v1",
    "/api/v2",
    "/api",
    "/v2",
    "/v1",
    "/index/coci/api/v1",
    "/pmc/utils/idconv/v1.0",
)


@dataclass
class RecordedServices(LoopbackServer):
    """Open it with `with`; `url("openalex")` is the service's base address.

    Of several recordings of one request the last that succeeded is given. `add` puts in further
    exchanges, and `first` holds answers (status, headers, body) given before any recording.
    """

    folder: Path = SERVICES_DATA
    services: Iterable[str] | None = None
    asked: list[Asked] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    first: list[Canned] = field(default_factory=list)
    # Answers by the beginning of the path, given where no recording is.
    given: dict[str, Canned] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known: dict[RequestKey, Exchange] = {}
        wanted = None if self.services is None else set(self.services)
        for service_folder in sorted(path for path in self.folder.glob("*") if path.is_dir()):
            service = _FOLDERS.get(service_folder.name, service_folder.name)
            if wanted is not None and service not in wanted:
                continue
            for _, exchange in read_exchanges(service_folder):
                self.add(service, exchange)

    def add(self, service: str, exchange: Exchange) -> None:
        """Answer this exchange under the service's name; it wins over an earlier failure."""
        parts = urlsplit(exchange.url)
        query = f"?{parts.query}" if parts.query else ""
        tails = {parts.path, *(parts.path.removeprefix(base) for base in _BASES)}
        for tail in tails:
            key = self._key(
                exchange.method, f"/{service}/{tail.lstrip('/')}{query}", exchange.request_body
            )
            known = self._known.get(key)
            if known is None or exchange.status == 200 or known.status != 200:
                self._known[key] = exchange

    def url(self, service: str) -> str:
        return f"{self.base}/{service}"

    def answer(self, asked: Asked) -> Canned:
        self.asked.append(asked)
        if self.first:
            return self.first.pop(0)
        found = self._known.get(self._key(asked.method, asked.path, asked.body))
        for start, reply in self.given.items() if found is None else ():
            if asked.path.startswith(start):
                return reply
        if found is None:
            self.missing.append(asked.path)
            mark = json.dumps({"not_recorded": asked.path}).encode()
            return 404, {"content-type": "application/json", "x-not-recorded": "1"}, mark
        headers = dict(found.headers)
        if location := headers.get("location"):
            service = asked.path.split("/")[1]
            headers["location"] = f"/{service}{urlsplit(location).path}"
        return found.status, headers, found.body

    def _key(self, method: str, path: str, body: str) -> RequestKey:
        return request_key(method, f"http://recorded{path}", body)
