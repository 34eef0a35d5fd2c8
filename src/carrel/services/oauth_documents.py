"""Documents that authorization fetches: clients' descriptions and issuers' key sets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import httpx2

from carrel.core.errors import UnavailableError
from carrel.services.fetching import (
    Fetcher,
    FetchLimits,
    Resolve,
    fetch_json_object,
    fetch_public_json_object,
)

_MAX_CLIENT_DOCUMENT_BYTES = 32 * 1024
_MAX_KEY_SET_BYTES = 256 * 1024
_MAX_AGE = re.compile(r"max-age=(\d{1,9})")


class HttpsClientDocuments:
    """Client-id metadata documents, from public addresses only, since strangers choose them."""

    def __init__(
        self,
        *,
        timeout_seconds: float = 5.0,
        resolve: Resolve | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._resolve = resolve
        self._transport = transport

    async def fetch(self, url: str) -> tuple[Mapping[str, Any], float]:
        """The document and for how many seconds it may be believed. Raises UnavailableError."""
        limits = FetchLimits(
            self._timeout_seconds, _MAX_CLIENT_DOCUMENT_BYTES, accepts_compressed=False
        )
        async with Fetcher(limits, trust_env=False, transport=self._transport) as fetcher:
            facts, headers = await fetch_public_json_object(
                fetcher, url, self._timeout_seconds, self._resolve
            )
        return facts, _fresh_seconds(headers.get("cache-control", ""))


class HttpKeySet:
    """An issuer's JSON Web Key Set, from the address the operator set, without redirects."""

    def __init__(
        self,
        url: str,
        *,
        timeout_seconds: float = 5.0,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = url
        self._limits = FetchLimits(timeout_seconds, _MAX_KEY_SET_BYTES, accepts_compressed=False)
        self._transport = transport

    async def fetch(self) -> Mapping[str, Any]:
        """The key set. Raises UnavailableError."""
        async with Fetcher(self._limits, transport=self._transport) as fetcher:
            facts, _ = await fetch_json_object(fetcher, self._url)
        if not isinstance(facts.get("keys"), list):
            raise UnavailableError(
                f"{self._url} is not a key set", next_step="Look at auth.jwks_url."
            )
        return facts


def _fresh_seconds(cache_control: str) -> float:
    """The document's max-age between a minute and a day; five minutes by default."""
    if "no-store" in cache_control or "no-cache" in cache_control:
        return 60.0
    found = _MAX_AGE.search(cache_control)
    return min(86_400.0, max(60.0, float(found.group(1)))) if found else 300.0
