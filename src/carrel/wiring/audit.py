"""The audit log: which store it is written to and read from, by the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from carrel.core.clock import Clock, SystemClock
from carrel.core.errors import NotConfiguredError
from carrel.policy import command_audit
from carrel.policy.audit import NoAudit
from carrel.policy.audit_anchor import Anchors
from carrel.settings import Settings, SettingsError
from carrel.settings.places import audit_store
from carrel.stores.audit_queue import QueuedAudit, QueueOptions
from carrel.stores.json_lines.audit import AnchorPlaces, JsonLinesAudit, Retention, StreamAudit
from carrel.wiring.drivers import need_psycopg

if TYPE_CHECKING:
    from carrel.policy.audit_verification import AuditReader

AuditStream = Literal["stdout", "stderr"]


def anchor_places(settings: Settings) -> AnchorPlaces:
    """Where the anchors of a log in files are kept."""
    file = settings.audit_file
    folder = settings.audit.anchors or file.parent / "anchors"
    return AnchorPlaces(
        anchors=folder / f"{file.stem}.anchors.jsonl",
        key=settings.audit.signing_key or folder / f"{file.stem}.key.pem",
        counter=file.with_name(f"{file.stem}.count"),
    )


def open_audit(
    settings: Settings, clock: Clock | None = None, *, stream: AuditStream = "stderr"
) -> QueuedAudit | NoAudit:
    """The log to write to. Only a server has its standard output to itself for `stream`."""
    audit = settings.audit
    if not audit.enabled:
        return NoAudit()
    options = QueueOptions(
        most_waiting=audit.most_waiting,
        keep_timeout_seconds=audit.keep_timeout_seconds,
        anchor_every_lines=audit.anchor_every_lines,
        anchor_every_seconds=audit.anchor_every_seconds,
        refusal_period_seconds=audit.refusal_period_seconds,
        refusals_in_full=audit.refusals_in_full,
    )
    match audit_store(settings):
        case "postgres":
            need_psycopg()
            from carrel.stores.postgres.audit import PostgresAudit

            url, opener = str(settings.database.url), _anchor_opener(settings)
            return PostgresAudit(url, open_anchors=opener, options=options, clock=clock)
        case "stdout":
            if settings.server.workers > 1:
                raise SettingsError(
                    "audit.store = stdout needs server.workers = 1: long lines of several "
                    "processes would be mixed up",
                    next_step="Set server.workers = 1 and run more instances, or keep the log in "
                    "PostgreSQL (DATABASE_URL) or in files.",
                    details={"setting": "server.workers"},
                )
            return StreamAudit(stream, options=options, clock=clock)
        case "file":
            retention = Retention(
                audit.max_file_bytes,
                audit.max_total_bytes,
                timedelta(days=audit.max_age_days),
                audit.min_free_bytes,
            )
            return JsonLinesAudit(
                settings.audit_file,
                retention=retention,
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

            return PostgresAnchors(str(settings.database.url), settings.audit.signing_key)
        from carrel.stores.json_lines.anchors import AnchorFile

        return AnchorFile(*anchor_places(settings))

    return open_anchors


def open_audit_reader(settings: Settings) -> AuditReader:
    """The log to list or verify; raises NotConfiguredError where the platform keeps it."""
    match audit_store(settings):
        case "postgres":
            need_psycopg()
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
) -> Iterator[None]:
    """Records the start and the end of a command in the log of these settings."""
    audit, clock = open_audit(settings), clock or SystemClock()
    with command_audit.record_command(audit, clock, action, resource, parameters, on_unavailable):
        yield
