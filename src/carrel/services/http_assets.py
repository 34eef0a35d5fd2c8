"""Static files over HTTP, after a local folder where there is one."""

from __future__ import annotations

import asyncio
import errno
from urllib.parse import quote

import httpx2

from carrel.services.static_assets import (
    DEFAULT_MAX_BYTES,
    DEFAULT_TIMEOUT_SECONDS,
    FolderAssets,
    checked,
    missing,
    too_large,
)

_MAX_REDIRECTS = 3


class HttpAssets:
    """Fetches files below one base address and never follows it to another host. Close it when
    done.
    """

    def __init__(
        self,
        base_url: str,
        *,
        folder: FolderAssets | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._folder = folder
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes
        self._client = httpx2.AsyncClient(
            timeout=timeout_seconds, follow_redirects=False, trust_env=False
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def read(self, name: str) -> bytes:
        """The whole file. FileNotFoundError where it is absent, TimeoutError when late, OSError for
        any other trouble.
        """
        if self._folder is not None:
            try:
                return await self._folder.read(name)
            except FileNotFoundError:
                pass
        url = httpx2.URL(f"{self._base_url}/{quote(checked(name))}")
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._fetch(url, redirects_left=_MAX_REDIRECTS)
        except httpx2.TimeoutException as error:
            raise TimeoutError(errno.ETIMEDOUT, "the static file did not arrive in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise OSError(errno.EIO, "the static file could not be fetched") from error

    async def _fetch(self, url: httpx2.URL, *, redirects_left: int) -> bytes:
        async with self._client.stream("GET", url) as response:
            if response.is_redirect:
                target = url.join(response.headers.get("location", ""))
                is_same_host = (target.scheme, target.host, target.port) == (
                    url.scheme,
                    url.host,
                    url.port,
                )
                if not is_same_host or not redirects_left:
                    raise OSError(errno.EIO, "the static file was moved elsewhere")
                return await self._fetch(target, redirects_left=redirects_left - 1)
            if response.status_code in {404, 410}:
                raise missing()
            if response.status_code != 200:
                raise OSError(errno.EIO, f"the static file answered status {response.status_code}")
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > self._max_bytes:
                    raise too_large(self._max_bytes)
            return bytes(body)
