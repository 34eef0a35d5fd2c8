"""A browser without scripts: keeps cookies, reads HTML, and sends forms with their token."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urljoin

import httpx2

_TOKEN = re.compile(r'<meta name="csrf" content="([0-9a-f]{80})">')
_TAG = re.compile(r"<[^>]+>")


@dataclass(slots=True)
class Page:
    """An answered request."""

    response: httpx2.Response

    @property
    def status(self) -> int:
        return int(self.response.status_code)

    @property
    def html(self) -> str:
        return str(self.response.text)

    @property
    def text(self) -> str:
        """What a reader sees, with single spaces."""
        bare = re.sub(r"<(script|style)\b.*?</\1>", " ", self.html, flags=re.DOTALL)
        return re.sub(r"\s+", " ", unescape(_TAG.sub(" ", bare))).strip()

    @property
    def csrf(self) -> str:
        found = _TOKEN.search(self.html)
        return found[1] if found else ""


@dataclass(slots=True)
class ConsoleClient:
    """Somebody at the console of a server."""

    url: str
    session: httpx2.Client = field(default_factory=lambda: httpx2.Client(timeout=60))
    token: str = ""

    def get(self, path: str, **headers: str) -> Page:
        """A page, with redirects followed."""
        sent = {"accept": "text/html", **headers}
        page = Page(self.session.get(urljoin(self.url, path), headers=sent, follow_redirects=True))
        self.token = page.csrf or self.token
        return page

    def post(self, path: str, *, follow: bool = True, **form: Any) -> Page:
        """A form as our own page would send it."""
        if not self.token:
            self.get("/")
        fields = {"csrf": self.token, **form}
        page = self.send(path, fields)
        while follow and page.response.is_redirect:
            page = self.get(page.response.headers["location"])
        return page

    def send(self, path: str, fields: dict[str, Any], **headers: str) -> Page:
        """A form with exactly these fields and headers."""
        sent = {"accept": "text/html", "origin": self.url, "sec-fetch-site": "same-origin"}
        return Page(
            self.session.post(urljoin(self.url, path), data=fields, headers={**sent, **headers})
        )

    def call(self, operation: str, **arguments: Any) -> httpx2.Response:
        """An operation as a module of ours calls it."""
        if not self.token:
            self.get("/")
        headers = {"x-csrf": self.token, "sec-fetch-site": "same-origin", "origin": self.url}
        body = {"operation": operation, "arguments": arguments}
        return self.session.post(f"{self.url}/call", json=body, headers=headers)

    def log_in(self, name: str, password: str) -> Page:
        self.get("/login")
        return self.post("/login", username=name, password=password)
