"""Which pages and which names may reach the server: the defence against DNS rebinding."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether a host name can only mean this machine."""
    name = host.strip("[]").lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_without_port(authority: str) -> str:
    """`localhost:8080` and `[::1]:8080` without their port."""
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return authority.rpartition(":")[0] if ":" in authority else authority


@dataclass(frozen=True, slots=True)
class OriginPolicy:
    """Hosts and origins that are let in besides loopback. `*` among hosts means any."""

    allowed_hosts: frozenset[str] = frozenset()
    allowed_origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, hosts: Iterable[str], origins: Iterable[str]) -> OriginPolicy:
        return cls(
            frozenset(host.lower() for host in hosts),
            frozenset(origin.lower().rstrip("/") for origin in origins),
        )

    def accepts_host(self, authority: str) -> bool:
        folded = authority.lower()
        host = host_without_port(folded)
        return "*" in self.allowed_hosts or folded in self.allowed_hosts or host in self.allowed_hosts or is_loopback(host)

    def accepts_origin(self, origin: str) -> bool:
        folded = origin.lower()
        if folded in self.allowed_origins or "*" in self.allowed_origins:
            return True
        try:
            parts = urlsplit(folded)
            return parts.scheme in {"http", "https"} and parts.hostname is not None and is_loopback(parts.hostname)
        except ValueError:
            return False
