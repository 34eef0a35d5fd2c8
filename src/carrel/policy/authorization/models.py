"""Users, clients, grants, tokens and sessions of the authorization server, and their store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from carrel.core.errors import CarrelError
from carrel.policy.identity import StaticTokens


@dataclass(frozen=True, slots=True)
class User:
    """A person who can log in. `scopes` is the most they can grant to a client."""

    name: str
    password_hash: str
    scopes: frozenset[str]
    created_at: float
    is_disabled: bool = False


class ClientKind(Enum):
    """Where a client was made known."""

    SETTINGS = "settings"
    REGISTERED = "registered"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Client:
    """A program that asks for access for a person; all clients are public."""

    client_id: str
    name: str
    redirect_uris: tuple[str, ...]
    kind: ClientKind
    created_at: float = 0.0
    used_at: float | None = None
    website: str | None = None
    scopes: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """A person's consent to a client, to which codes and refresh tokens belong."""

    grant_id: str
    client_id: str
    user_name: str
    scopes: frozenset[str]
    resource: str
    created_at: float
    revoked_at: float | None = None
    # The log-in at an institute in which the person consented.
    sign_in: str | None = None


@dataclass(frozen=True, slots=True)
class GrantUse:
    """A grant that is good, when its client last came for a token, and until when it may."""

    grant: Grant
    used_at: float
    expires_at: float


@dataclass(frozen=True, slots=True)
class AuthorizationCode:
    """An authorization code, stored as a hash, valid once and for a minute."""

    code_hash: str
    grant_id: str
    redirect_uri: str
    challenge: str
    expires_at: float
    used_at: float | None = None


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """A refresh token, stored as a hash; its successor is derived with `successor_salt`."""

    token_hash: str
    grant_id: str
    created_at: float
    expires_at: float
    used_at: float | None = None
    successor_salt: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A browser in which a person has logged in; `sign_in` is that at an institute."""

    session_hash: str
    user_name: str
    expires_at: float
    sign_in: str | None = None
    browser: str = ""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key in PEM. Generations count up, and only one process can make the next one."""

    generation: int
    kid: str
    private_pem: str
    created_at: float


class OAuthError(CarrelError):
    """A refusal with one of OAuth's error codes, told to the client as JSON or in the redirect."""

    code = "oauth_refused"

    def __init__(
        self, error: str, description: str, *, retry_after_seconds: int | None = None
    ) -> None:
        facts: dict[str, object] = {"error": error}
        if retry_after_seconds is not None:
            facts["retry_after"] = retry_after_seconds
        super().__init__(description, details=facts)
        self.error = error
        self.retry_after_seconds = retry_after_seconds


class UntrustedRequestError(CarrelError):
    """A client or redirect address that cannot be trusted: shown, never redirected."""

    code = "invalid_input"


class LoginRefusedError(CarrelError):
    """The name and the password do not fit, or there is no such user; nobody is told which."""

    code = "login_refused"

    def __init__(self) -> None:
        super().__init__(
            "That name and password do not fit",
            next_step="Try again, or ask the operator to reset the password.",
        )


class AccessStore(StaticTokens, Protocol):
    """Keeps users, clients and tokens. Methods are atomic; adding a duplicate answers False."""

    async def add_user(self, user: User) -> bool: ...

    async def user(self, name: str) -> User | None: ...

    async def users(self) -> list[User]: ...

    async def set_disabled(self, name: str, is_disabled: bool, at: float) -> bool:
        """Disabling also revokes grants, ends sessions and forgets known origins."""

    async def set_password(self, name: str, password_hash: str, at: float) -> bool:
        """Also revokes the user's grants with all their tokens, and ends sessions."""

    async def set_scopes(self, name: str, scopes: frozenset[str]) -> bool:
        """Tokens and grants of the user never have more than these from then on."""

    async def add_client(self, client: Client) -> bool: ...

    async def client(self, client_id: str) -> Client | None: ...

    async def clients(self, limit: int) -> list[Client]:
        """The registered clients, the last used first."""

    async def clean_up(self, *, unused_before: float, idle_before: float, now: float) -> int:
        """Delete unused and idle clients and expired records; returns the number of clients."""

    async def count_clients(self) -> int: ...

    async def begin_grant(self, grant: Grant, code: AuthorizationCode, password_hash: str) -> bool:
        """Store a grant and its code; False if the password changed or the user is disabled."""

    async def grant(self, grant_id: str) -> Grant | None:
        """The grant, unless it is revoked or its user is disabled."""

    async def grants(self, user_name: str | None, now: float) -> list[GrantUse]:
        """The good grants of a user, or of all, the last used first."""

    async def revoke_grant(self, grant_id: str, at: float) -> bool: ...

    async def code(self, code_hash: str) -> AuthorizationCode | None: ...

    async def use_code(self, code_hash: str, at: float, refresh: RefreshToken) -> bool:
        """Mark the code used and store its refresh token; False if it was used already."""

    async def refresh(self, token_hash: str) -> RefreshToken | None: ...

    async def rotate(self, token_hash: str, at: float, successor: RefreshToken, salt: str) -> bool:
        """Mark a refresh token used and store its successor; False if it was used already."""

    async def add_session(self, session: Session, password_hash: str) -> bool:
        """Store a session; False if the password changed or the user is disabled."""

    async def session(self, session_hash: str, now: float) -> Session | None: ...

    async def sessions(self, user_name: str | None, now: float) -> list[Session]:
        """The sessions of a user, or of all, the newest first."""

    async def remove_session(self, session_hash: str) -> None: ...

    async def end_sessions(self, user_name: str) -> int:
        """Ends every session of a user; returns how many there were."""

    async def known_origins(
        self, user_name: str, origins: Collection[str], since: float
    ) -> frozenset[str]:
        """Which of these origins the user has logged in from since then."""

    async def remember_origins(self, user_name: str, origins: Collection[str], at: float) -> None:
        """Store the origins of a user's log-ins; only the latest ones of each user stay."""

    async def add_key(self, key: SigningKey) -> bool: ...

    async def keys(self) -> list[SigningKey]: ...

    async def remove_keys(self, before_generation: int) -> None: ...


# Looks again whether a grant may still give tokens. Raises OAuthError or UnavailableError.
GrantCheck = Callable[[Grant], Awaitable[None]]


class ClientDocuments(Protocol):
    """Fetches client documents and their lifetime in seconds. Raises UnavailableError."""

    async def fetch(self, url: str) -> tuple[Mapping[str, Any], float]: ...
