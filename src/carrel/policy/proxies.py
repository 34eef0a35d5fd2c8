"""Whose word about a caller's address is believed: proxies named by address or network, and nobody
else's.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

ANYBODY = "*"
X_FORWARDED_FOR = "x-forwarded-for"
FORWARDED = "forwarded"
_MOST_REMEMBERED = 1024
_MOST_HOPS = 32
_PAIR = re.compile(r'\s*([A-Za-z]+)\s*=\s*(?:"([^"\\]*)"|([^\s;,"]*))\s*')


class TrustedProxies:
    """Finds the address a request came from. `*` means that whoever connects is the one proxy in
    front.

    One header is believed, `header`: proxies rewrite the one they know and pass the other on as the
    client wrote it.
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
        """Whether what this peer says of others is believed."""
        return self._trusts_anybody or (bool(self._networks) and self._is_trusted(peer))

    def address(self, peer: str, said: str) -> str:
        """The caller's address: the last hop that is no proxy of ours, by what the peer's header
        says, if the peer is trusted.
        """
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
        """The scheme the last proxy was called with: X-Forwarded-Proto, or `proto` of Forwarded.
        None where nobody believed says it.
        """
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
    """One hop as an address, with or without its port; None where it is none, as for `unknown`."""
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
