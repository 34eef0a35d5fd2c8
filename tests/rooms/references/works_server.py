"""A local server that knows works as doi.org, Crossref, PubMed and arXiv do, and can be slow, half
dead or dead.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.loopback_server import Asked, Canned, LoopbackServer
from tests.services.literature.services import ARXIV, ARXIV_ENTRY, PUBMED, PUBMED_ARTICLE

_WAIT_SECONDS = 60
# As Crossref announces them; high, so that a test need not wait for its turn.
_LIMITS = {"x-rate-limit-limit": "5000", "x-rate-limit-interval": "1s", "x-concurrency-limit": "4"}


@dataclass
class WorksServer(LoopbackServer):
    """What it was asked. DOIs in `held` are answered once `release` is set, by the test or by as
    many
    questions at once as `releases_at` says; `broken` says how to fail, as an HTTP status."""

    asked: list[str] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    broken: dict[str, int] = field(default_factory=dict)
    breaks_all: int | None = None
    release: threading.Event = field(default_factory=threading.Event)
    releases_at: int | None = None
    most_at_once: int = 0
    _at_once: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def services(self) -> dict[str, str]:
        return {
            "doi_org": f"{self.base}/doi",
            "crossref": f"{self.base}/crossref",
            "pubmed": f"{self.base}/pubmed",
            "pmc": f"{self.base}/pmc",
            "arxiv": f"{self.base}/arxiv",
            "open_library": f"{self.base}/open_library",
            "google_books": f"{self.base}/google_books",
        }

    def answer(self, asked: Asked) -> Canned:
        with self._lock:
            self.asked.append(asked.path)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            if self._at_once == self.releases_at:
                self.release.set()
        try:
            status, kind, body = self._answer(asked.path)
        finally:
            with self._lock:
                self._at_once -= 1
        return status, {**_LIMITS, "content-type": kind}, body

    def _answer(self, path: str) -> tuple[int, str, bytes]:
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        _, service, *rest = unquote(parts.path).split("/")
        name = "/".join(rest).removeprefix("works/")
        if self.breaks_all is not None or name in self.broken:
            return self.breaks_all or self.broken[name], "text/plain", b"broken"
        match service:
            case "doi":
                if name in self.held:
                    self.release.wait(_WAIT_SECONDS)
                if not name.startswith("10.5555/work"):
                    return 404, "text/html", b"<html>DOI not found</html>"
                return (
                    200,
                    "application/vnd.citationstyles.csl+json",
                    json.dumps(csl(name)).encode(),
                )
            case "pubmed":
                records = "".join(PUBMED_ARTICLE % number for number in query["id"].split(","))
                return 200, "text/xml", (PUBMED % records).encode()
            case "arxiv":
                entries = "".join(
                    ARXIV_ENTRY.replace("hep-ex/0307015v1", f"{one}v1").replace(
                        "10.1140/epjc/s2003-01326-x", f"10.5555/{one}"
                    )
                    for one in query["id_list"].split(",")
                )
                return 200, "application/atom+xml", (ARXIV % entries).encode()
        return 404, "text/plain", b"Resource not found."


def csl(doi: str) -> dict[str, Any]:
    """A record of a DOI as content negotiation gives it."""
    number = doi.removeprefix("10.5555/work")
    return {
        "type": "article-journal",
        "DOI": doi,
        "title": f"Work {number}",
        "author": [{"given": "Ann", "family": f"Author{number}"}],
        "issued": {"date-parts": [[2020]]},
        "container-title": "Journal of Works",
    }


def doi(number: int) -> str:
    return f"10.5555/work{number}"


@contextmanager
def works_server() -> Iterator[WorksServer]:
    with WorksServer() as works:
        try:
            yield works
        finally:
            works.release.set()
