"""An OpenID provider as it describes itself: discovery, checked and remembered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from carrel.core.clock import Clock
from carrel.core.errors import UnavailableError
from carrel.policy.authorization.openid.models import OpenIdService
from carrel.policy.origin import is_loopback

log = logging.getLogger("carrel.openid")

_FRESH_SECONDS = 3600.0
# So long is an old description used while a new one cannot be had.
_USABLE_SECONDS = 86_400.0
# After a failure the provider is left alone for so long: a page answers at once meanwhile.
_REST_SECONDS = 5.0
_LONGEST_ADDRESS = 2_000


@dataclass(frozen=True, slots=True)
class ProviderMetadata:
    """Where a provider is asked what; `names_issuer` by RFC 9207."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    names_issuer: bool
    takes_basic: bool


class MetadataCache:
    """The description of one provider, fetched at need."""

    def __init__(self, service: OpenIdService, clock: Clock, issuer: str) -> None:
        self._service = service
        self._clock = clock
        self._issuer = issuer
        self._found: ProviderMetadata | None = None
        self._fetched_at = 0.0
        self._failed: tuple[float, UnavailableError] | None = None
        self._fetching = asyncio.Lock()

    async def get(self) -> ProviderMetadata:
        """Raises UnavailableError."""
        found = self._fresh()
        if found is not None:
            return found
        async with self._fetching:
            return self._fresh() or await self._fetch()

    def _fresh(self) -> ProviderMetadata | None:
        is_fresh = self._clock.monotonic() - self._fetched_at < _FRESH_SECONDS
        return self._found if is_fresh else None

    async def _fetch(self) -> ProviderMetadata:
        now = self._clock.monotonic()
        old = self._found if now - self._fetched_at < _USABLE_SECONDS else None
        if self._failed is not None and now - self._failed[0] < _REST_SECONDS:
            if old is not None:
                return old
            raise self._failed[1]
        try:
            found = read_metadata(await self._service.fetch_metadata(), self._issuer)
        except UnavailableError as error:
            self._failed = (self._clock.monotonic(), error)
            if old is None:
                raise
            log.warning(
                "the provider's description could not be refreshed, keeping the old one",
                extra={"reason": error.message},
            )
            return old
        self._found, self._fetched_at, self._failed = found, now, None
        return found


def read_metadata(facts: Mapping[str, Any], issuer: str) -> ProviderMetadata:
    """Checks a description; raises UnavailableError that says what is wrong with it."""
    if facts.get("issuer") != issuer:
        raise _unusable("it names another issuer than auth.oidc.issuer, which must be the same")
    methods = facts.get("code_challenge_methods_supported")
    if isinstance(methods, list) and "S256" not in methods:
        raise _unusable("it does not take PKCE with S256")
    listed = facts.get("token_endpoint_auth_methods_supported")
    ways = listed if isinstance(listed, list) else ["client_secret_basic"]
    if not {"client_secret_basic", "client_secret_post"} & {str(way) for way in ways}:
        raise _unusable("it takes no client secret (client_secret_basic or client_secret_post)")
    is_plain = urlsplit(issuer).scheme == "http"
    return ProviderMetadata(
        issuer=issuer,
        authorization_endpoint=_address(facts, "authorization_endpoint", is_plain),
        token_endpoint=_address(facts, "token_endpoint", is_plain),
        jwks_uri=_address(facts, "jwks_uri", is_plain),
        userinfo_endpoint=_address(facts, "userinfo_endpoint", is_plain)
        if facts.get("userinfo_endpoint") is not None
        else None,
        names_issuer=facts.get("authorization_response_iss_parameter_supported") is True,
        takes_basic="client_secret_basic" in ways,
    )


def _address(facts: Mapping[str, Any], name: str, is_plain: bool) -> str:
    """An endpoint: https, or plain http on this machine where the issuer is there as well."""
    value = facts.get(name)
    if not isinstance(value, str) or not value.isascii() or len(value) > _LONGEST_ADDRESS:
        raise _unusable(f"it has no usable {name}")
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
    except ValueError:
        raise _unusable(f"it has no usable {name}") from None
    is_own_machine = is_plain and parts.scheme == "http" and is_loopback(host)
    is_odd = not host or parts.username is not None or parts.fragment or not value.isprintable()
    if is_odd or " " in value or not (parts.scheme == "https" or is_own_machine):
        raise _unusable(f"its {name} is not an https address")
    return value


def _unusable(why: str) -> UnavailableError:
    return UnavailableError(
        f"The institute's log-in describes itself in a way that cannot be used: {why}",
        next_step="Tell whoever runs this desk; carrel doctor checks it.",
    )
