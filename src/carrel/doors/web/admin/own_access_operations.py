"""Each person's own access: what acts for them, and how to end it."""

from __future__ import annotations

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import InsufficientPermissionsError, NotFoundError
from carrel.core.operation import Effect, Question
from carrel.doors.web.admin.access_views import (
    describe_grants,
    describe_new_token,
    describe_token,
    iso_time,
)
from carrel.doors.web.admin.account_holder import AccountHolder
from carrel.doors.web.admin.callers import READ_COST, NotAPersonError, refuse_programs
from carrel.doors.web.admin.models import (
    ChangedUser,
    NewToken,
    OwnAccess,
    OwnSession,
    RevokedAccess,
)
from carrel.doors.web.admin.program_operations import NamedGrant
from carrel.doors.web.admin.questions import EmptyQuestion, NamedAccount
from carrel.doors.web.sessions import WEB_CLIENT
from carrel.policy.authorization.login import SESSION_SECONDS, has_password
from carrel.policy.identity import StaticToken
from carrel.policy.scopes import check_scopes

_GUESS_COST = 5.0
_LONGEST_DAYS = 365
_LONGEST_PASSWORD = 1000


class OwnTokenWish(Question):
    name: str = Field(min_length=1, max_length=60)
    scopes: list[str] = Field(min_length=1, max_length=50)
    days: int = Field(default=90, ge=1, le=_LONGEST_DAYS)


class PasswordChange(Question):
    password: str = Field(min_length=1, max_length=_LONGEST_PASSWORD)
    new_password: str = Field(min_length=1, max_length=_LONGEST_PASSWORD)


# Whoever was recognised may look at their own.
_NO_SCOPES: frozenset[str] = frozenset()


class OwnAccessOperations(AccountHolder):
    """What a person does with their own access; nothing of anybody else's is told."""

    @operation(
        title="Look at your access",
        description="What you may do, and the tokens, programs and browsers that act for you.",
        scopes=_NO_SCOPES,
        cost=READ_COST,
    )
    async def get_own_access(self, question: EmptyQuestion, call: Call) -> OwnAccess:
        self._require_person(call)
        user, accounts = call.caller.user_id, self._found
        own = OwnAccess(
            user=user,
            mode=self._facts.mode,
            scopes=sorted(call.caller.scopes),
            has_account=False,
        )
        if accounts is None:
            return own
        now = accounts.now
        tokens = [token for token in await accounts.list_tokens() if _acts_for(token, user)]
        uses = await accounts.list_grants(user)
        kept = await accounts.store.user(user)
        sessions = await accounts.store.sessions(user, now)
        return own.model_copy(
            update={
                "has_account": True,
                "makes_tokens": kept is not None,
                "has_password": kept is not None and has_password(kept),
                "tokens": [describe_token(token, now) for token in tokens],
                "grants": await describe_grants(accounts, uses, self._facts.known_clients),
                "sessions": [
                    OwnSession(
                        began_at=iso_time(session.expires_at - SESSION_SECONDS),
                        expires_at=iso_time(session.expires_at),
                    )
                    for session in sessions
                ],
            }
        )

    @operation(
        title="Revoke your token",
        description="Make a token that acts for you worthless within seconds.",
        scopes=_NO_SCOPES,
        effect=Effect.DESTROYS,
    )
    async def revoke_own_token(self, question: NamedAccount, call: Call) -> RevokedAccess:
        self._require_person(call)
        tokens = await self._accounts.store.tokens()
        own = [
            token
            for token in tokens
            if token.name == question.name and _acts_for(token, call.caller.user_id)
        ]
        if not own:
            raise NotFoundError("Token", question.name, next_step="Load the page again.")
        await self._accounts.revoke_token(question.name)
        return RevokedAccess(name=question.name)

    @operation(
        title="Take back a consent",
        description="End what you allowed to a program; its tokens stop within seconds.",
        scopes=_NO_SCOPES,
        effect=Effect.DESTROYS,
    )
    async def revoke_own_grant(self, question: NamedGrant, call: Call) -> RevokedAccess:
        self._require_person(call)
        grant = await self._accounts.store.grant(question.grant_id)
        if grant is None or grant.user_name != call.caller.user_id:
            raise NotFoundError("Grant", question.grant_id, next_step="Load the page again.")
        await self._accounts.revoke_grant(question.grant_id)
        return RevokedAccess(name=question.grant_id)

    @operation(
        title="Log out everywhere",
        description="End your sessions in every browser, this one included.",
        scopes=_NO_SCOPES,
        effect=Effect.WRITES,
    )
    async def end_own_sessions(self, question: EmptyQuestion, call: Call) -> ChangedUser:
        self._require_person(call)
        ended = await self._accounts.store.end_sessions(call.caller.user_id)
        return ChangedUser(name=call.caller.user_id, ended_sessions=ended)

    @operation(
        title="Make a token of your own",
        description="A token that acts for you with no more than you may; shown once.",
        scopes=_NO_SCOPES,
        effect=Effect.WRITES,
    )
    async def create_own_token(self, question: OwnTokenWish, call: Call) -> NewToken:
        self._require_person(call)
        scopes = check_scopes(question.scopes)
        beyond = sorted(scopes - call.caller.scopes)
        if beyond:
            raise InsufficientPermissionsError(scopes, call.caller.scopes)
        token, secret = await self._accounts.create_own_token(
            call.caller.user_id, question.name, scopes, days=question.days
        )
        return describe_new_token(token, secret)

    @operation(
        title="Change your password",
        description="Sets a new password; your sessions and what you allowed to programs end.",
        scopes=_NO_SCOPES,
        effect=Effect.WRITES,
        # Guessing the present one is as slow as at the log-in.
        cost=_GUESS_COST,
    )
    async def change_own_password(self, question: PasswordChange, call: Call) -> ChangedUser:
        self._require_person(call)
        await self._accounts.change_password(
            call.caller.user_id, question.password, question.new_password
        )
        return ChangedUser(name=call.caller.user_id)

    def _require_person(self, call: Call) -> None:
        """Refuse programs; where people log in, a token is one too, whatever its scopes are."""
        refuse_programs(call)
        if self._facts.can_log_in and call.caller.client_id != WEB_CLIENT:
            raise NotAPersonError


def _acts_for(token: StaticToken, user_id: str) -> bool:
    return token.user_id == user_id
