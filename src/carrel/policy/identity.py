"""Who is calling: turns what a visit carries into a caller, or refuses."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from carrel.core.caller import LOCAL_USER, Caller, Visit
from carrel.core.clock import Clock
from carrel.core.errors import UnauthenticatedError
from carrel.policy.scopes import ALL_SCOPES

# Doors that only the person who started the process can reach.
OWN_DOORS = frozenset({"stdio", "cli", "memory"})
_LONGEST_HEADER = 16 * 1024
_MOST_REMEMBERED = 4096


class InvalidTokenError(UnauthenticatedError):
    """A token was shown, and it is not good for anything here."""


class NoTokenError(UnauthenticatedError):
    """No token was shown."""

    def __init__(self) -> None:
        super().__init__(
            "A bearer token is required",
            next_step="Send Authorization: Bearer with a token, or log in.",
        )


class Identity(Protocol):
    """Recognises callers. Raises UnauthenticatedError for a stranger."""

    async def identify(self, visit: Visit) -> Caller: ...


class LocalIdentity:
    """The one person at this machine, who holds every scope and is never slowed down."""

    def __init__(self) -> None:
        self._caller = Caller(user_id=LOCAL_USER, scopes=ALL_SCOPES, is_limited=False)

    async def identify(self, visit: Visit) -> Caller:
        return self._caller


class LocalSecretIdentity:
    """The one person at this machine, who shows over HTTP a secret that only their account can
    read.
    """

    def __init__(self, secret: str) -> None:
        self._expected = f"Bearer {secret}".encode()
        self._local = LocalIdentity()

    async def identify(self, visit: Visit) -> Caller:
        if visit.door in OWN_DOORS:
            return await self._local.identify(visit)
        if visit.authorization is None:
            raise NoTokenError
        if not hmac.compare_digest(
            visit.authorization.encode("latin-1", "replace"), self._expected
        ):
            raise InvalidTokenError(
                "This is not the secret of this desk",
                next_step="carrel connect writes the right one into a client's file.",
            )
        return await self._local.identify(visit)


@dataclass(frozen=True, slots=True)
class Recognised:
    """A caller, and the second (since 1970) after which the proof is worth nothing."""

    caller: Caller
    expires_at: float | None


class TokenVerifier(Protocol):
    """Knows one kind of token. None means the token is of another kind; InvalidTokenError means it
    is bad.

    `recheck_seconds` says how long a verified token may be believed without asking again: None is
    until it expires.
    """

    recheck_seconds: float | None

    async def verify(self, token: str) -> Recognised | None: ...


class BearerIdentity:
    """Recognises whoever shows a bearer token that one of the verifiers knows; remembers verified
    ones.
    """

    def __init__(self, verifiers: Sequence[TokenVerifier], clock: Clock) -> None:
        self._verifiers = tuple(verifiers)
        self._clock = clock
        self._local = LocalIdentity()
        self._remembered: dict[str, tuple[Caller, float]] = {}

    async def identify(self, visit: Visit) -> Caller:
        header = visit.authorization
        if header is None:
            if visit.door in OWN_DOORS:
                return await self._local.identify(visit)
            raise NoTokenError
        found = self._remembered.get(header)
        if found is not None:
            if self._clock.monotonic() < found[1]:
                return found[0]
            del self._remembered[header]
        return await self._verify(header)

    async def _verify(self, header: str) -> Caller:
        token = bearer_token(header)
        for verifier in self._verifiers:
            recognised = await verifier.verify(token)
            if recognised is not None:
                self._remember(header, recognised, verifier.recheck_seconds)
                return recognised.caller
        raise InvalidTokenError(
            "The token is not valid here", next_step="Get a new token, then call again."
        )

    def _remember(self, header: str, recognised: Recognised, recheck_seconds: float | None) -> None:
        lives = [] if recheck_seconds is None else [recheck_seconds]
        if recognised.expires_at is not None:
            lives.append(recognised.expires_at - self._clock.now().timestamp())
        if not lives or min(lives) <= 0:
            return
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._forget_some()
        self._remembered[header] = (recognised.caller, self._clock.monotonic() + min(lives))

    def _forget_some(self) -> None:
        """Drops what has run out and, where that is not enough, the older half."""
        now = self._clock.monotonic()
        kept = [(header, entry) for header, entry in self._remembered.items() if now < entry[1]]
        self._remembered = dict(
            kept[len(kept) - _MOST_REMEMBERED // 2 :] if len(kept) > _MOST_REMEMBERED // 2 else kept
        )


def bearer_token(header: str) -> str:
    """The token of an Authorization header."""
    scheme, _, token = header.partition(" ")
    token = token.strip()
    if (
        scheme.lower() != "bearer"
        or not token
        or len(header) > _LONGEST_HEADER
        or not token.isascii()
        or not token.isprintable()
    ):
        raise InvalidTokenError(
            "The Authorization header must be Bearer and a token", next_step="Send a bearer token."
        )
    return token
