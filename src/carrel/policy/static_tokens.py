"""Static bearer tokens for scripts: made once, shown once, kept only as a hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Protocol

from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.policy.identity import InvalidTokenError, Recognised
from carrel.policy.scopes import expand

PREFIX = "carrel_"


@dataclass(frozen=True, slots=True)
class StaticToken:
    """What is kept of a token. `user_name` is whose notes and projects it reaches; without one it
    is a user of its own.
    """

    name: str
    token_hash: str
    scopes: frozenset[str]
    created_at: float
    expires_at: float | None = None
    user_name: str | None = None
    revoked_at: float | None = None

    @property
    def user_id(self) -> str:
        return self.user_name or f"token:{self.name}"

    def is_good_at(self, moment: float) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > moment)


class StaticTokens(Protocol):
    """Where static tokens are kept. `None` for a token that is unknown, or whose user has been
    disabled.
    """

    async def add_token(self, token: StaticToken) -> bool: ...

    async def token_by_hash(self, token_hash: str) -> StaticToken | None: ...

    async def tokens(self) -> list[StaticToken]: ...

    async def revoke_token(self, name: str, at: float) -> bool: ...


def new_secret(prefix: str = PREFIX) -> str:
    """A secret of 256 random bits, so that a plain SHA-256 of it is enough to keep."""
    return prefix + secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class StaticTokenVerifier:
    """Recognises static tokens; a revoked one stops working within `recheck_seconds`."""

    def __init__(self, store: StaticTokens, clock: Clock, recheck_seconds: float = 5.0) -> None:
        self._store = store
        self._clock = clock
        self.recheck_seconds: float | None = recheck_seconds

    async def verify(self, token: str) -> Recognised | None:
        if not token.startswith(PREFIX):
            return None
        wanted = hash_of(token)
        found = await self._store.token_by_hash(wanted)
        if found is None or not hmac.compare_digest(found.token_hash, wanted):
            raise InvalidTokenError(
                "The token is not known here", next_step="carrel tokens create makes one."
            )
        if found.revoked_at is not None:
            raise InvalidTokenError(
                "The token has been revoked", next_step="carrel tokens create makes a new one."
            )
        if found.expires_at is not None and found.expires_at <= self._clock.now().timestamp():
            raise InvalidTokenError(
                "The token has expired", next_step="carrel tokens create makes a new one."
            )
        caller = Caller(found.user_id, expand(found.scopes), client_id=f"token:{found.name}")
        return Recognised(caller, found.expires_at)
