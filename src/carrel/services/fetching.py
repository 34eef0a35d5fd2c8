"""One HTTP request with limits on size, time and redirects."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
import orjson

from carrel.core.errors import UnavailableError

Resolve = Callable[[str], Awaitable[list[str]]]
_RESOLVERS = ThreadPoolExecutor(2, thread_name_prefix="resolve-public-address")


def _is_worth_logging(record: logging.LogRecord) -> bool:
    return record.levelno > logging.INFO


# They write whole addresses and headers, in which keys and mail addresses may stand.
for _name in ("httpx2", "httpcore2.http11", "httpcore2.http2"):
    logging.getLogger(_name).addFilter(_is_worth_logging)


class FetchError(Exception):
    """There is no answer that may be used."""


class ConnectionFailedError(FetchError):
    """The server could not be reached: no network, no name, no connection."""


class AnswerBrokenOffError(ConnectionFailedError):
    """The connection ended before the answer did."""


class FetchTimeoutError(FetchError):
    """The server was reached and did not answer in time."""


class AnswerRefusedError(FetchError):
    """The answer is compressed, unreadable, or moved elsewhere, against the limits."""


class AnswerTooLargeError(AnswerRefusedError):
    """The answer has more bytes than the limit."""


class Redirects(Enum):
    """Which redirects are followed."""

    NONE = "none"
    SAME_HOST = "same host"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of one request: `read_seconds` bounds each pause, `total_seconds` all of it.

    A connection not made within `connect_seconds` counts as failed, not as timed out.
    """

    total_seconds: float
    max_bytes: int
    read_seconds: float | None = None
    connect_seconds: float | None = None
    redirects: Redirects = Redirects.NONE
    max_redirects: int = 0
    # A small packed answer may unpack to any size before it can be measured.
    accepts_compressed: bool = True


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A server's response, with any status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", errors="replace")


class Fetcher:
    """Fetches within limits. Open it with `async with`, or close it when done."""

    def __init__(
        self,
        limits: FetchLimits,
        *,
        headers: Mapping[str, str] | None = None,
        trust_env: bool = True,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._limits = limits
        wait = limits.read_seconds or limits.total_seconds
        encoding = {} if limits.accepts_compressed else {"accept-encoding": "identity"}
        self._client = httpx2.AsyncClient(
            headers={**encoding, **(headers or {})},
            timeout=httpx2.Timeout(wait, connect=limits.connect_seconds or wait),
            follow_redirects=limits.redirects is Redirects.ANY,
            max_redirects=limits.max_redirects,
            trust_env=trust_env,
            transport=transport,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._client.aclose()

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        extensions: Mapping[str, Any] | None = None,
    ) -> HttpAnswer:
        """The answer to a GET; raises a FetchError with the reason."""
        return await self._request("GET", url, headers=headers, extensions=dict(extensions or {}))

    async def post_json(self, url: str, body: object) -> HttpAnswer:
        """The answer to a POST of a JSON value. Raises as `get` does."""
        return await self._request("POST", url, json=body)

    async def post(
        self,
        url: str,
        content: bytes,
        *,
        headers: Mapping[str, str],
        extensions: Mapping[str, Any] | None = None,
    ) -> HttpAnswer:
        """The answer to a POST of bytes, whose type is among the headers. Raises as `get` does."""
        extensions = dict(extensions or {})
        return await self._request(
            "POST", url, content=content, headers=headers, extensions=extensions
        )

    async def _request(self, method: str, url: str, **options: Any) -> HttpAnswer:
        limits = self._limits
        try:
            async with asyncio.timeout(limits.total_seconds):
                return await self._follow(method, httpx2.URL(url), options)
        except TimeoutError as error:
            raise FetchTimeoutError(
                f"no complete answer within {limits.total_seconds:g} seconds"
            ) from error
        except httpx2.TimeoutException as error:
            is_connecting = isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout)
            if is_connecting and limits.connect_seconds is not None:
                raise ConnectionFailedError("connecting took too long") from error
            wait = limits.read_seconds or limits.total_seconds
            raise FetchTimeoutError(f"no answer within {wait:g} seconds") from error
        except (httpx2.RemoteProtocolError, httpx2.ReadError) as error:
            cause = str(error) or "the connection was cut"
            raise AnswerBrokenOffError(f"the answer broke off: {cause}") from error
        except httpx2.TransportError as error:
            raise ConnectionFailedError(str(error) or type(error).__name__) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise AnswerRefusedError(str(error) or type(error).__name__) from error

    async def _follow(self, method: str, url: httpx2.URL, options: dict[str, Any]) -> HttpAnswer:
        for _ in range(self._limits.max_redirects + 1):
            async with self._client.stream(method, url, **options) as response:
                if self._limits.redirects is not Redirects.SAME_HOST or not response.is_redirect:
                    return await self._read(response)
                target = url.join(response.headers.get("location", ""))
            if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
                raise AnswerRefusedError("it was moved to another host")
            url = target
        raise AnswerRefusedError("it was moved too often")

    async def _read(self, response: httpx2.Response) -> HttpAnswer:
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding != "identity" and not self._limits.accepts_compressed:
            raise AnswerRefusedError("the answer is compressed, which was not asked for")
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self._limits.max_bytes:
                raise AnswerTooLargeError(
                    f"the answer is larger than {self._limits.max_bytes} bytes"
                )
        return HttpAnswer(response.status_code, response.headers, bytes(body))


async def fetch_json_object(
    fetcher: Fetcher, url: str, **options: Any
) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """A JSON object and the response headers; raises UnavailableError for anything else."""
    headers = {"accept": "application/json", **options.pop("headers", {})}
    try:
        answer = await fetcher.get(url, headers=headers, **options)
        if answer.status != 200:
            raise UnavailableError(f"the answer has status {answer.status}")
        found = orjson.loads(answer.body)
    except FetchError as error:
        raise UnavailableError(str(error)) from error
    except orjson.JSONDecodeError:
        raise UnavailableError("the answer is not JSON") from None
    if not isinstance(found, dict):
        raise UnavailableError("the answer is not a JSON object")
    return found, answer.headers


async def fetch_public_json_object(
    fetcher: Fetcher, url: str, timeout_seconds: float, resolve: Resolve | None = None
) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """As `fetch_json_object`, for an untrusted URL: https on the public internet only.

    Connects to the very address that was checked, which defeats DNS rebinding.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "https" or not host or parts.port not in {None, 443}:
        raise UnavailableError("the address is not plain https")
    try:
        async with asyncio.timeout(timeout_seconds):
            addresses = await (resolve or resolve_host)(host)
    except (OSError, TimeoutError, UnicodeError):
        raise UnavailableError(f"{host} cannot be found") from None
    if not addresses or not all(is_public(address) for address in addresses):
        raise UnavailableError(f"{host} is not at a public address")
    literal = f"[{addresses[0]}]" if ":" in addresses[0] else addresses[0]
    target = f"https://{literal}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")
    return await fetch_json_object(
        fetcher, target, headers={"host": host}, extensions={"sni_hostname": host}
    )


def is_public(address: str) -> bool:
    """Whether an address is on the internet: not this machine, this network, or a tunnel there."""
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
        if found.is_site_local:
            return False
    return found.is_global and not found.is_multicast and not found.is_reserved


async def resolve_host(host: str) -> list[str]:
    """Every address of a name; raises OSError where there is none."""
    # In threads of their own: names chosen by strangers may take long to fail to resolve.
    look_up = partial(socket.getaddrinfo, host, 443, type=socket.SOCK_STREAM)
    rows = await asyncio.get_running_loop().run_in_executor(_RESOLVERS, look_up)
    return [str(row[4][0]) for row in rows]
