"""The audit log: which store it is written to and read from, by the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from carrel.core.caller import Caller
from carrel.core.clock import Clock, SystemClock
from carrel.core.errors import NotConfiguredError
from carrel.policy import command_audit
from carrel.policy.audit import NoAudit
from carrel.policy.audit_anchor import Anchors
from carrel.settings import Settings, store_rules
from carrel.settings.places import audit_store
from carrel.stores.audit_queue import QueuedAudit
from carrel.stores.json_lines.audit import AnchorPlaces, JsonLinesAudit, StreamAudit

if TYPE_CHECKING:
    from carrel.policy.audit_verification import AuditReader

AuditStream = Literal["stdout", "stderr"]


def anchor_places(settings: Settings) -> AnchorPlaces:
    """Where the anchors of a log in files are kept."""
    audit = settings.audit
    return AnchorPlaces.of(settings.audit_file, audit.anchors, audit.signing_key)


def open_audit(
    settings: Settings, clock: Clock | None = None, *, stream: AuditStream = "stderr"
) -> QueuedAudit | NoAudit:
    """The log to write to. Only a server has its standard output to itself for `stream`."""
    if not settings.audit.enabled:
        return NoAudit()
    options = store_rules.audit_queue_options(settings)
    match audit_store(settings):
        case "postgres":
            store_rules.need_psycopg()
            from carrel.stores.postgres.audit import PostgresAudit

            url, opener = str(settings.database.url), _anchor_opener(settings)
            return PostgresAudit(
                url,
                open_anchors=opener,
                options=options,
                clock=clock,
                may_migrate=settings.database.migrate_at_start,
            )
        case "stdout":
            store_rules.refuse_mixed_lines(settings)
            return StreamAudit(stream, options=options, clock=clock)
        case "file":
            return JsonLinesAudit(
                settings.audit_file,
                retention=store_rules.audit_retention(settings),
                open_anchors=_anchor_opener(settings),
                options=options,
                clock=clock,
            )


def _anchor_opener(settings: Settings) -> Callable[[], Anchors]:
    """Opens the anchors at the first record, off the event loop: signing is slow to import."""
    is_in_postgres = audit_store(settings) == "postgres"

    def open_anchors() -> Anchors:
        if is_in_postgres:
            from carrel.stores.postgres.audit import PostgresAnchors

            return PostgresAnchors(
                str(settings.database.url),
                settings.audit.signing_key,
                may_migrate=settings.database.migrate_at_start,
            )
        from carrel.stores.json_lines.anchors import AnchorFile

        return AnchorFile(*anchor_places(settings))

    return open_anchors


def open_audit_reader(settings: Settings) -> AuditReader:
    """The log to list or verify; raises NotConfiguredError where the platform keeps it."""
    match audit_store(settings):
        case "postgres":
            store_rules.need_psycopg()
            from carrel.stores.postgres.audit import PostgresAuditReader

            return PostgresAuditReader(str(settings.database.url), settings.audit.signing_key)
        case "stdout":
            raise NotConfiguredError(
                "The audit log of this server goes to its standard output and is kept by whoever "
                "collects that",
                next_step="Read it where the platform keeps logs, such as Cloud Logging; carrel "
                "audit reads files and PostgreSQL.",
                details={"setting": "audit.store"},
            )
        case "file":
            from carrel.stores.json_lines.audit_reader import AuditFileReader

            return AuditFileReader(settings.audit_file, anchor_places(settings))


def anchor_restored_log(settings: Settings) -> None:
    """Anchors that a backup replaced the log in files; raises OSError."""
    if settings.audit.enabled and audit_store(settings) == "file":
        from carrel.stores.json_lines.audit_reader import AuditFileReader

        AuditFileReader(settings.audit_file, anchor_places(settings)).anchor_restored()


@contextmanager
def record_command(
    settings: Settings,
    action: str,
    resource: str,
    parameters: Mapping[str, object] | None = None,
    *,
    clock: Clock | None = None,
    on_unavailable: command_audit.OnUnavailable = command_audit.refuse_unrecorded,
    user: Caller | None = None,
) -> Iterator[None]:
    """Records the start and the end of a command in the log of these settings."""
    audit, clock = open_audit(settings), clock or SystemClock()
    with command_audit.record_command(
        audit, clock, action, resource, parameters, on_unavailable, user
    ):
        yield
