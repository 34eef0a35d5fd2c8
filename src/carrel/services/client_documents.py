"""Client-id metadata documents over HTTPS, from public addresses only: a stranger chooses the
address.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx2

from carrel.core.errors import UnavailableError
from carrel.services.bounded_fetch import bounded_json

Resolve = Callable[[str], Awaitable[list[str]]]

_MOST_BYTES = 32 * 1024
_RESOLVERS = ThreadPoolExecutor(2, thread_name_prefix="resolve-client-document")
_MAX_AGE = re.compile(r"max-age=(\d{1,9})")


class HttpsClientDocuments:
    """Resolves the name itself, refuses every address that is not public, and connects to the
    address it checked.

    So a name that resolves to something else a moment later (DNS rebinding) gains nothing.
    """

    def __init__(
        self,
        *,
        timeout_seconds: float = 5.0,
        resolve: Resolve | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._resolve = resolve or _resolve
        self._transport = transport

    async def fetch(self, url: str) -> tuple[Mapping[str, Any], float]:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme != "https" or not host or parts.port not in {None, 443}:
            raise UnavailableError("the address is not plain https")
        address = await self._public_address(host)
        shown = f"[{address}]" if ":" in address else address
        target = f"https://{shown}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")
        async with httpx2.AsyncClient(transport=self._transport, trust_env=False) as client:
            facts, headers = await bounded_json(
                client,
                target,
                self._timeout_seconds,
                _MOST_BYTES,
                headers={"host": host},
                extensions={"sni_hostname": host},
            )
        return facts, _fresh_seconds(headers.get("cache-control", ""))

    async def _public_address(self, host: str) -> str:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                addresses = await self._resolve(host)
        except (OSError, TimeoutError, UnicodeError):
            raise UnavailableError(f"{host} cannot be found") from None
        if not addresses or not all(is_public(address) for address in addresses):
            raise UnavailableError(f"{host} is not at a public address")
        return addresses[0]


def is_public(address: str) -> bool:
    """Whether an address is out on the internet: not this machine, not this network, not a way
    around.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None:
            return is_public(str(inner))
        if found in ipaddress.ip_network("64:ff9b::/96"):
            return is_public(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
    return found.is_global and not found.is_multicast and not found.is_reserved


async def _resolve(host: str) -> list[str]:
    # In threads of their own: names that strangers choose may take long to fail, and must not hold
    # up anybody else's work.
    look_up = partial(socket.getaddrinfo, host, 443, type=socket.SOCK_STREAM)
    rows = await asyncio.get_running_loop().run_in_executor(_RESOLVERS, look_up)
    return [str(row[4][0]) for row in rows]


def _fresh_seconds(cache_control: str) -> float:
    """How long a document may be believed: what it says, between a minute and a day; five minutes
    when it says nothing.
    """
    if "no-store" in cache_control or "no-cache" in cache_control:
        return 60.0
    found = _MAX_AGE.search(cache_control)
    return min(86_400.0, max(60.0, float(found.group(1)))) if found else 300.0
