"""Checks before a request is handled: headers, Host and Origin, and the size of its body."""

from __future__ import annotations

from collections.abc import Mapping, Set

from carrel.core.waiting import within
from carrel.doors.http.messages import (
    BodyTooLargeError,
    BodyTooSlowError,
    ClientGoneError,
    HostNotAllowedError,
    OriginNotAllowedError,
    Receive,
    RepeatedHeaderError,
    ServerBusyError,
)
from carrel.policy.origin import (
    Authority,
    MalformedAuthorityError,
    Origin,
    OriginPolicy,
    TrustedProxies,
)

# A declared body below this is read without counting; only the number of digits is compared.
SMALL_BODY_BYTES = 10_000
_LARGE_DIGITS = len(str(SMALL_BODY_BYTES))


class BodyBudget:
    """Bytes of bodies held in memory now, over all requests and for each address group."""

    def __init__(self, max_bytes: int, max_bytes_per_address: int) -> None:
        self._max_bytes = max_bytes
        self._max_bytes_per_address = max_bytes_per_address
        self._held = 0
        self._held_by: dict[str, int] = {}

    @property
    def held_bytes(self) -> int:
        return self._held

    def take(self, group: str, size: int) -> None:
        """Counts more bytes. Raises ServerBusyError, and counts none, when that is too much."""
        held = self._held_by.get(group, 0) + size
        if held > self._max_bytes_per_address or self._held + size > self._max_bytes:
            raise ServerBusyError("Too many large requests are being received at once")
        self._held += size
        self._held_by[group] = held

    def release(self, group: str, size: int) -> None:
        self._held -= size
        left = self._held_by.get(group, 0) - size
        if left > 0:
            self._held_by[group] = left
        else:
            self._held_by.pop(group, None)


class HeldBody:
    """One body's share of the memory budget; its creator releases it after the answer."""

    __slots__ = ("_budget", "_group", "_held")

    def __init__(self, budget: BodyBudget, group: str) -> None:
        self._budget = budget
        self._group = group
        self._held = 0

    def grow_to(self, size: int) -> None:
        """Raises ServerBusyError when that is too much."""
        self._budget.take(self._group, size - self._held)
        self._held = size

    def release(self) -> None:
        if self._held:
            self._budget.release(self._group, self._held)
            self._held = 0


async def read_body(
    receive: Receive, limit_bytes: int, timeout_seconds: float, held: HeldBody | None = None
) -> bytes:
    """The body. Raises BodyTooLarge-, BodyTooSlow-, ServerBusy- or ClientGoneError."""
    try:
        return await within(timeout_seconds, _read(receive, limit_bytes, held))
    except TimeoutError:
        raise BodyTooSlowError(timeout_seconds) from None


async def _read(receive: Receive, limit_bytes: int, held: HeldBody | None) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > limit_bytes:
            raise BodyTooLargeError(limit_bytes)
        if held is not None:
            held.grow_to(size)
        if not message.get("more_body", False) and not chunks:
            return chunk
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def check_declared_size(headers: Mapping[bytes, bytes], limit_bytes: int) -> None:
    """Refuse a body whose declared length is too large."""
    declared = headers.get(b"content-length")
    if (
        declared is not None
        and declared.isdigit()
        and (len(declared) > 18 or int(declared) > limit_bytes)
    ):
        raise BodyTooLargeError(limit_bytes)


def may_be_large(headers: Mapping[bytes, bytes]) -> bool:
    """Whether to count a body, and to check its sender's allowance before reading it."""
    declared = headers.get(b"content-length")
    if declared is None:
        return b"transfer-encoding" in headers
    return len(declared) >= _LARGE_DIGITS


# Headers of which a proxy might believe the first and we the last, or the other way round.
SINGLE_HEADERS = frozenset(
    {
        b"host",
        b"origin",
        b"authorization",
        b"x-serverless-authorization",
        b"content-type",
        b"content-length",
        b"cookie",
        b"expect",
        b"sec-fetch-site",
        b"x-forwarded-proto",
    }
)
SAFE_METHODS = frozenset({"GET", "HEAD"})
_OWN_FETCHES = frozenset({b"same-origin", b"none"})
_MOST_REMEMBERED = 1024
_LONGEST_REMEMBERED = 300


class HeaderChecks:
    """Refuses requests by their headers; caches accepted Host values."""

    def __init__(self, policy: OriginPolicy, proxies: TrustedProxies) -> None:
        self._policy = policy
        self._proxies = proxies
        self._hosts: dict[bytes, Authority | None] = {}

    def check(
        self, method: str, headers: Mapping[bytes, bytes], repeated: Set[bytes], peer: str
    ) -> bool:
        """Whether a listed page asks, whose scripts may read the answer; raises the refusal."""
        if repeated:
            doubled = repeated & SINGLE_HEADERS
            if doubled:
                raise RepeatedHeaderError(min(doubled).decode("ascii"))
        host = self._host(headers.get(b"host", b""))
        if host is None:
            raise HostNotAllowedError
        given = headers.get(b"origin")
        if given is None:
            fetched_from = headers.get(b"sec-fetch-site")
            if (
                fetched_from is not None
                and method not in SAFE_METHODS
                and fetched_from.strip() not in _OWN_FETCHES
            ):
                raise OriginNotAllowedError(None)
            return False
        return self._check_origin(method, given, host, headers, peer)

    def _check_origin(
        self, method: str, given: bytes, host: Authority, headers: Mapping[bytes, bytes], peer: str
    ) -> bool:
        text = given.decode("latin-1")
        try:
            origin = Origin.parse(text)
        except MalformedAuthorityError:
            raise OriginNotAllowedError(None) from None
        if self._policy.is_listed(origin):
            return True
        if self._policy.is_own(origin, self._scheme(headers, peer), host):
            return False
        if self._policy.loopback_pages_may_read and origin.is_loopback and method in SAFE_METHODS:
            return False
        raise OriginNotAllowedError(text)

    def _scheme(self, headers: Mapping[bytes, bytes], peer: str) -> str:
        name = b"forwarded" if self._proxies.header == b"forwarded" else b"x-forwarded-proto"
        return self._proxies.scheme(peer, headers.get(name, b"").decode("latin-1")) or "http"

    def _host(self, given: bytes) -> Authority | None:
        try:
            return self._hosts[given]
        except KeyError:
            host = self._read_host(given)
            if len(self._hosts) < _MOST_REMEMBERED and len(given) <= _LONGEST_REMEMBERED:
                self._hosts[given] = host
            return host

    def _read_host(self, given: bytes) -> Authority | None:
        try:
            host = Authority.parse(given.decode("latin-1").strip(" \t"))
        except MalformedAuthorityError:
            return None
        return host if self._policy.accepts_host(host) else None


def is_from_browser(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a web page sent this: only browsers send these headers, and they always do."""
    return b"origin" in headers or b"sec-fetch-site" in headers


def printable(text: str, longest: int) -> str:
    """Foreign text as it may be written down: cut, and without control characters."""
    text = text[:longest]
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else "?" for sign in text)
