"""Who may call, how often, and where it is written down; remote callers' parts load at need."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.core.catalogue import Catalogue
from carrel.core.clock import Clock
from carrel.policy.audit import Audit
from carrel.policy.identity import Identity, LocalIdentity, LocalSecretIdentity
from carrel.policy.limits import Limits, NoLimits
from carrel.policy.quotas import NoQuotas, Quotas
from carrel.settings import Settings
from carrel.settings.network_rules import refuse_open_server
from carrel.stores.audit_queue import QueuedAudit
from carrel.stores.home.local_secret import local_secret
from carrel.wiring.audit import AuditStream, open_audit
from carrel.wiring.home import open_driver

if TYPE_CHECKING:
    from carrel.policy.authorization.built_in import BuiltInAuthorization
    from carrel.policy.authorization.models import AccessStore, ClientDocuments
    from carrel.stores.sql.access import SqlAccess


@dataclass(slots=True)
class Access:
    """The policies, and how to close what they hold open."""

    identity: Identity
    limits: Limits
    audit: Audit
    mode: str
    built_in: BuiltInAuthorization | None = None
    authorization_servers: tuple[str, ...] = ()
    store: AccessStore | None = None
    closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    quotas: Quotas = field(default_factory=NoQuotas)

    async def describe_users(self) -> str:
        """The mode and how many users there are; raises CarrelError."""
        users = len(await self.store.users()) if self.store is not None else 0
        hint = "carrel users add makes one." if self.mode == "builtin" and not users else ""
        return f"{self.mode}, {users} users. {hint}".strip()

    async def describe_institute(self) -> str:
        """Where people log in, asked whether it answers; raises CarrelError."""
        institute = None if self.built_in is None else self.built_in.institute
        if institute is None:
            return "no institute"
        provider = await institute.metadata.get()
        return f"{institute.name} at {provider.issuer}"

    async def ping(self) -> str:
        """Asks the store one cheap question; raises CarrelError."""
        if self.store is not None:
            await self.store.user("")
        return self.mode

    async def close(self) -> None:
        for closer in reversed(self.closers):
            await closer()
        if isinstance(self.audit, QueuedAudit):
            # Closing waits for the writing thread, so it happens off the event loop.
            await asyncio.to_thread(self.audit.close)


def open_access(
    settings: Settings,
    catalogue: Catalogue,
    clock: Clock,
    *,
    documents: ClientDocuments | None = None,
    audit_stream: AuditStream = "stderr",
) -> Access:
    """Builds what the settings ask for; refuses settings that would leave a door open."""
    refuse_open_server(settings)
    audit = open_audit(settings, clock, stream=audit_stream)
    if settings.auth.mode in {None, "local"}:
        is_secret = settings.auth.local_secret
        identity = (
            LocalSecretIdentity(local_secret(settings.home)) if is_secret else LocalIdentity()
        )
        return Access(identity, NoLimits(), audit, "local")
    from carrel.wiring.remote_access import open_remote_access

    return open_remote_access(settings, catalogue, clock, audit, documents=documents)


def open_access_store(settings: Settings) -> SqlAccess:
    """Where users, tokens, clients and grants are kept."""
    from carrel.stores.sql.access import SqlAccess

    return SqlAccess(open_driver(settings, "access", SqlAccess.schema_steps))
