"""Access, built: who may call, how often, and where it is written down. Everything that only remote
callers need is elsewhere,
so that the local desk starts fast.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from carrel.core.catalogue import Catalogue
from carrel.core.clock import Clock
from carrel.policy.audit import Audit
from carrel.policy.identity import Identity, LocalIdentity, LocalSecretIdentity
from carrel.policy.limits import Limits, NoLimits
from carrel.policy.origin import is_loopback
from carrel.settings import Settings, SettingsError
from carrel.stores.audit_queue import QueuedAudit
from carrel.stores.home.local_secret import local_secret
from carrel.wiring.audit import AuditStream, open_audit
from carrel.wiring.drivers import need_psycopg

if TYPE_CHECKING:
    from carrel.policy.authorization.models import AccessStore, ClientDocuments
    from carrel.stores.sql.access import SqlAccess
    from carrel.wiring.remote_access import BuiltIn


@dataclass(slots=True)
class Access:
    """The policies, and how to close what they hold open."""

    identity: Identity
    limits: Limits
    audit: Audit
    mode: str
    built_in: BuiltIn | None = None
    authorization_servers: tuple[str, ...] = ()
    store: AccessStore | None = None
    closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

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
    refuse_to_be_open_to_the_world(settings)
    audit = open_audit(settings, clock, stream=audit_stream)
    if settings.auth.mode in {None, "local"}:
        is_secret = settings.auth.local_secret
        identity = (
            LocalSecretIdentity(local_secret(settings.home)) if is_secret else LocalIdentity()
        )
        return Access(identity, NoLimits(), audit, "local")
    refuse_lost_accounts(settings)
    from carrel.wiring.remote_access import open_remote_access

    return open_remote_access(settings, catalogue, clock, audit, documents=documents)


def refuse_to_be_open_to_the_world(settings: Settings) -> None:
    host = settings.server.host
    if settings.auth.mode in {None, "local"} and not is_loopback(host):
        raise SettingsError(
            f"Refusing to listen on {host} with no authentication: anybody who can reach it would "
            f"hold every scope",
            next_step=(
                "Listen on 127.0.0.1, or set auth.mode (CARREL_AUTH_MODE): builtin to let people "
                "log in, tokens for scripts, "
                "jwt for your own authorization server, cloudrun behind Cloud Run's IAM."
            ),
            details={"setting": "server.host"},
        )
    base = urlsplit(settings.base_url)
    if (
        settings.auth.mode == "builtin"
        and base.scheme != "https"
        and not is_loopback(base.hostname or "")
        and not settings.auth.allow_plain_http
    ):
        raise SettingsError(
            f"Refusing to let people log in at {settings.base_url}: passwords and tokens would "
            f"cross the network in the clear",
            next_step="Put TLS in front and set server.public_url to its https address, or set "
            "auth.allow_plain_http = true.",
            details={"setting": "server.public_url"},
        )


def refuse_lost_accounts(settings: Settings) -> None:
    """Raises SettingsError where users and tokens would be kept in files that are gone after the
    next start.
    """
    if (
        settings.auth.mode in {"builtin", "tokens"}
        and not settings.database.url
        and not settings.keeps_home
    ):
        raise SettingsError(
            f"auth.mode = {settings.auth.mode} keeps its users in the home folder, which does not "
            f"last here",
            next_step="Set DATABASE_URL, or mount a folder that lasts and set "
            "server.home_is_persistent = true.",
            details={"setting": "server.home_is_persistent"},
        )


def resource_paths(catalogue: Catalogue) -> list[str]:
    """The addresses tokens can be meant for."""
    return ["/mcp", "/desk/mcp", *(f"/{room.name}/mcp" for room in catalogue.rooms)]


def open_access_store(settings: Settings) -> SqlAccess:
    """Where users, tokens, clients and grants are kept."""
    from carrel.stores.sql.access import SqlAccess

    if settings.database.url:
        need_psycopg()
        from carrel.stores.postgres.database import PostgresDatabase

        return SqlAccess(PostgresDatabase(settings.database.url, "access", SqlAccess.schema_steps))
    from carrel.stores.sqlite.driver import SqliteDriver

    return SqlAccess(SqliteDriver(settings.home / "access.sqlite", SqlAccess.schema_steps))
