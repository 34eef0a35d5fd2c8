"""Connections to addresses that strangers chose: checked, and then reached at what was checked.

A name is looked up once, every address it has must be public, and the connection is made to one
of those very addresses under the name (TLS and Host), which defeats DNS rebinding. Redirects
come through here as well, each checked anew.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Collection, Mapping

import httpx2

from carrel.services.fetching import (
    AnswerRefusedError,
    ConnectionFailedError,
    Resolve,
    is_public,
    resolve_host,
)

_PORTS = frozenset({80, 443})
_LOCAL_ENDINGS = frozenset({"localhost", "local", "internal", "intranet", "lan", "home", "corp"})
# Request extensions that carry what redirects may do; they are copied to every further request.
TRUSTED_ORIGIN = "carrel_trusted_origin"
SECURE_ONLY = "carrel_secure_only"


class AddressRefusedError(AnswerRefusedError):
    """The address is not one on the public internet that may be reached."""


def origin_of(url: httpx2.URL) -> str:
    """Host and port of a URL, as `private_hosts` names them."""
    return f"{url.host.lower()}:{url.port or (443 if url.scheme == 'https' else 80)}"


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Reaches public addresses on ports 80 and 443, and `allowed` hosts with their port.

    The origin in the extension TRUSTED_ORIGIN, which whoever asks has from the settings, is
    reached as it is.
    """

    def __init__(
        self,
        *,
        allowed: Collection[str] = (),
        resolve: Resolve | None = None,
        connect_seconds: float = 10.0,
        proxy: str | None = None,
    ) -> None:
        self._allowed = frozenset(origin.lower() for origin in allowed)
        self._resolve = resolve or resolve_host
        self._connect_seconds = connect_seconds
        self._has_proxy = proxy is not None
        context = httpx2.create_ssl_context()
        self._trusted = httpx2.AsyncHTTPTransport(verify=context, proxy=proxy)
        # One name's connection must not serve another name at the same address.
        self._pinned = httpx2.AsyncHTTPTransport(
            verify=context, limits=httpx2.Limits(max_keepalive_connections=0)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url, extensions = request.url, dict(request.extensions)
        trusted = extensions.pop(TRUSTED_ORIGIN, None)
        is_secure_only = extensions.pop(SECURE_ONLY, False)
        origin = origin_of(url)
        if origin == trusted:
            return await self._trusted.handle_async_request(_copy(request, url, extensions))
        refuse_unsafe_url(url, self._allowed, is_secure_only=is_secure_only)
        if origin in self._allowed:
            return await self._trusted.handle_async_request(_copy(request, url, extensions))
        if self._has_proxy:
            # The proxy looks names up; it must itself refuse private addresses.
            _refuse_private_literal(url.host)
            return await self._trusted.handle_async_request(_copy(request, url, extensions))
        extensions["sni_hostname"] = url.host
        error: Exception | None = None
        for address in await self._public_addresses(url.host):
            pinned = _copy(request, url.copy_with(host=address), extensions)
            try:
                return await self._pinned.handle_async_request(pinned)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as failure:
                error = failure
        raise error or ConnectionFailedError(f"{url.host} has no address")

    async def _public_addresses(self, host: str) -> list[str]:
        try:
            async with asyncio.timeout(self._connect_seconds):
                addresses = await self._resolve(host)
        except (OSError, TimeoutError, UnicodeError):
            raise ConnectionFailedError(f"{host} cannot be found") from None
        if not addresses:
            raise ConnectionFailedError(f"{host} has no address")
        if not all(is_public(address) for address in addresses):
            raise AddressRefusedError(f"{host} is not at a public address")
        return list(dict.fromkeys(addresses))

    async def aclose(self) -> None:
        await self._trusted.aclose()
        await self._pinned.aclose()


def refuse_unsafe_url(
    url: httpx2.URL, allowed: Collection[str] = (), *, is_secure_only: bool = False
) -> None:
    """Raises AddressRefusedError for a URL that is not plain http or https to a usual port."""
    if url.scheme not in {"http", "https"} or not url.host:
        raise AddressRefusedError("only http and https addresses are reached")
    if url.userinfo:
        raise AddressRefusedError("the address holds a user name or password")
    if origin_of(url) in allowed:
        return
    if is_secure_only and url.scheme != "https":
        raise AddressRefusedError("it was moved from https to http")
    if (url.port or (443 if url.scheme == "https" else 80)) not in _PORTS:
        raise AddressRefusedError(f"port {url.port} is not reached")


def _refuse_private_literal(host: str) -> None:
    """Addresses written as numbers in any form, and names that never leave a network."""
    name = host.strip("[]").rstrip(".").lower()
    try:
        address = str(ipaddress.ip_address(name.partition("%")[0]))
    except ValueError:
        try:
            # Takes 2130706433 and 0x7f.1, as those who look names up do.
            address = socket.inet_ntoa(socket.inet_aton(name))
        except (OSError, UnicodeError):
            address = ""
    if (address and not is_public(address)) or name.rpartition(".")[2] in _LOCAL_ENDINGS:
        raise AddressRefusedError(f"{host} is not a public address")


def _copy(
    request: httpx2.Request, url: httpx2.URL, extensions: Mapping[str, object]
) -> httpx2.Request:
    return httpx2.Request(
        request.method, url, headers=request.headers, stream=request.stream, extensions=extensions
    )
