"""What an operator does with users, tokens and grants, at the command line and in the console."""

from __future__ import annotations

from dataclasses import dataclass, replace

from carrel.core.clock import Clock
from carrel.core.errors import ConflictError, InvalidInputError, NotFoundError
from carrel.policy.authorization.login import (
    LONGEST_PASSWORD,
    Passwords,
    has_password,
    validate_password,
    validate_user_name,
)
from carrel.policy.authorization.models import AccessStore, GrantUse, LoginRefusedError, User
from carrel.policy.identity import StaticToken, hash_secret, new_secret
from carrel.policy.scopes import expand_scopes, limit_scopes

DEFAULT_TOKEN_DAYS = 90.0
_LONGEST_TOKEN_NAME = 80
_DAY_SECONDS = 86_400.0
_MOST_OWN_TOKENS = 50


@dataclass(frozen=True, slots=True)
class EndedAccess:
    """How much of what acted for a person was ended."""

    tokens: int
    grants: int
    sessions: int


class AccountAdministration:
    """Makes and ends accounts and tokens; the caller has checked who may."""

    def __init__(
        self, store: AccessStore, clock: Clock, passwords: Passwords | None = None
    ) -> None:
        self.store = store
        self._clock = clock
        self._passwords = passwords or Passwords()

    @property
    def now(self) -> float:
        return self._clock.now().timestamp()

    async def check_new_name(self, name: str) -> str:
        """The name, if nobody has it in any case; raises InvalidInputError or ConflictError."""
        validate_user_name(name)
        twin = next(
            (user.name for user in await self.store.users() if user.name.lower() == name.lower()),
            None,
        )
        if twin is not None and twin != name:
            raise ConflictError(
                f"There is already a user called {twin}",
                next_step="Choose a name that differs in more than case.",
            )
        return name

    async def add_user(self, name: str, scopes: frozenset[str], password: str) -> User:
        """Adds a user; raises InvalidInputError or ConflictError."""
        await self.check_new_name(name)
        user = User(name, await self._passwords.hash(password), scopes, self.now)
        if not await self.store.add_user(user):
            raise ConflictError(
                f"There is already a user called {name}",
                next_step="Choose another name, or reset the password.",
            )
        return user

    async def reset_password(
        self, name: str, password: str, *, revokes_tokens: bool = False
    ) -> list[str]:
        """Sets a password and ends sessions and grants; returns the user's good static tokens."""
        hashed = await self._passwords.hash(password)
        now = self.now
        if not await self.store.set_password(name, hashed, now):
            raise no_such_user(name)
        acting = [
            token.name
            for token in await self.store.tokens()
            if token.user_name == name and token.is_good_at(now)
        ]
        if revokes_tokens:
            for token_name in acting:
                await self.store.revoke_token(token_name, now)
        return acting

    async def set_disabled(self, name: str, *, is_disabled: bool) -> None:
        """Locks a user out and revokes what they granted, or lets them in; raises NotFoundError."""
        if not await self.store.set_disabled(name, is_disabled, self.now):
            raise no_such_user(name)

    async def set_scopes(self, name: str, scopes: frozenset[str]) -> None:
        """What a user, with all that acts for them, may do from now on; raises NotFoundError."""
        if not await self.store.set_scopes(name, scopes):
            raise no_such_user(name)

    async def end_sessions(self, name: str) -> int:
        """Ends the sessions of a user in every browser; raises NotFoundError."""
        if await self.store.user(name) is None:
            raise no_such_user(name)
        return await self.store.end_sessions(name)

    async def list_tokens(self) -> list[StaticToken]:
        """Every token with what it may do now, which is never more than its user may."""
        most = {user.name: user.scopes for user in await self.store.users()}
        return [_limit(token, most) for token in await self.store.tokens()]

    async def create_token(
        self,
        name: str,
        scopes: frozenset[str],
        *,
        days: float | None = DEFAULT_TOKEN_DAYS,
        user: str | None = None,
    ) -> tuple[StaticToken, str]:
        """A new token and its secret, which nobody can read again; None for `days` never ends."""
        name = " ".join(name.split())[:_LONGEST_TOKEN_NAME]
        if not name or not name.isprintable():
            raise InvalidInputError("A token needs a name", next_step="Say what it is for.")
        if days is not None and days <= 0:
            raise InvalidInputError(
                "A token is good for more than 0 days",
                next_step="Name more days, or let it never expire.",
            )
        if user is not None:
            await self._refuse_more_than_user(user, scopes)
        now = self.now
        secret = new_secret()
        expires_at = None if days is None else now + days * _DAY_SECONDS
        token = StaticToken(name, hash_secret(secret), scopes, now, expires_at, user)
        if not await self.store.add_token(token):
            raise ConflictError(
                f"There is already a token called {name}", next_step="Choose another name."
            )
        return token, secret

    async def revoke_token(self, name: str) -> None:
        """Makes a token worthless within seconds; raises NotFoundError."""
        if not await self.store.revoke_token(name, self.now):
            raise NotFoundError(
                "Token", name, next_step="carrel tokens list shows those there are."
            )

    async def list_grants(self, user_name: str | None = None) -> list[GrantUse]:
        """The good grants of a user, or of all, the last used first."""
        return await self.store.grants(user_name, self.now)

    async def revoke_grant(self, grant_id: str) -> None:
        """Takes back a person's consent to a client; raises NotFoundError."""
        if not await self.store.revoke_grant(grant_id, self.now):
            raise NotFoundError("Grant", grant_id, next_step="It may have been revoked already.")

    async def revoke_token_of(self, user: str, name: str) -> None:
        """Revokes a token that acts for the user; raises NotFoundError for any other."""
        owned = {token.name for token in await self.store.tokens() if token.user_name == user}
        if name not in owned:
            raise NotFoundError("Token", name, next_step=f"carrel people show {user} lists them.")
        await self.revoke_token(name)

    async def revoke_grant_of(self, user: str, grant_id: str) -> None:
        """Takes back what the user allowed a program; raises NotFoundError for any other."""
        grant = await self.store.grant(grant_id)
        if grant is None or grant.user_name != user:
            raise NotFoundError(
                "Grant", grant_id, next_step=f"carrel people show {user} lists them."
            )
        await self.revoke_grant(grant_id)

    async def revoke_everything(self, user: str) -> EndedAccess:
        """Ends tokens, grants and sessions of a user, who can log in again; NotFoundError."""
        if await self.store.user(user) is None:
            raise no_such_user(user)
        now = self.now
        tokens = [
            token.name
            for token in await self.store.tokens()
            if token.user_name == user and token.revoked_at is None
        ]
        for name in tokens:
            await self.store.revoke_token(name, now)
        grants = await self.store.grants(user, now)
        for use in grants:
            await self.store.revoke_grant(use.grant.grant_id, now)
        return EndedAccess(len(tokens), len(grants), await self.store.end_sessions(user))

    async def create_own_token(
        self, user: str, name: str, scopes: frozenset[str], *, days: float
    ) -> tuple[StaticToken, str]:
        """A token that a person makes for themselves, which ends and has a name of theirs."""
        now = self.now
        own = [token for token in await self.store.tokens() if token.user_name == user]
        if len([token for token in own if token.is_good_at(now)]) >= _MOST_OWN_TOKENS:
            raise ConflictError(
                f"You have {_MOST_OWN_TOKENS} tokens already",
                next_step="Revoke those that you do not use.",
            )
        return await self.create_token(f"{user}: {name}", scopes, days=days, user=user)

    async def change_password(self, user: str, password: str, new: str) -> None:
        """Raises LoginRefusedError where the present one does not fit. Ends sessions and grants."""
        kept = await self.store.user(user)
        if kept is None or not has_password(kept):
            raise ConflictError(
                "You do not log in with a password here",
                next_step="Change it where you log in, at your institute.",
            )
        validate_password(new)
        if not await self._passwords.fits(password[:LONGEST_PASSWORD], kept.password_hash):
            raise LoginRefusedError
        await self.store.set_password(user, await self._passwords.hash(new), self.now)

    async def _refuse_more_than_user(self, name: str, scopes: frozenset[str]) -> None:
        """A token that acts for a user may do no more than that user."""
        user = await self.store.user(name)
        if user is None:
            raise no_such_user(name)
        beyond = sorted(scopes - expand_scopes(user.scopes))
        if beyond:
            raise InvalidInputError(
                f"{name} may not do {', '.join(beyond)}, so no token for {name} may",
                next_step=f"Leave that out; {name} has {', '.join(sorted(user.scopes))}.",
            )


def no_such_user(name: str) -> NotFoundError:
    return NotFoundError("User", name, next_step="carrel users list shows who there is.")


def _limit(token: StaticToken, most: dict[str, frozenset[str]]) -> StaticToken:
    if token.user_name is None:
        return token
    allowed = most.get(token.user_name, frozenset())
    return replace(token, scopes=limit_scopes(token.scopes, allowed))
