"""A request as it leaves, beside the request as it may be shown and kept: without secrets."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import quote, quote_plus, urlencode
from urllib.request import getproxies

import httpx2

from carrel import __version__
from carrel.services.fetching import (
    AnswerBrokenOffError,
    AnswerRefusedError,
    AnswerTooLargeError,
    ConnectionFailedError,
    Fetcher,
    FetchLimits,
    FetchTimeoutError,
    HttpAnswer,
    Redirects,
)
from carrel.services.literature.announced_limits import service_key
from carrel.services.literature.errors import (
    NetworkUnavailableError,
    ServiceFailedError,
    ServiceTimeoutError,
    UnreadableAnswerError,
)
from carrel.services.literature.recordings import Exchange
from carrel.services.literature.requests import RequestKey, request_key
from carrel.services.pinned_transport import TRUSTED_ORIGIN, PinnedTransport, origin_of

_MASK = b"***"
_WHO_ASKS = frozenset({"mailto", "email", "tool"})
_NEVER_SHOWN = _WHO_ASKS | {"api_key", "apikey"}
# Shorter values would be found by chance in an answer.
_LEAST_SECRET = 6
_PUBLIC_HOSTS = frozenset({
    "api.openalex.org", "api.crossref.org", "doi.org", "eutils.ncbi.nlm.nih.gov",
    "pmc.ncbi.nlm.nih.gov", "www.ebi.ac.uk", "export.arxiv.org", "arxiv.org",
    "api.semanticscholar.org", "dblp.org", "api.datacite.org", "doaj.org", "api.unpaywall.org",
    "api.opencitations.net", "api.biorxiv.org", "openlibrary.org", "www.googleapis.com",
})  # fmt: skip
# Services that count single records and lists apart, and the beginning of a single record's path.
_SINGLE = {"crossref": re.compile(r"/works/[^/]"), "openalex": re.compile(r"/works/[^/]")}
# What makes an address climb: a part of its path that is `.` or `..`, also percent-encoded.
_DOT_SEGMENT = re.compile(r"[/\\](?:\.|%2e){1,2}(?=[/\\]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request; only `wire_url` and `wire_headers` hold keys and the contact address."""

    service: str
    method: str
    shown_url: str
    accept: str
    body: str
    key: RequestKey
    digest: str
    lane: str
    has_key: bool
    wire_url: str
    wire_headers: Mapping[str, str]
    secrets: re.Pattern[bytes] | None

    def scrub(self, answer: HttpAnswer) -> HttpAnswer:
        """The answer with plain headers, and without echoes of keys and the contact address."""
        headers = {name.lower(): value for name, value in answer.headers.items()}
        pattern = self.secrets
        if pattern is None:
            return HttpAnswer(answer.status, headers, answer.body)
        return HttpAnswer(
            answer.status,
            {
                name: pattern.sub(_MASK, value.encode()).decode(errors="replace")
                for name, value in headers.items()
            },
            pattern.sub(_MASK, answer.body),
        )

    def exchange(self, answer: HttpAnswer, recorded: str) -> Exchange:
        return Exchange(
            self.method,
            self.shown_url,
            answer.status,
            answer.headers,
            answer.body,
            self.body,
            recorded,
        )


def refuse_climbing(service: str, address: str) -> None:
    """Raises for a path with `/../`: by it an identifier would ask another question, with our key.

    No service is known to have such an identifier.
    """
    if _DOT_SEGMENT.search(re.split(r"[?#]", address, maxsplit=1)[0]):
        raise ServiceFailedError(service, "the identifier climbs out of its path", is_final=True)


def build_request(
    service: str,
    address: str,
    *,
    params: Mapping[str, str] | None = None,
    accept: str = "*/*",
    json_body: object = None,
    form_body: Mapping[str, str] | None = None,
    secret_params: Mapping[str, str] | None = None,
    secret_headers: Mapping[str, str] | None = None,
    contact: str = "",
) -> Outgoing:
    """A request of these parts; raises ServiceFailedError for an address that is none."""
    try:
        everything = httpx2.URL(address).copy_merge_params(dict(params or {}))
    except httpx2.InvalidURL as error:
        raise ServiceFailedError(service, f"its address is no URL: {error}") from error
    hidden = {
        name: value
        for name, value in everything.params.multi_items()
        if name.lower() in _NEVER_SHOWN
    }
    shown = everything
    for name in hidden:
        shown = shown.copy_remove_param(name)
    secret = {**hidden, **(secret_params or {})}
    wire = shown.copy_merge_params(secret) if secret else shown
    body, content_type = _body(json_body, form_body)
    method = "POST" if content_type else "GET"
    headers = {"Accept": accept, **(secret_headers or {})}
    if content_type:
        headers["Content-Type"] = content_type
    keys = {name: value for name, value in secret.items() if name.lower() not in _WHO_ASKS}
    told = [value for name, value in secret.items() if name.lower() != "tool"]
    values = [contact, *told, *(secret_headers or {}).values()]
    key = request_key(method, str(shown), body)
    return Outgoing(
        service,
        method,
        str(shown),
        accept,
        body,
        key,
        hashlib.sha256(f"{accept} {key.digest}".encode()).hexdigest(),
        _lane(service, shown),
        bool(keys or secret_headers),
        str(wire),
        headers,
        _pattern(values),
    )


class Wire:
    """Sends requests; connections are opened when first needed.

    A redirect to another host is reached only at a public address, and never with a secret.
    Proxies of the environment are used, and the one given before them.
    """

    def __init__(self, contact: str, limits: FetchLimits, proxy: str | None = None) -> None:
        self._contact = contact
        self._limits = limits
        self._proxy = proxy
        self._fetchers: dict[Redirects, Fetcher] = {}
        self._transport: PinnedTransport | None = None

    async def send(self, request: Outgoing, validators: Mapping[str, str]) -> HttpAnswer:
        """The answer with any status, without echoes; raises a WorkLookupError."""
        service = request.service
        fetcher = self._fetcher(Redirects.SAME_HOST if request.has_key else Redirects.ANY)
        headers = {**request.wire_headers, **validators}
        extensions = {TRUSTED_ORIGIN: origin_of(httpx2.URL(request.wire_url))}
        try:
            if request.method == "GET":
                answer = await fetcher.get(request.wire_url, headers=headers, extensions=extensions)
            else:
                content = request.body.encode()
                answer = await fetcher.post(
                    request.wire_url, content, headers=headers, extensions=extensions
                )
        except AnswerBrokenOffError as error:
            raise ServiceFailedError(service, str(error)) from error
        except ConnectionFailedError as error:
            raise NetworkUnavailableError(service, request.shown_url, str(error)) from error
        except FetchTimeoutError as error:
            raise ServiceTimeoutError(service, str(error)) from error
        except AnswerTooLargeError as error:
            raise UnreadableAnswerError(service, str(error), is_final=True) from error
        except AnswerRefusedError as error:
            raise ServiceFailedError(service, str(error), is_final=True) from error
        return request.scrub(answer)

    async def close(self) -> None:
        for fetcher in self._fetchers.values():
            await fetcher.close()
        self._fetchers.clear()
        self._transport = None

    def _fetcher(self, redirects: Redirects) -> Fetcher:
        found = self._fetchers.get(redirects)
        if found is not None:
            return found
        contact = f" (mailto:{self._contact})" if self._contact else ""
        limits = FetchLimits(
            total_seconds=self._limits.total_seconds,
            max_bytes=self._limits.max_bytes,
            read_seconds=self._limits.read_seconds,
            connect_seconds=self._limits.connect_seconds,
            redirects=redirects,
            max_redirects=self._limits.max_redirects,
        )
        headers = {"User-Agent": f"Carrel/{__version__}{contact}", "Accept-Encoding": "gzip"}
        if self._proxy is None and getproxies().keys() & {"http", "https", "all"}:
            fetcher = Fetcher(limits, headers=headers)
        else:
            if self._transport is None:
                self._transport = PinnedTransport(proxy=self._proxy)
            fetcher = Fetcher(limits, headers=headers, trust_env=False, transport=self._transport)
        self._fetchers[redirects] = fetcher
        return fetcher


def show_time(seconds: float) -> str:
    """A time as ISO text in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def read_time(text: str) -> str:
    """The same from an ISO text or the date of a header; empty where it is neither."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(text).astimezone(UTC).isoformat(timespec="seconds")
        except (ValueError, TypeError, OverflowError):
            continue
    return ""


def _body(json_body: object, form_body: Mapping[str, str] | None) -> tuple[str, str]:
    if json_body is not None:
        return json.dumps(json_body, ensure_ascii=False), "application/json"
    if form_body is not None:
        return urlencode(form_body), "application/x-www-form-urlencoded"
    return "", ""


def _lane(service: str, url: httpx2.URL) -> str:
    """Which requests take turns: those to a host, apart where the service counts them apart."""
    name = service_key(service)
    host = url.host.lower() if url.host in _PUBLIC_HOSTS else f"{origin_of(url)}/{name}"
    single = _SINGLE.get(name)
    if single is None:
        return host
    return f"{host}#{'single' if single.search(url.path) else 'list'}"


def _pattern(values: list[str]) -> re.Pattern[bytes] | None:
    forms: set[str] = set()
    for given in values:
        value = given.strip().removeprefix("Bearer ")
        if len(value) >= _LEAST_SECRET:
            escaped = json.dumps(value)[1:-1]
            forms |= {value, quote(value, safe=""), quote_plus(value), html.escape(value), escaped}
    if not forms:
        return None
    ordered = sorted(forms, key=len, reverse=True)
    return re.compile(b"|".join(re.escape(form.encode()) for form in ordered), re.IGNORECASE)
