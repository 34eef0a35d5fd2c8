"""The world outside for tests: a local server that speaks as the services do, with their records.

What is asked for by identifier is answered from the recordings, whatever fields are selected. A
search is answered with a few recorded works in the service's own frame, whatever the words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from carrel.services.literature.recordings import Exchange, read_exchange
from carrel.settings import Settings
from tests.loopback_server import Asked, Canned
from tests.services.literature.recorded import SERVICES_DATA, RecordedServices

CHEMCROW = "10.1038/s42256-024-00832-8"
XGEN = "10.1016/j.xgen.2025.100814"
REACTIONS = "10.1007/s40278-023-41815-2"
SERVICES = ("openalex", "crossref", "pubmed", "europepmc", "arxiv")
_JSON = {"content-type": "application/json"}
_PRICE = {
    "x-ratelimit-limit-usd": "1",
    "x-ratelimit-remaining-usd": "0.85",
    "x-ratelimit-cost-usd": "0.001",
    "x-ratelimit-reset": "3600",
}


def recording(name: str) -> Exchange:
    """The recorded exchange whose file begins so: `openalex/005`."""
    folder, _, number = name.partition("/")
    (found,) = (
        path
        for path in (SERVICES_DATA / folder).glob(f"{number}-*.json")
        if ".body." not in path.name
    )
    return read_exchange(found)


def recorded_json(name: str) -> Any:
    return json.loads(recording(name).body)


@dataclass
class Outside(RecordedServices):
    """Open it with `with`; `settings` points a desk to it.

    `faults` has, by service, an answer that is given to everything asked there.
    """

    faults: dict[str, Canned] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._searches = _searches()

    def answer(self, asked: Asked) -> Canned:
        service = asked.path.split("/")[1]
        if service in self.faults:
            self.asked.append(asked)
            return self.faults[service]
        path = unquote(urlsplit(asked.path).path)
        for (known, ending), body in self._searches.items():
            if known == service and path.endswith(ending):
                self.asked.append(asked)
                return body
        by_path = self._by_path(service, path)
        if by_path is not None:
            self.asked.append(asked)
            return by_path
        return super().answer(asked)

    def _by_path(self, service: str, path: str) -> Canned | None:
        name = path.split(f"/{service}/works/", 1)[-1].removeprefix("doi:").lower()
        found = _WORKS.get((service, name))
        if found is None:
            return None
        exchange = recording(found)
        return exchange.status, dict(exchange.headers), exchange.body

    def asked_of(self, service: str) -> list[Asked]:
        return [each for each in self.asked if each.path.startswith(f"/{service}/")]

    def settings(self, home: Path, **literature: Any) -> Settings:
        """A desk whose every service is here."""
        names = (*SERVICES, "semantic_scholar", "dblp", "datacite", "doaj", "unpaywall")
        addresses = {name: self.url(name) for name in (*names, "opencitations", "biorxiv")}
        return Settings.model_validate(
            {
                "home": home,
                "audit": {"enabled": False},
                "literature": {"addresses": addresses, "contact": "me@example.org", **literature},
            }
        )


_WORKS: Mapping[tuple[str, str], str] = {
    ("openalex", XGEN): "openalex/005",
    ("openalex", REACTIONS): "openalex/007",
    ("openalex", "w4408732759"): "openalex/005",
    ("crossref", CHEMCROW): "crossref/008",
    ("crossref", REACTIONS): "crossref/010",
    ("crossref", XGEN): "crossref/023",
}


def _searches() -> dict[tuple[str, str], Canned]:
    """Answers to searches, by service and the end of the path."""
    openalex = [
        *recorded_json("openalex/012")["results"],
        recorded_json("openalex/005"),
        recorded_json("openalex/007"),
    ]
    items = [recorded_json(name)["message"] for name in ("crossref/008", "crossref/023")]
    return {
        ("openalex", "/works"): (
            200,
            {**_JSON, **_PRICE},
            _dump({"meta": {"count": 1234, "next_cursor": None}, "results": openalex}),
        ),
        ("crossref", "/works"): (
            200,
            _JSON,
            _dump({"status": "ok", "message": {"total-results": 2, "items": items}}),
        ),
        ("europepmc", "/search"): _as_recorded("europepmc", "resultType=core"),
        ("arxiv", "/query"): _as_recorded("arxiv", "search_query"),
        ("pubmed", "/esearch.fcgi"): (
            200,
            {"content-type": "text/xml"},
            b"<eSearchResult><Count>0</Count><RetMax>0</RetMax><IdList/></eSearchResult>",
        ),
    }


def _as_recorded(folder: str, part: str) -> Canned:
    """The first recorded search of a service that found something."""
    for path in sorted((SERVICES_DATA / folder).glob("*.json")):
        if ".body." in path.name:
            continue
        exchange = read_exchange(path)
        if exchange.status == 200 and part in exchange.url and len(exchange.body) > 2000:
            return exchange.status, dict(exchange.headers), exchange.body
    raise LookupError(f"no recording of {folder} with {part}")


def _dump(value: object) -> bytes:
    return json.dumps(value).encode()


def names(works: Iterable[Mapping[str, Any]]) -> list[str]:
    return [str(work["id"]) for work in works]
