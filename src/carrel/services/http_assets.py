"""Static files over HTTP, after a local folder if one is configured."""

from __future__ import annotations

import errno
from urllib.parse import quote

from carrel.services.fetching import (
    AnswerTooLargeError,
    Fetcher,
    FetchError,
    FetchLimits,
    FetchTimeoutError,
    Redirects,
)
from carrel.services.static_assets import (
    DEFAULT_MAX_BYTES,
    DEFAULT_TIMEOUT_SECONDS,
    FolderAssets,
    check_name,
    file_not_found,
    file_too_large,
)

_MAX_REDIRECTS = 3


class HttpAssets:
    """Fetches files below one base address and never leaves its host. Close it when done."""

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
        self._max_bytes = max_bytes
        limits = FetchLimits(
            timeout_seconds,
            max_bytes,
            redirects=Redirects.SAME_HOST,
            max_redirects=_MAX_REDIRECTS,
        )
        self._fetcher = Fetcher(limits, trust_env=False)

    async def close(self) -> None:
        await self._fetcher.close()

    async def read(self, name: str) -> bytes:
        """Raises FileNotFoundError, TimeoutError or OSError, none of which names the address."""
        if self._folder is not None:
            try:
                return await self._folder.read(name)
            except FileNotFoundError:
                pass
        try:
            answer = await self._fetcher.get(f"{self._base_url}/{quote(check_name(name))}")
        except FetchTimeoutError as error:
            raise TimeoutError(errno.ETIMEDOUT, "the static file did not arrive in time") from error
        except AnswerTooLargeError as error:
            raise file_too_large(self._max_bytes) from error
        except FetchError as error:
            raise OSError(errno.EIO, "the static file could not be fetched") from error
        if answer.status in {404, 410}:
            raise file_not_found()
        if answer.status != 200:
            raise OSError(errno.EIO, f"the static file answered status {answer.status}")
        return answer.body
