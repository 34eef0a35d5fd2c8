"""OAuth clients: from settings, by registration, or by metadata document."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from carrel.core.clock import Clock
from carrel.core.errors import RateLimitExceededError, UnavailableError
from carrel.policy.authorization.models import (
    AccessStore,
    Client,
    ClientDocuments,
    ClientKind,
    OAuthError,
    UntrustedRequestError,
)
from carrel.policy.authorization.redirects import APP_SCHEMES, problem_with_redirect
from carrel.policy.limits import Buckets, Rate

MOST_CLIENTS = 10_000
_UNUSED_SECONDS = 24 * 3600.0
_IDLE_SECONDS = 90 * 24 * 3600.0
_TIDY_SECONDS = 300.0
_MOST_REDIRECTS = 20
_GRANT_TYPES = {"authorization_code", "refresh_token"}


class Clients:
    """Finds and registers clients."""

    def __init__(
        self,
        store: AccessStore,
        buckets: Buckets,
        clock: Clock,
        *,
        known: Iterable[Client] = (),
        documents: ClientDocuments | None = None,
        registration: Rate | None,
        redirect_hosts: Collection[str] = ("*",),
        redirect_schemes: Collection[str] = APP_SCHEMES,
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._clock = clock
        self._known = {client.client_id: client for client in known}
        self._lookups = (
            None
            if documents is None
            else DocumentLookups(documents, buckets, clock, self._read_document)
        )
        self._registration = registration
        self._redirect_hosts = tuple(redirect_hosts)
        self._redirect_schemes = frozenset(redirect_schemes)
        self._tidied_at = 0.0

    @property
    def may_register(self) -> bool:
        return self._registration is not None

    @property
    def reads_documents(self) -> bool:
        return self._lookups is not None

    async def find(self, client_id: str, address: str) -> Client | None:
        """The client of this id, or None; raises UntrustedRequestError for an unusable document."""
        if client_id in self._known:
            return self._known[client_id]
        if client_id.startswith("https://"):
            return await self._from_document(client_id, address)
        return (
            await self._store.client(client_id)
            if len(client_id) <= 200 and client_id.isprintable()
            else None
        )

    async def register(self, facts: object, address: str) -> Client:
        """Registers a client (RFC 7591); every client is public. Raises OAuthError."""
        if self._registration is None:
            raise OAuthError(
                "access_denied",
                "Registration is turned off; ask the operator to name the client in auth.clients",
            )
        taken = await self._buckets.take(f"register:{address}", 1.0, self._registration)
        if not taken.is_granted:
            wait = max(1, math.ceil((1.0 - taken.tokens) / self._registration.per_second))
            raise OAuthError(
                "temporarily_unavailable",
                "Too many registrations from this address",
                retry_after_seconds=wait,
            )
        if not isinstance(facts, dict):
            raise OAuthError("invalid_client_metadata", "The registration must be a JSON object")
        now = self._clock.now().timestamp()
        await self.tidy()
        if await self._store.count_clients() >= MOST_CLIENTS:
            raise OAuthError(
                "temporarily_unavailable",
                "Too many clients are registered here",
                retry_after_seconds=3600,
            )
        client = self._read(f"c_{secrets.token_urlsafe(16)}", facts, ClientKind.REGISTERED, now)
        await self._store.add_client(client)
        return client

    def check_redirect(self, uri: str, client: Client) -> None:
        """Raises UntrustedRequestError for an address that could not be registered today."""
        problem = self._problem_with_redirect(uri, client.kind)
        if problem is not None:
            raise UntrustedRequestError(
                f"The client's address to return to cannot be used: {problem}"
            )

    def _problem_with_redirect(self, uri: str, kind: ClientKind) -> str | None:
        hosts = ("*",) if kind is ClientKind.SETTINGS else self._redirect_hosts
        return problem_with_redirect(uri, hosts, self._redirect_schemes)

    async def tidy(self) -> None:
        """Delete unused clients and expired records, at most every few minutes."""
        now = self._clock.now().timestamp()
        if now - self._tidied_at < _TIDY_SECONDS:
            return
        self._tidied_at = now
        await self._store.clean_up(
            unused_before=now - _UNUSED_SECONDS, idle_before=now - _IDLE_SECONDS, now=now
        )

    async def _from_document(self, url: str, address: str) -> Client | None:
        if self._lookups is None:
            return None
        problem = _problem_with_document_address(url)
        if problem is not None:
            raise UntrustedRequestError(
                f"The client's id cannot be its document's address: {problem}"
            )
        return await self._lookups.find(url, address)

    def _read_document(self, url: str, facts: Mapping[str, Any]) -> Client:
        if facts.get("client_id") != url:
            raise UntrustedRequestError("The client's document is about another client")
        try:
            return self._read(url, facts, ClientKind.DOCUMENT, self._clock.now().timestamp())
        except OAuthError as error:
            raise UntrustedRequestError(
                f"The client's document cannot be used: {error.message}"
            ) from None

    def _read(
        self, client_id: str, facts: Mapping[str, Any], kind: ClientKind, now: float
    ) -> Client:
        redirects = facts.get("redirect_uris")
        if not isinstance(redirects, list) or not 0 < len(redirects) <= _MOST_REDIRECTS:
            raise OAuthError(
                "invalid_redirect_uri", f"redirect_uris must list 1 to {_MOST_REDIRECTS} addresses"
            )
        for uri in redirects:
            problem = (
                self._problem_with_redirect(uri, kind)
                if isinstance(uri, str)
                else "it is not a string"
            )
            if problem is not None:
                raise OAuthError(
                    "invalid_redirect_uri", f"{str(uri)[:100]!r} cannot be used: {problem}"
                )
        _check_list(facts, "grant_types", _GRANT_TYPES, "authorization_code")
        _check_list(facts, "response_types", {"code"}, "code")
        if (
            kind is ClientKind.DOCUMENT
            and facts.get("token_endpoint_auth_method", "none") != "none"
        ):
            raise OAuthError(
                "invalid_client_metadata",
                "token_endpoint_auth_method must be none: clients here are public",
            )
        website = facts.get("client_uri")
        shown = (
            website
            if isinstance(website, str) and website.startswith("https://") and website.isascii()
            else None
        )
        return Client(
            client_id,
            clean_name(facts.get("client_name")) or "A client without a name",
            tuple(redirects),
            kind,
            created_at=now,
            website=shown[:300] if shown else None,
        )


def clean_name(name: object) -> str:
    """A client's name for display: one line of printable characters of limited length."""
    text = (
        "".join(sign if sign.isprintable() else " " for sign in name)
        if isinstance(name, str)
        else ""
    )
    return " ".join(text.split())[:80]


def _check_list(facts: Mapping[str, Any], name: str, known: set[str], needed: str) -> None:
    """Check that the one supported value is in the list (RFC 7591)."""
    values = facts.get(name)
    if values is None:
        return
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise OAuthError("invalid_client_metadata", f"{name} must be a list of strings")
    if needed not in values:
        raise OAuthError(
            "invalid_client_metadata",
            f"{name} must have {needed}; this server offers {', '.join(sorted(known))}",
        )


def _problem_with_document_address(url: str) -> str | None:
    if len(url) > 1000 or not url.isascii() or not url.isprintable() or " " in url:
        return "it is too long or has characters that do not belong in one"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "it is not an address"
    if (
        not parts.hostname
        or parts.username
        or parts.password
        or parts.fragment
        or "#" in url
        or port not in {None, 443}
    ):
        return "it must be a plain https address"
    if parts.path in {"", "/"} or any(piece in {".", ".."} for piece in parts.path.split("/")):
        return "it must have a path without dots"
    return None


ReadDocument = Callable[[str, Mapping[str, Any]], Client]

# Only network look-ups are counted, not cache hits; one address is one person with a few apps.
PER_ADDRESS = Rate(per_minute=10.0, burst=10.0)
IN_TOTAL = Rate(per_minute=60.0, burst=30.0)
MOST_AT_ONCE = 8
_MOST_REMEMBERED = 500
_FAILURE_SECONDS = 60.0
# A document past its time is still used this long when a new look-up is refused by the limits.
_STALE_SECONDS = 86_400.0


class _Remembered(NamedTuple):
    client: Client
    fresh_until: float


class _Failed(NamedTuple):
    message: str
    until: float


class DocumentLookups:
    """Finds clients by the URL of their metadata document."""

    def __init__(
        self, documents: ClientDocuments, buckets: Buckets, clock: Clock, read: ReadDocument
    ) -> None:
        self._documents = documents
        self._buckets = buckets
        self._clock = clock
        self._read = read
        self._remembered: OrderedDict[str, _Remembered] = OrderedDict()
        self._failed: OrderedDict[str, _Failed] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[Client]] = {}

    async def find(self, url: str, address: str) -> Client:
        """Raises UntrustedRequestError with the reason, or RateLimitExceededError."""
        now = self._clock.monotonic()
        remembered = self._remembered.get(url)
        if remembered is not None:
            self._remembered.move_to_end(url)
            if now < remembered.fresh_until:
                return remembered.client
        failed = self._failed.get(url)
        if failed is not None and now < failed.until:
            raise UntrustedRequestError(failed.message)
        under_way = self._under_way.get(url)
        if under_way is None:
            try:
                await self._charge(address)
            except RateLimitExceededError:
                if remembered is not None and now < remembered.fresh_until + _STALE_SECONDS:
                    return remembered.client
                raise
            under_way = self._under_way.get(url) or self._begin(url)
        # One who hangs up must not end the look-up of the others; it has a time limit of its own.
        return await asyncio.shield(under_way)

    async def _charge(self, address: str) -> None:
        if len(self._under_way) >= MOST_AT_ONCE:
            raise RateLimitExceededError(5)
        for key, rate in ((f"document:{address}", PER_ADDRESS), ("document:all", IN_TOTAL)):
            taken = await self._buckets.take(key, 1.0, rate)
            if not taken.is_granted:
                raise RateLimitExceededError(math.ceil((1.0 - taken.tokens) / rate.per_second))

    def _begin(self, url: str) -> asyncio.Task[Client]:
        task = asyncio.create_task(self._look_up(url))
        self._under_way[url] = task
        task.add_done_callback(lambda done: self._end(url, done))
        return task

    def _end(self, url: str, task: asyncio.Task[Client]) -> None:
        self._under_way.pop(url, None)
        if not task.cancelled():
            # Asked for, so that a failure nobody waits for any more is not reported as forgotten.
            task.exception()

    async def _look_up(self, url: str) -> Client:
        try:
            facts, fresh_seconds = await self._documents.fetch(url)
            client = self._read(url, facts)
        except UnavailableError as error:
            raise self._failure(
                url, f"The client's document cannot be read: {error.message}"
            ) from None
        except UntrustedRequestError as error:
            raise self._failure(url, error.message) from None
        self._failed.pop(url, None)
        self._remembered[url] = _Remembered(client, self._clock.monotonic() + fresh_seconds)
        if len(self._remembered) > _MOST_REMEMBERED:
            self._remembered.popitem(last=False)
        return client

    def _failure(self, url: str, message: str) -> UntrustedRequestError:
        self._failed[url] = _Failed(message, self._clock.monotonic() + _FAILURE_SECONDS)
        self._failed.move_to_end(url)
        if len(self._failed) > _MOST_REMEMBERED:
            self._failed.popitem(last=False)
        return UntrustedRequestError(message)
