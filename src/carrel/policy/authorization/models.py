"""What the authorization server knows: users, clients, grants, codes, refresh tokens, sessions and
keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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
    """A program that asks for access on behalf of a person. All clients are public: none holds a
    secret.
    """

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
    """What a person allowed a client to do: the family that its codes and refresh tokens belong
    to.
    """

    grant_id: str
    client_id: str
    user_name: str
    scopes: frozenset[str]
    resource: str
    created_at: float
    revoked_at: float | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """An authorization code, kept as its hash, good once and for a minute."""

    code_hash: str
    grant_id: str
    redirect_uri: str
    challenge: str
    expires_at: float
    used_at: float | None = None


@dataclass(frozen=True, slots=True)
class Refresh:
    """A refresh token, kept as its hash, good once. `successor_salt` and the token itself make the
    token that followed it.
    """

    token_hash: str
    grant_id: str
    created_at: float
    expires_at: float
    used_at: float | None = None
    successor_salt: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A browser in which a person has logged in."""

    session_hash: str
    user_name: str
    expires_at: float


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key in PEM. Generations count up, and only one process can make the next one."""

    generation: int
    kid: str
    private_pem: str
    created_at: float
