"""Verifies the access tokens of our own authorization server."""

from __future__ import annotations

from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.policy.authorization.models import AccessStore
from carrel.policy.identity import InvalidTokenError, VerifiedToken
from carrel.policy.scopes import expand_scopes
from carrel.policy.signed_tokens import SignedTokenVerifier


class GrantedTokenVerifier:
    """A signed token is good while its grant is, looked up every `recheck_seconds`."""

    def __init__(
        self,
        signed: SignedTokenVerifier,
        store: AccessStore,
        clock: Clock,
        recheck_seconds: float = 5.0,
    ) -> None:
        self._signed = signed
        self._store = store
        self._clock = clock
        self.recheck_seconds: float | None = recheck_seconds

    async def verify(self, token: str) -> VerifiedToken | None:
        claims = await self._signed.claims(token)
        grant = await self._store.grant(str(claims.get("grant")))
        if grant is None:
            raise InvalidTokenError("The token has been revoked", next_step="Log in again.")
        scopes = expand_scopes(str(claims.get("scope", "")).split()) & expand_scopes(grant.scopes)
        return VerifiedToken(Caller(grant.user_name, scopes, grant.client_id), float(claims["exp"]))

    async def grant_of(self, token: str) -> str | None:
        """The grant of a token that is ours and has not expired, for revocation."""
        try:
            return str((await self._signed.claims(token)).get("grant"))
        except InvalidTokenError:
            return None
