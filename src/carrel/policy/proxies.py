"""Whose word about a caller's address is believed: proxies named by address or network, and nobody else's."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

ANYBODY = "*"
_MOST_REMEMBERED = 1024


class TrustedProxies:
    """Finds the address a request came from. `*` means that whoever connects is the one proxy in front."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        given = list(names)
        self._trusts_anybody = ANYBODY in given
        self._networks = [ipaddress.ip_network(name.strip(), strict=False) for name in given if name != ANYBODY]
        self._known: dict[str, bool] = {}

    def address(self, peer: str, forwarded_for: str) -> str:
        """The caller's address: the last hop in X-Forwarded-For that is no proxy of ours."""
        if not forwarded_for or not (self._trusts_anybody or self._is_trusted(peer)):
            return peer
        hops = [_address(hop) for hop in forwarded_for.split(",")]
        if self._trusts_anybody:
            return hops[-1] or peer
        return next((hop or peer for hop in reversed(hops) if hop is None or not self._is_trusted(hop)), hops[0] or peer)

    def _is_trusted(self, address: str) -> bool:
        known = self._known.get(address)
        if known is None:
            try:
                found = ipaddress.ip_address(address)
                known = any(found in network for network in self._networks)
            except ValueError:
                known = False
            if len(self._known) < _MOST_REMEMBERED:
                self._known[address] = known
        return known


def _address(hop: str) -> str | None:
    """One hop as an address, with or without its port; None where it is none, as for `unknown`."""
    text = hop.strip()
    bare = text[1:].partition("]")[0] if text.startswith("[") else text.rpartition(":")[0] if text.count(":") == 1 else text
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        return None
