"""The people who can log in, for administrators."""

from __future__ import annotations

from collections import Counter

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import ConflictError
from carrel.core.operation import Effect
from carrel.doors.web.admin.access_views import iso_time
from carrel.doors.web.admin.account_holder import AccountHolder
from carrel.doors.web.admin.callers import (
    ADMIN_SCOPES,
    READ_COST,
    refuse_programs,
)
from carrel.doors.web.admin.models import (
    ChangedUser,
    NewPassword,
    UserList,
    UserRow,
)
from carrel.doors.web.admin.questions import EmptyQuestion, NamedAccount
from carrel.policy.authorization.login import new_password
from carrel.policy.scopes import check_scopes


class NewAccount(NamedAccount):
    scopes: list[str] = Field(min_length=1, max_length=50)


class ResetPassword(NamedAccount):
    revokes_tokens: bool = False


class AccountOperations(AccountHolder):
    """What administrators do with users."""

    @operation(
        title="List users",
        description="Every user with scopes, sessions, tokens and grants.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def list_users(self, question: EmptyQuestion, call: Call) -> UserList:
        mode, can_log_in = self._facts.mode, self._facts.can_log_in
        if self._found is None:
            return UserList(mode=mode, has_accounts=False, can_log_in=can_log_in)
        store, now = self._found.store, self._found.now
        sessions = Counter(session.user_name for session in await store.sessions(None, now))
        grants = Counter(use.grant.user_name for use in await store.grants(None, now))
        tokens = Counter(token.user_name for token in await store.tokens() if token.is_good_at(now))
        rows = [
            UserRow(
                name=user.name,
                scopes=sorted(user.scopes),
                is_disabled=user.is_disabled,
                created_at=iso_time(user.created_at),
                session_count=sessions[user.name],
                token_count=tokens[user.name],
                grant_count=grants[user.name],
            )
            for user in await store.users()
        ]
        return UserList(mode=mode, has_accounts=True, can_log_in=can_log_in, users=rows)

    @operation(
        title="Add a user",
        description="Make a user with a generated password, which is shown once.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def add_user(self, question: NewAccount, call: Call) -> NewPassword:
        refuse_programs(call)
        password = new_password()
        user = await self._accounts.add_user(question.name, check_scopes(question.scopes), password)
        return NewPassword(name=user.name, password=password)

    @operation(
        title="Reset a password",
        description="Give a user a new password, shown once; sessions and grants end.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def reset_password(self, question: ResetPassword, call: Call) -> NewPassword:
        refuse_programs(call)
        password = new_password()
        tokens = await self._accounts.reset_password(
            question.name, password, revokes_tokens=question.revokes_tokens
        )
        return NewPassword(
            name=question.name,
            password=password,
            tokens=tokens,
            are_tokens_revoked=question.revokes_tokens,
        )

    @operation(
        title="Set a user's scopes",
        description="What a user, with all that acts for them, may do from now on.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def set_user_scopes(self, question: NewAccount, call: Call) -> ChangedUser:
        refuse_programs(call)
        scopes = check_scopes(question.scopes)
        if question.name == call.caller.user_id and "admin" not in scopes:
            raise ConflictError(
                "You cannot take your own right to administer",
                next_step="Let another administrator do it, or use carrel users.",
            )
        await self._accounts.set_scopes(question.name, scopes)
        return ChangedUser(name=question.name)

    @operation(
        title="Disable a user",
        description="Lock a user out: sessions and grants end, tokens stop within seconds.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def disable_user(self, question: NamedAccount, call: Call) -> ChangedUser:
        refuse_programs(call)
        if question.name == call.caller.user_id:
            raise ConflictError(
                "You cannot lock yourself out",
                next_step="Let another administrator do it, or use carrel users.",
            )
        await self._accounts.set_disabled(question.name, is_disabled=True)
        return ChangedUser(name=question.name)

    @operation(
        title="Enable a user",
        description="Let a disabled user in again.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def enable_user(self, question: NamedAccount, call: Call) -> ChangedUser:
        refuse_programs(call)
        await self._accounts.set_disabled(question.name, is_disabled=False)
        return ChangedUser(name=question.name)

    @operation(
        title="Revoke all that acts for a user",
        description="End tokens, consents to programs and sessions; the user can log in again.",
        scopes=ADMIN_SCOPES,
        effect=Effect.DESTROYS,
    )
    async def revoke_all_access(self, question: NamedAccount, call: Call) -> ChangedUser:
        refuse_programs(call)
        ended = await self._accounts.revoke_everything(question.name)
        return ChangedUser(
            name=question.name,
            ended_sessions=ended.sessions,
            ended_tokens=ended.tokens,
            ended_grants=ended.grants,
        )

    @operation(
        title="End a user's sessions",
        description="Log a user out in every browser.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def end_user_sessions(self, question: NamedAccount, call: Call) -> ChangedUser:
        refuse_programs(call)
        ended = await self._accounts.end_sessions(question.name)
        return ChangedUser(name=question.name, ended_sessions=ended)
