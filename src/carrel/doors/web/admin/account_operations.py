"""Users, tokens, clients and grants, for administrators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import ConflictError
from carrel.core.operation import Effect, Question
from carrel.doors.web.admin.callers import (
    ADMIN_SCOPES,
    READ_COST,
    NoAccountsError,
    refuse_programs,
)
from carrel.doors.web.admin.models import (
    ChangedUser,
    ClientAccess,
    ClientRow,
    GrantRow,
    NewPassword,
    NewToken,
    RevokedAccess,
    TokenList,
    TokenRow,
    TokenState,
    UserList,
    UserRow,
)
from carrel.doors.web.admin.ports import ServerFacts
from carrel.policy.authorization.administration import AccountAdministration
from carrel.policy.authorization.login import new_password
from carrel.policy.authorization.models import Client, GrantUse
from carrel.policy.identity import StaticToken
from carrel.policy.scopes import check_scopes

_MOST_CLIENTS = 200
_LONGEST_DAYS = 3650


class Nobody(Question):
    """Asks of no one in particular."""


class NamedAccount(Question):
    name: str = Field(min_length=1, max_length=200)


class NewAccount(NamedAccount):
    scopes: list[str] = Field(min_length=1, max_length=50)


class ResetPassword(NamedAccount):
    revokes_tokens: bool = False


class TokenWish(Question):
    name: str = Field(min_length=1, max_length=80)
    scopes: list[str] = Field(min_length=1, max_length=50)
    days: int | None = Field(
        default=None, ge=1, le=_LONGEST_DAYS, description="Without it, the token never ends"
    )
    user: str | None = Field(default=None, max_length=200)


class NamedGrant(Question):
    grant_id: str = Field(min_length=1, max_length=200)


class AccountOperations:
    """What administrators do with accounts; `accounts` is None where the mode keeps none here."""

    def __init__(self, accounts: AccountAdministration | None, facts: ServerFacts) -> None:
        self._found = accounts
        self._facts = facts

    @property
    def _accounts(self) -> AccountAdministration:
        if self._found is None:
            raise NoAccountsError(self._facts.mode)
        return self._found

    @operation(
        title="List users",
        description="Every user with scopes, sessions, tokens and grants.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def list_users(self, question: Nobody, call: Call) -> UserList:
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
        title="End a user's sessions",
        description="Log a user out in every browser.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def end_user_sessions(self, question: NamedAccount, call: Call) -> ChangedUser:
        refuse_programs(call)
        ended = await self._accounts.end_sessions(question.name)
        return ChangedUser(name=question.name, ended_sessions=ended)

    @operation(
        title="List tokens",
        description="Every static token with its state, never its secret.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def list_tokens(self, question: Nobody, call: Call) -> TokenList:
        mode = self._facts.mode
        if self._found is None:
            return TokenList(mode=mode, has_accounts=False, takes_tokens=False)
        now = self._found.now
        return TokenList(
            mode=mode,
            has_accounts=True,
            takes_tokens=mode in {"tokens", "builtin"},
            tokens=[describe_token(token, now) for token in await self._found.list_tokens()],
            users=[user.name for user in await self._found.store.users() if not user.is_disabled],
        )

    @operation(
        title="Create a token",
        description="Make a token for a script; its secret is shown once.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def create_token(self, question: TokenWish, call: Call) -> NewToken:
        refuse_programs(call)
        token, secret = await self._accounts.create_token(
            question.name,
            check_scopes(question.scopes),
            days=question.days,
            user=question.user or None,
        )
        return NewToken(
            name=token.name,
            secret=secret,
            acts_for=token.user_id,
            scopes=sorted(token.scopes),
            expires_at=None if token.expires_at is None else iso_time(token.expires_at),
        )

    @operation(
        title="Revoke a token",
        description="Make a token worthless within seconds.",
        scopes=ADMIN_SCOPES,
        effect=Effect.DESTROYS,
    )
    async def revoke_token(self, question: NamedAccount, call: Call) -> RevokedAccess:
        refuse_programs(call)
        await self._accounts.revoke_token(question.name)
        return RevokedAccess(name=question.name)

    @operation(
        title="List clients",
        description="Programs that asked for access, and what each person allowed them.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def list_clients(self, question: Nobody, call: Call) -> ClientAccess:
        facts = self._facts
        if self._found is None or not facts.can_log_in:
            return ClientAccess(mode=facts.mode, has_clients=False)
        store = self._found.store
        uses = await self._found.list_grants()
        registered = await store.clients(_MOST_CLIENTS)
        counts = Counter(use.grant.client_id for use in uses)
        # The last used come first, so that the first of each client is kept.
        last_used = {use.grant.client_id: use.used_at for use in reversed(uses)}
        grants = await describe_grants(self._found, uses, facts.known_clients)
        listed = {client.client_id for client in (*facts.known_clients, *registered)}
        documents = [
            ClientRow(
                client_id=client_id,
                name=_document_host(client_id),
                kind="document",
                website=client_id,
                redirect_uris=[],
                used_at=iso_time(last_used[client_id]),
                grant_count=count,
            )
            for client_id, count in counts.items()
            if client_id not in listed and client_id.startswith("https://")
        ]
        return ClientAccess(
            mode=facts.mode,
            has_clients=True,
            grants=grants,
            clients=[
                *(_describe_client(each, counts) for each in facts.known_clients),
                *documents,
                *(_describe_client(each, counts) for each in registered),
            ],
            registered_count=await store.count_clients(),
        )

    @operation(
        title="Revoke a grant",
        description="Take back a person's consent to a program; its tokens stop within seconds.",
        scopes=ADMIN_SCOPES,
        effect=Effect.DESTROYS,
    )
    async def revoke_grant(self, question: NamedGrant, call: Call) -> RevokedAccess:
        refuse_programs(call)
        await self._accounts.revoke_grant(question.grant_id)
        return RevokedAccess(name=question.grant_id)


def iso_time(moment: float) -> str:
    """A moment as ISO 8601 in UTC."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def describe_token(token: StaticToken, now: float) -> TokenRow:
    """A token without its hash."""
    state: TokenState = "active"
    if token.revoked_at is not None:
        state = "revoked"
    elif token.expires_at is not None and token.expires_at <= now:
        state = "expired"
    return TokenRow(
        name=token.name,
        state=state,
        user_name=token.user_name,
        acts_for=token.user_id,
        scopes=sorted(token.scopes),
        created_at=iso_time(token.created_at),
        expires_at=None if token.expires_at is None else iso_time(token.expires_at),
        revoked_at=None if token.revoked_at is None else iso_time(token.revoked_at),
    )


async def describe_grants(
    accounts: AccountAdministration, uses: Sequence[GrantUse], known: Sequence[Client]
) -> list[GrantRow]:
    """Grants with the names that their clients give themselves."""
    names = {client.client_id: client.name for client in known}
    rows = []
    for use in uses:
        grant = use.grant
        if grant.client_id not in names:
            names[grant.client_id] = await _find_client_name(accounts, grant.client_id)
        rows.append(
            GrantRow(
                grant_id=grant.grant_id,
                user_name=grant.user_name,
                client_id=grant.client_id,
                client_name=names[grant.client_id],
                scopes=sorted(grant.scopes),
                resource=grant.resource,
                created_at=iso_time(grant.created_at),
                used_at=iso_time(use.used_at),
                expires_at=iso_time(use.expires_at),
            )
        )
    return rows


async def _find_client_name(accounts: AccountAdministration, client_id: str) -> str:
    if client_id.startswith("https://"):
        return _document_host(client_id)
    client = await accounts.store.client(client_id)
    return client_id if client is None else client.name


def _describe_client(client: Client, counts: Counter[str]) -> ClientRow:
    return ClientRow(
        client_id=client.client_id,
        name=client.name,
        kind=client.kind.value,
        website=client.website or "",
        redirect_uris=list(client.redirect_uris),
        created_at=iso_time(client.created_at) if client.created_at else "",
        used_at=iso_time(client.used_at) if client.used_at else "",
        grant_count=counts[client.client_id],
    )


def _document_host(client_id: str) -> str:
    """The host that vouches for a client which is known by the address of its document."""
    try:
        return urlsplit(client_id).hostname or client_id
    except ValueError:
        return client_id
