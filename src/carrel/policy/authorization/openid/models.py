"""People, sign-ins and the provider of an institute's log-in, and what keeps and asks them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from carrel.core.errors import CarrelError, InsufficientPermissionsError
from carrel.policy.authorization.models import Session, User


@dataclass(frozen=True, slots=True)
class Person:
    """A user who logs in at a provider: known by issuer and subject, never by a mail address."""

    user_name: str
    issuer: str
    subject: str
    display_name: str
    groups: tuple[str, ...]
    read_at: float


@dataclass(frozen=True, slots=True)
class SignIn:
    """One log-in at the provider, to which sessions and grants belong.

    `sid` is the provider's name of its session; `sealed_refresh` its refresh token, encrypted.
    """

    sign_in_id: str
    user_name: str
    issuer: str
    sid: str | None
    sealed_refresh: str | None
    began_at: float
    read_at: float


@dataclass(frozen=True, slots=True)
class EndedAccess:
    """What a log-out ended."""

    user_names: tuple[str, ...]
    sessions: int
    grants: int


class SignInStore(Protocol):
    """Keeps people and their sign-ins; each method is one transaction."""

    async def person(self, issuer: str, subject: str) -> Person | None: ...

    async def person_of(self, user_name: str) -> Person | None: ...

    async def people(self) -> list[Person]: ...

    async def add_person(self, person: Person, user: User) -> bool:
        """Add a user and who it is; False where the name, in any case, or the person is there."""

    async def link_person(self, person: Person, marker: str, at: float) -> bool:
        """Let an existing user log in as this person only; False if there is no such user."""

    async def record_groups(self, person: Person, scopes: frozenset[str], at: float) -> None:
        """Store what was read; without a scope the person's sessions end and grants are revoked."""

    async def begin_sign_in(self, sign_in: SignIn, session: Session, password_hash: str) -> bool:
        """Store both; False if the user is disabled or no longer the same."""

    async def sign_in(self, sign_in_id: str) -> SignIn | None: ...

    async def claim_reading(self, sign_in_id: str, now: float, until: float) -> bool:
        """Whether this process may ask the provider now; False where another one does."""

    async def finish_reading(
        self, sign_in_id: str, sealed_refresh: str | None, read_at: float
    ) -> None: ...

    async def end_sign_in(self, sign_in_id: str, at: float) -> None:
        """End the sessions of one sign-in and revoke its grants."""

    async def end_sign_ins(
        self,
        issuer: str,
        *,
        sid: str | None,
        subject: str | None,
        at: float,
        token_id: str,
        expires_at: float,
    ) -> EndedAccess | None:
        """End sessions and revoke grants of one provider session, or of all of a person.

        None, and nothing is ended, where this log-out token was used before.
        """


@dataclass(frozen=True, slots=True)
class TokenAnswer:
    """What the provider's token endpoint answered, with any status."""

    status: int
    facts: Mapping[str, Any]


class OpenIdService(Protocol):
    """Asks a provider. Every method raises UnavailableError, and no wait is unbounded."""

    async def fetch_metadata(self) -> Mapping[str, Any]: ...

    async def fetch_keys(self, url: str) -> Mapping[str, Any]: ...

    async def post_token(
        self, url: str, form: Mapping[str, str], authorization: str | None
    ) -> TokenAnswer: ...

    async def fetch_userinfo(self, url: str, access_token: str) -> Mapping[str, Any]: ...


class SignInRefusedError(CarrelError):
    """A log-in that cannot be believed or was not finished; the person may start again."""

    code = "login_refused"


class NoGroupError(CarrelError):
    """A person whom the provider knows and who is in none of the groups of this desk."""

    code = InsufficientPermissionsError.code
