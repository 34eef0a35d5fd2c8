"""Tokens for scripts, programs and what people allowed them, for administrators."""

from __future__ import annotations

from collections import Counter

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.operation import Effect, Question
from carrel.doors.web.admin.access_views import (
    describe_client,
    describe_grants,
    describe_new_token,
    describe_token,
    document_host,
    iso_time,
)
from carrel.doors.web.admin.account_holder import AccountHolder
from carrel.doors.web.admin.callers import (
    ADMIN_SCOPES,
    READ_COST,
    refuse_programs,
)
from carrel.doors.web.admin.models import (
    ClientAccess,
    ClientRow,
    NewToken,
    RevokedAccess,
    TokenList,
)
from carrel.doors.web.admin.questions import EmptyQuestion, NamedAccount
from carrel.policy.scopes import check_scopes

_MOST_CLIENTS = 200
_LONGEST_DAYS = 3650


class TokenWish(Question):
    name: str = Field(min_length=1, max_length=80)
    scopes: list[str] = Field(min_length=1, max_length=50)
    days: int | None = Field(
        default=None, ge=1, le=_LONGEST_DAYS, description="Without it, the token never ends"
    )
    user: str | None = Field(default=None, max_length=200)


class NamedGrant(Question):
    grant_id: str = Field(min_length=1, max_length=200)


class ProgramOperations(AccountHolder):
    """What administrators do with access of programs."""

    @operation(
        title="List tokens",
        description="Every static token with its state, never its secret.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def list_tokens(self, question: EmptyQuestion, call: Call) -> TokenList:
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
        return describe_new_token(token, secret)

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
    async def list_clients(self, question: EmptyQuestion, call: Call) -> ClientAccess:
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
                name=document_host(client_id),
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
                *(describe_client(each, counts) for each in facts.known_clients),
                *documents,
                *(describe_client(each, counts) for each in registered),
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
