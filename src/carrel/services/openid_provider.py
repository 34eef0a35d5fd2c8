"""An OpenID provider over HTTPS: its description, keys, tokens and userinfo.

The operator names the issuer; the other addresses come from the issuer's description. Those on
the issuer's own host (and hosts that the settings name) are reached wherever they are, all others
at public addresses only, so that a description cannot point into a network.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

import httpx2
import orjson

from carrel.core.errors import UnavailableError
from carrel.policy.authorization.openid.models import TokenAnswer
from carrel.services.fetching import Fetcher, FetchError, FetchLimits, HttpAnswer
from carrel.services.pinned_transport import PinnedTransport, origin_of

_WELL_KNOWN = "/.well-known/openid-configuration"
_MAX_BYTES = 512 * 1024
_TIMEOUT_SECONDS = 8.0
_CONNECT_SECONDS = 4.0
_JSON = {"accept": "application/json"}


class OpenIdProviderHttp:
    """Asks one provider; redirects are not followed, and every request ends within seconds."""

    def __init__(
        self,
        issuer: str,
        *,
        trusted_hosts: Iterable[str] = (),
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._issuer = issuer
        allowed = {origin_of(httpx2.URL(issuer)), *(_with_port(host) for host in trusted_hosts)}
        self._fetcher = Fetcher(
            FetchLimits(
                _TIMEOUT_SECONDS,
                _MAX_BYTES,
                connect_seconds=_CONNECT_SECONDS,
                accepts_compressed=False,
            ),
            trust_env=False,
            transport=transport or PinnedTransport(allowed=allowed),
        )

    async def close(self) -> None:
        await self._fetcher.close()

    async def fetch_metadata(self) -> Mapping[str, Any]:
        return await self._get(f"{self._issuer.rstrip('/')}{_WELL_KNOWN}", _JSON)

    async def fetch_keys(self, url: str) -> Mapping[str, Any]:
        found = await self._get(url, {"accept": "application/jwk-set+json, application/json"})
        if not isinstance(found.get("keys"), list):
            raise _no_answer("its key set cannot be read")
        return found

    async def post_token(
        self, url: str, form: Mapping[str, str], authorization: str | None
    ) -> TokenAnswer:
        headers = {**_JSON, "content-type": "application/x-www-form-urlencoded"}
        if authorization is not None:
            headers["authorization"] = authorization
        try:
            answer = await self._fetcher.post(url, urlencode(form).encode(), headers=headers)
        except FetchError as error:
            raise _no_answer(str(error)) from error
        if answer.status >= 500 or 300 <= answer.status < 400:
            raise _no_answer(f"status {answer.status}")
        return TokenAnswer(answer.status, _read_object(answer))

    async def fetch_userinfo(self, url: str, access_token: str) -> Mapping[str, Any]:
        return await self._get(url, {**_JSON, "authorization": f"Bearer {access_token}"})

    async def _get(self, url: str, headers: Mapping[str, str]) -> Mapping[str, Any]:
        try:
            answer = await self._fetcher.get(url, headers=headers)
        except FetchError as error:
            raise _no_answer(str(error)) from error
        if answer.status != 200:
            raise _no_answer(f"status {answer.status}")
        return _read_object(answer)


def _read_object(answer: HttpAnswer) -> Mapping[str, Any]:
    try:
        found = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        raise _no_answer("its answer is not JSON") from None
    if not isinstance(found, dict):
        raise _no_answer("its answer is not a JSON object")
    return found


def _with_port(host: str) -> str:
    return host.lower() if ":" in host else f"{host.lower()}:443"


def _no_answer(why: str) -> UnavailableError:
    return UnavailableError(
        f"The institute's log-in does not answer as it should: {why}",
        next_step="Wait a minute and start again; if that does not help, tell whoever runs this "
        "desk. Who is logged in already can go on working.",
    )
