"""What a request's headers alone decide: each decisive header once, a Host of ours, and a web page
that may call.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from carrel.doors.http.refusals import (
    HostNotAllowedError,
    OriginNotAllowedError,
    RepeatedHeaderError,
)
from carrel.policy.origin import Authority, MalformedAuthorityError, Origin, OriginPolicy
from carrel.policy.proxies import TrustedProxies

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


class Entrance:
    """Turns requests away by their headers. Remembers which Host values are ours."""

    def __init__(self, policy: OriginPolicy, proxies: TrustedProxies) -> None:
        self._policy = policy
        self._proxies = proxies
        self._hosts: dict[bytes, Authority | None] = {}

    def check(
        self, method: str, headers: Mapping[bytes, bytes], repeated: Set[bytes], peer: str
    ) -> bool:
        """Whether the request comes from a page that may read the answer. Raises what says why it
        is turned away.
        """
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


def printable(value: bytes, longest: int) -> str:
    """A header's value as it may be written down: cut, and without control characters."""
    text = value[:longest].decode("latin-1")
    return (
        text
        if text.isprintable()
        else "".join(sign if sign.isprintable() else "?" for sign in text)
    )
