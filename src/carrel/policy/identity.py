"""Identity: turns the credentials of a visit into a caller, or refuses."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from carrel.core.caller import ANONYMOUS_USER, LOCAL_USER, Caller, Visit
from carrel.core.clock import Clock
from carrel.core.errors import UnauthenticatedError
from carrel.policy.scopes import ALL_SCOPES, expand_scopes, limit_scopes

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
    """The one local user, with every scope and no rate limit."""

    def __init__(self) -> None:
        self._caller = Caller(user_id=LOCAL_USER, scopes=ALL_SCOPES, is_limited=False)

    async def identify(self, visit: Visit) -> Caller:
        return self._caller


class LocalSecretIdentity:
    """The local user, authenticated over HTTP by a secret that only their account can read."""

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
class VerifiedToken:
    """A caller, and the second (since 1970) after which the proof is worth nothing."""

    caller: Caller
    expires_at: float | None


class TokenVerifier(Protocol):
    """Verifies one kind of token: None for another kind, InvalidTokenError for a bad one.

    A verified token is cached for `recheck_seconds`; None caches it until it expires.
    """

    recheck_seconds: float | None

    async def verify(self, token: str) -> VerifiedToken | None: ...


class BearerIdentity:
    """Recognises bearer tokens by its verifiers; remembers verified ones."""

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

    def _remember(
        self, header: str, recognised: VerifiedToken, recheck_seconds: float | None
    ) -> None:
        lives = [] if recheck_seconds is None else [recheck_seconds]
        if recognised.expires_at is not None:
            lives.append(recognised.expires_at - self._clock.now().timestamp())
        if not lives or min(lives) <= 0:
            return
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._forget_some()
        self._remembered[header] = (recognised.caller, self._clock.monotonic() + min(lives))

    def _forget_some(self) -> None:
        """Drop expired entries and, if that is not enough, the older half."""
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


LONGEST_USER_NAME = 255
# The local user, the anonymous one, and what the audit log calls operators and static tokens.
_RESERVED_NAMES = frozenset({LOCAL_USER, ANONYMOUS_USER})
_RESERVED_PREFIXES = (f"{LOCAL_USER}:", f"{ANONYMOUS_USER}:", "token:")


def is_reserved_name(name: str) -> bool:
    """Whether a name is reserved, ignoring case and full-width letters."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
    return folded in _RESERVED_NAMES or folded.startswith(_RESERVED_PREFIXES)


def problem_with_foreign_name(name: object) -> str | None:
    """Why a name in a foreign token cannot be a user here, or None; does not quote it."""
    if not isinstance(name, str) or not name:
        return "names no user"
    if len(name) > LONGEST_USER_NAME:
        return f"names a user with more than {LONGEST_USER_NAME} characters"
    # Also refuses lone surrogates and invisible characters, which no store keeps apart reliably.
    if not name.isprintable() or name != name.strip():
        return "names a user with characters that cannot be shown"
    if is_reserved_name(name):
        return "names a user that is reserved here"
    return None


PREFIX = "carrel_"


@dataclass(frozen=True, slots=True)
class StaticToken:
    """A stored token; without `user_name` it is a user of its own."""

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
    """Stores static tokens; None for an unknown token or one of a disabled user."""

    async def add_token(self, token: StaticToken) -> bool: ...

    async def token_by_hash(self, token_hash: str) -> StaticToken | None: ...

    async def tokens(self) -> list[StaticToken]: ...

    async def user_scopes(self, name: str) -> frozenset[str] | None:
        """What a user may do now; None for an unknown or disabled user."""

    async def revoke_token(self, name: str, at: float) -> bool: ...


def new_secret(prefix: str = PREFIX) -> str:
    """A secret of 256 random bits, so that a plain SHA-256 of it is enough to keep."""
    return prefix + secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class StaticTokenVerifier:
    """Recognises static tokens; a revoked one stops working within `recheck_seconds`.

    A token that acts for a user never has more than the user has now.
    """

    def __init__(self, store: StaticTokens, clock: Clock, recheck_seconds: float = 5.0) -> None:
        self._store = store
        self._clock = clock
        self.recheck_seconds: float | None = recheck_seconds

    async def verify(self, token: str) -> VerifiedToken | None:
        if not token.startswith(PREFIX):
            return None
        wanted = hash_secret(token)
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
        scopes = expand_scopes(await self._present_scopes(found))
        caller = Caller(found.user_id, scopes, client_id=f"token:{found.name}")
        return VerifiedToken(caller, found.expires_at)

    async def _present_scopes(self, token: StaticToken) -> frozenset[str]:
        if token.user_name is None:
            return token.scopes
        most = await self._store.user_scopes(token.user_name)
        if most is None:
            raise InvalidTokenError(
                "The user of the token is not known here", next_step="Ask the operator."
            )
        return limit_scopes(token.scopes, most)
