"""Host and Origin policy: the defence against DNS rebinding and cross-site request forgery.

Both headers are parsed strictly. What browsers and HTTP libraries never send (user names, zone ids,
empty ports, short forms of addresses, trailing dots, percent signs) is refused, so that two parsers
of one header cannot disagree.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

ANY = "*"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(
    r"(?P<host>\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ORIGIN = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30})://(?P<authority>[^/?#]+)")


class MalformedAuthorityError(ValueError):
    """A host, or a host and port, that cannot be read in exactly one way."""


@dataclass(frozen=True, slots=True)
class Authority:
    """A host in canonical form, and the port if given."""

    host: str
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Authority:
        """Parse a Host header; raises MalformedAuthorityError."""
        matched = _AUTHORITY.fullmatch(text)
        if matched is None:
            raise MalformedAuthorityError(text[:100])
        port = int(matched["port"]) if matched["port"] else None
        if port is not None and port > 65535:
            raise MalformedAuthorityError(text[:100])
        return cls(_canonical_host(matched["host"]), port)

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a web page; the port is always set."""

    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Parse an Origin header or setting; raises MalformedAuthorityError, for `null` too."""
        matched = _ORIGIN.fullmatch(text)
        if matched is None:
            raise MalformedAuthorityError(text[:100])
        scheme = matched["scheme"].lower()
        authority = Authority.parse(matched["authority"])
        port = authority.port or _DEFAULT_PORTS.get(scheme)
        if port is None:
            raise MalformedAuthorityError(text[:100])
        return cls(scheme, authority.host, port)

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a host name can only mean this machine."""
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _canonical_host(text: str) -> str:
    if text.startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(text[1:-1])}]"
        except ValueError:
            raise MalformedAuthorityError(text) from None
    name = text.lower()
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        # Browsers parse a name that ends in a number as IPv4: 127.1, 0x7f.1, 2130706433.
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            raise MalformedAuthorityError(text) from None
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise MalformedAuthorityError(text)
    return name


@dataclass(frozen=True, slots=True)
class OriginPolicy:
    """Accepted hosts besides loopback, and accepted page origins besides the server's own.

    A page is our own when its origin equals the address of the request. `localhost` is not
    127.0.0.1 here: browsers try [::1] first, where another program may serve the page. With
    `loopback_pages_may_read`, other pages on this machine may send read-only requests; their
    scripts cannot read the answers.
    """

    allowed_hosts: frozenset[Authority] = frozenset()
    allowed_origins: frozenset[Origin] = frozenset()
    accepts_any_host: bool = False
    accepts_any_origin: bool = False
    loopback_pages_may_read: bool = False

    @classmethod
    def of(
        cls,
        hosts: Iterable[str],
        origins: Iterable[str],
        *,
        loopback_pages_may_read: bool = False,
    ) -> OriginPolicy:
        """Parse the settings; raises MalformedAuthorityError."""
        hosts, origins = list(hosts), list(origins)
        return cls(
            frozenset(Authority.parse(host) for host in hosts if host != ANY),
            frozenset(Origin.parse(origin.rstrip("/")) for origin in origins if origin != ANY),
            ANY in hosts,
            ANY in origins,
            loopback_pages_may_read,
        )

    def accepts_host(self, host: Authority) -> bool:
        if self.accepts_any_host or host.is_loopback or host in self.allowed_hosts:
            return True
        return host.port is not None and Authority(host.host) in self.allowed_hosts

    def is_listed(self, origin: Origin) -> bool:
        """Whether the operator lists this origin, so that its scripts may read answers."""
        return self.accepts_any_origin or origin in self.allowed_origins

    def is_own(self, origin: Origin, scheme: str, host: Authority) -> bool:
        """Whether a page came from this server: from the very address it now calls."""
        port = host.port or _DEFAULT_PORTS.get(scheme)
        return (origin.scheme, origin.host, origin.port) == (scheme, host.host, port)


ANYBODY = "*"
X_FORWARDED_FOR = "x-forwarded-for"
FORWARDED = "forwarded"
_MOST_REMEMBERED = 1024
_MOST_HOPS = 32
_PAIR = re.compile(r'\s*([A-Za-z]+)\s*=\s*(?:"([^"\\]*)"|([^\s;,"]*))\s*')


class TrustedProxies:
    """Finds the client address behind trusted proxies; `*` trusts whoever connects as one proxy.

    Only `header` is read: a proxy rewrites the header it knows and passes the other on unchanged.
    """

    def __init__(self, names: Iterable[str] = (), *, header: str = X_FORWARDED_FOR) -> None:
        given = list(names)
        self._trusts_anybody = ANYBODY in given
        self._networks = [
            ipaddress.ip_network(name.strip(), strict=False) for name in given if name != ANYBODY
        ]
        self._known: dict[str, bool] = {}
        self.header = header.encode()
        self._reads_forwarded = header == FORWARDED

    def trusts(self, peer: str) -> bool:
        """Whether this peer is a trusted proxy."""
        return self._trusts_anybody or (bool(self._networks) and self._is_trusted(peer))

    def address(self, peer: str, said: str) -> str:
        """The caller's address: the last hop that is not a trusted proxy."""
        if not said or not self.trusts(peer):
            return peer
        hops = [self._hop(element) for element in said.split(",")[-_MOST_HOPS:]]
        if self._trusts_anybody:
            return hops[-1] or peer
        return next(
            (hop or peer for hop in reversed(hops) if hop is None or not self._is_trusted(hop)),
            hops[0] or peer,
        )

    def scheme(self, peer: str, said: str) -> str | None:
        """The scheme that a trusted proxy was called with, or None."""
        if not said or not self.trusts(peer):
            return None
        last = said.rpartition(",")[2]
        scheme = (_pairs(last).get("proto", "") if self._reads_forwarded else last).strip().lower()
        return scheme if scheme in {"http", "https"} else None

    def _hop(self, element: str) -> str | None:
        return _address(_pairs(element).get("for", "") if self._reads_forwarded else element)

    def _is_trusted(self, address: str) -> bool:
        known = self._known.get(address)
        if known is None:
            try:
                found = ipaddress.ip_address(address)
            except ValueError:
                known = False
            else:
                mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
                known = any(
                    (mapped or found) in network or found in network for network in self._networks
                )
            if len(self._known) < _MOST_REMEMBERED:
                self._known[address] = known
        return known


def _pairs(element: str) -> dict[str, str]:
    """The parameters of one element of a Forwarded header (RFC 7239)."""
    found: dict[str, str] = {}
    for part in element.split(";"):
        matched = _PAIR.fullmatch(part)
        if matched is not None:
            found[matched[1].lower()] = matched[2] if matched[2] is not None else matched[3]
    return found


def _address(hop: str) -> str | None:
    """One hop as an address, with or without its port; None if it is none, such as `unknown`."""
    text = hop.strip()
    bare = (
        text[1:].partition("]")[0]
        if text.startswith("[")
        else text.rpartition(":")[0]
        if text.count(":") == 1
        else text
    )
    try:
        found = ipaddress.ip_address(bare)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address):
        return None if found.scope_id is not None else str(found.ipv4_mapped or found)
    return str(found)
