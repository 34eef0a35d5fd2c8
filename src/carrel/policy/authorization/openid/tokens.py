"""ID tokens and log-out tokens of a provider: every check that OpenID Connect asks for."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from carrel.core.clock import Clock
from carrel.policy.authorization.openid.models import OpenIdService, SignInRefusedError
from carrel.policy.authorization.openid.provider import MetadataCache
from carrel.policy.identity import InvalidTokenError
from carrel.policy.signed_tokens import KeyRing, SignedTokenVerifier, parse_timestamp

ID_TOKEN_TYPES = frozenset({"jwt"})
LOGOUT_TOKEN_TYPES = frozenset({"logout+jwt"})
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
# An unknown key is looked for at once, five times in a row, then every ten seconds.
_REFETCH_BURST = 5
_REFETCH_SECONDS = 10.0
# A token that was made longer ago than this is not from the log-in under way.
_OLDEST_SECONDS = 600.0
_LONGEST_TEXT = 255


class _ProviderKeys:
    """The key set at the address that the provider names now."""

    def __init__(self, metadata: MetadataCache, service: OpenIdService) -> None:
        self._metadata = metadata
        self._service = service

    async def fetch(self) -> Mapping[str, Any]:
        return await self._service.fetch_keys((await self._metadata.get()).jwks_uri)


@dataclass(frozen=True, slots=True)
class LogoutToken:
    """Whose sessions end: those of one provider session, or all of a person."""

    token_id: str
    sid: str | None
    subject: str | None
    expires_at: float


class ProviderTokens:
    """Verifies what one provider signed for this desk as its client."""

    def __init__(
        self,
        metadata: MetadataCache,
        service: OpenIdService,
        clock: Clock,
        *,
        issuer: str,
        client_id: str,
        algorithms: tuple[str, ...],
        leeway_seconds: float,
    ) -> None:
        self._client_id = client_id
        self._clock = clock
        self._leeway_seconds = leeway_seconds

        def verifier(types: frozenset[str]) -> SignedTokenVerifier:
            # Each with keys of its own: strangers may send log-out tokens, and the refetches
            # that these cost must not be taken from people who log in.
            ring = KeyRing(
                _ProviderKeys(metadata, service),
                clock,
                minimum_interval_seconds=_REFETCH_SECONDS,
                refetch_burst=_REFETCH_BURST,
            )
            return SignedTokenVerifier(
                ring,
                clock,
                issuer=issuer,
                audiences=(client_id,),
                algorithms=algorithms,
                leeway_seconds=leeway_seconds,
                token_types=types,
            )

        self._id_tokens = verifier(ID_TOKEN_TYPES)
        self._logout_tokens = verifier(LOGOUT_TOKEN_TYPES)

    async def read_id_token(self, token: object, nonce: str | None) -> Mapping[str, Any]:
        """The claims of an ID token; without a nonce it is one that a refresh gave.

        Raises SignInRefusedError or UnavailableError.
        """
        claims = await self._claims(self._id_tokens, token)
        audience, party = claims.get("aud"), claims.get("azp")
        if party is not None and party != self._client_id:
            raise _unbelievable("is meant for another program (azp)")
        if isinstance(audience, list) and len(audience) > 1 and party is None:
            raise _unbelievable("is meant for several programs and does not say for which (azp)")
        self._check_age(claims)
        given = claims.get("nonce")
        if nonce is None:
            return claims
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), nonce.encode()):
            raise _unbelievable("is not from this log-in (nonce)")
        return claims

    async def read_logout_token(self, token: object) -> LogoutToken:
        """What a log-out token ends. Raises SignInRefusedError or UnavailableError."""
        claims = await self._claims(self._logout_tokens, token)
        if "nonce" in claims:
            raise _unbelievable("has a nonce, which a log-out token must not have")
        events = claims.get("events")
        if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
            raise _unbelievable("does not say that somebody has logged out (events)")
        self._check_age(claims)
        token_id, sid, subject = (_text(claims, name) for name in ("jti", "sid", "sub"))
        if token_id is None:
            raise _unbelievable("has no id (jti)")
        if sid is None and subject is None:
            raise _unbelievable("names neither a session nor a person (sid, sub)")
        expires = float(claims["exp"]) + self._leeway_seconds
        return LogoutToken(token_id, sid, subject, expires)

    async def _claims(self, verifier: SignedTokenVerifier, token: object) -> dict[str, Any]:
        if not isinstance(token, str) or not token.isascii():
            raise _unbelievable("is missing")
        try:
            return await verifier.claims(token)
        except InvalidTokenError as error:
            raise _unbelievable(error.message.removeprefix("The token ")) from error

    def _check_age(self, claims: Mapping[str, Any]) -> None:
        issued = parse_timestamp(claims, "iat")
        if issued is None:
            raise _unbelievable("does not say when it was made (iat)")
        if self._clock.now().timestamp() - issued > _OLDEST_SECONDS + self._leeway_seconds:
            raise _unbelievable("was made too long ago (iat)")


def read_subject(claims: Mapping[str, Any]) -> str:
    """The person's identifier at the provider. Raises SignInRefusedError."""
    subject = _text(claims, "sub")
    if subject is None:
        raise _unbelievable("names nobody (sub)")
    return subject


def read_sid(claims: Mapping[str, Any]) -> str | None:
    """The provider's session, where it names one."""
    return _text(claims, "sid")


def _text(claims: Mapping[str, Any], name: str) -> str | None:
    """A claim as text. Raises SignInRefusedError where it cannot be kept."""
    value = claims.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value or len(value) > _LONGEST_TEXT:
        raise _unbelievable(f"has a {name} that cannot be read")
    if not value.isprintable():
        raise _unbelievable(f"has a {name} that cannot be read")
    return value


def _unbelievable(why: str) -> SignInRefusedError:
    return SignInRefusedError(
        f"What your institute's log-in sent cannot be believed: its token {why}",
        next_step="Start again; if it happens again, tell whoever runs this desk.",
    )
