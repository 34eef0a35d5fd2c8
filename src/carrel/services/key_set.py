"""An issuer's JSON Web Key Set over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

from carrel.core.errors import UnavailableError
from carrel.services.bounded_fetch import bounded_json


class HttpKeySet:
    """Fetches from the address the operator set. Redirects are not followed, and the answer is
    bounded in size and time.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_seconds: float = 5.0,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = url
        self._timeout_seconds = timeout_seconds
        self._transport = transport

    async def fetch(self) -> Mapping[str, Any]:
        async with httpx2.AsyncClient(
            timeout=self._timeout_seconds, transport=self._transport
        ) as client:
            facts, _ = await bounded_json(client, self._url, self._timeout_seconds, 256 * 1024)
        if not isinstance(facts.get("keys"), list):
            raise UnavailableError(
                f"{self._url} is not a key set", next_step="Look at auth.jwks_url."
            )
        return facts
