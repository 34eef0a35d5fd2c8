"""Tokens, grants and clients as the pages tell of them: without hashes, and a secret only once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit

from carrel.doors.web.admin.models import ClientRow, GrantRow, NewToken, TokenRow, TokenState
from carrel.policy.authorization.administration import AccountAdministration
from carrel.policy.authorization.models import Client, GrantUse
from carrel.policy.identity import StaticToken


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


def describe_new_token(token: StaticToken, secret: str) -> NewToken:
    """A token just made, with the secret that is never shown again."""
    return NewToken(
        name=token.name,
        secret=secret,
        acts_for=token.user_id,
        scopes=sorted(token.scopes),
        expires_at=None if token.expires_at is None else iso_time(token.expires_at),
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
        return document_host(client_id)
    client = await accounts.store.client(client_id)
    return client_id if client is None else client.name


def describe_client(client: Client, counts: Counter[str]) -> ClientRow:
    """A client with the number of grants that it has."""
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


def document_host(client_id: str) -> str:
    """The host that vouches for a client which is known by the address of its document."""
    try:
        return urlsplit(client_id).hostname or client_id
    except ValueError:
        return client_id
