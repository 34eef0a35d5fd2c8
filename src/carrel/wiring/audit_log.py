"""The audit log, built: where it is written, where its anchors are kept, and how both are read and
checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError, NotConfiguredError
from carrel.policy.audit import NoAudit, chain_heads
from carrel.policy.audit_anchor import (
    AnchorEvent,
    AnchorLedger,
    Anchors,
    AnchorTip,
    SignatureCheck,
    read_ledger,
)
from carrel.policy.audit_verification import Verification, verify, verify_against_head, verify_count
from carrel.settings import Settings, SettingsError
from carrel.stores.audit_queue import QueuedAudit, QueueOptions
from carrel.stores.json_lines.audit import JsonLinesAudit, Retention, read_lines, verify_files
from carrel.wiring.drivers import need_psycopg

_HEAD_PREFIX = "carrel-audit-head"
_TRIES = 3


class AnchorPlaces(NamedTuple):
    """The files that anchors need: their own, the key, and the count beside the log."""

    anchors: Path
    key: Path
    counter: Path


def anchor_places(settings: Settings) -> AnchorPlaces:
    """Where anchors are kept, by the settings."""
    file = settings.audit_file
    folder = settings.audit.anchors or file.parent / "anchors"
    key = settings.audit.signing_key or folder / f"{file.stem}.key.pem"
    return AnchorPlaces(
        folder / f"{file.stem}.anchors.jsonl", key, file.with_name(f"{file.stem}.count")
    )


AuditStream = Literal["stdout", "stderr"]


def audit_place(settings: Settings) -> Literal["file", "postgres", "stdout"]:
    """Where the audit log is written, by the settings."""
    audit = settings.audit
    if audit.store == "postgres" and not settings.database.url:
        raise SettingsError(
            "audit.store = postgres needs database.url (DATABASE_URL)",
            next_step="Set it, or audit.store = file.",
        )
    if audit.store != "auto":
        return audit.store
    if audit.file is not None:
        return "file"
    if settings.database.url:
        return "postgres"
    return "file" if settings.keeps_home else "stdout"


def audit_is_in_postgres(settings: Settings) -> bool:
    """Whether the audit log is a table, by the settings."""
    return audit_place(settings) == "postgres"


def _refuse_stream(settings: Settings) -> None:
    if audit_place(settings) == "stdout":
        raise NotConfiguredError(
            "The audit log of this server goes to its standard output and is kept by whoever "
            "collects that",
            next_step="Read it where the platform keeps logs, such as Cloud Logging; carrel audit "
            "reads files and PostgreSQL.",
            details={"setting": "audit.store"},
        )


def open_audit(
    settings: Settings, clock: Clock | None = None, *, stream: AuditStream = "stderr"
) -> QueuedAudit | NoAudit:
    """Where calls are written down. Where that is a stream, only a server has its standard output
    to itself.
    """
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
    if audit_is_in_postgres(settings):
        need_psycopg()
        from carrel.stores.postgres.audit import PostgresAudit

        return PostgresAudit(
            str(settings.database.url), open_anchors=_opener(settings), options=options, clock=clock
        )
    if audit_place(settings) == "stdout":
        if settings.server.workers > 1:
            raise SettingsError(
                "audit.store = stdout needs server.workers = 1: long lines of several processes "
                "would be mixed up",
                next_step="Set server.workers = 1 and run more instances, or keep the log in "
                "PostgreSQL (DATABASE_URL) or in files.",
                details={"setting": "server.workers"},
            )
        from carrel.stores.json_lines.audit import StreamAudit

        return StreamAudit(stream, options=options, clock=clock)
    retention = Retention(
        audit.max_file_bytes,
        audit.max_total_bytes,
        timedelta(days=audit.max_age_days),
        audit.min_free_bytes,
    )
    return JsonLinesAudit(
        settings.audit_file,
        retention=retention,
        open_anchors=_opener(settings),
        options=options,
        clock=clock,
    )


def _opener(settings: Settings) -> Callable[[], Anchors]:
    """Opens the anchors when the first record is written, off the event loop: signing needs an
    import that takes a while.
    """
    in_postgres = audit_is_in_postgres(settings)

    def opened() -> Anchors:
        if in_postgres:
            from carrel.stores.postgres.audit import PostgresAnchors

            return PostgresAnchors(str(settings.database.url), settings.audit.signing_key)
        from carrel.stores.json_lines.anchors import AnchorFile

        return AnchorFile(*anchor_places(settings))

    return opened


def audit_lines(settings: Settings) -> Iterator[bytes]:
    """Every line of the audit log, oldest first."""
    if audit_is_in_postgres(settings):
        need_psycopg()
        from carrel.stores.postgres.audit import read_lines as read_rows

        return read_rows(str(settings.database.url))
    _refuse_stream(settings)
    return read_lines(settings.audit_file)


def verify_audit(settings: Settings, heads: tuple[str, ...] = ()) -> Verification:
    """Checks the log against itself, its anchors, and heads that were kept elsewhere."""
    known = [parse_head(head) for head in heads]
    for _ in range(_TRIES):
        ledger = _ledger(settings)
        found = _verify_once(settings, ledger)
        # A log that is being written may rotate or expire while it is read. What is really wrong is
        # still wrong the next time.
        if not found.problems or _ledger(settings).tip == ledger.tip:
            break
    for head, key in known:
        found.problems.extend(verify_against_head(_ledger(settings), head, key))
    return found


def _verify_once(settings: Settings, ledger: AnchorLedger) -> Verification:
    # The anchors are read before the log: what is written meanwhile makes the log longer than they
    # say, never shorter.
    found = verify(audit_lines(settings), ledger, partial(_ledger, settings))
    if not audit_is_in_postgres(settings):
        from carrel.stores.json_lines.anchors import read_count

        found.problems.extend(verify_files(settings.audit_file, ledger))
        counted = read_count(anchor_places(settings).counter)
        found.problems.extend(verify_count(_ledger(settings), counted))
    return found


def audit_head(settings: Settings) -> str | None:
    """The newest anchor in one line, to be kept elsewhere; None where there is none."""
    ledger = _ledger(settings)
    if ledger.tip is None:
        return None
    return ":".join(
        (_HEAD_PREFIX, str(ledger.tip.number), ledger.tip.digest, *sorted(ledger.keys)[:1])
    )


def parse_head(text: str) -> tuple[AnchorTip, str]:
    """A head as `audit_head` wrote it."""
    words = text.strip().split(":")
    if len(words) != 4 or words[0] != _HEAD_PREFIX or not words[1].isdigit():
        raise InvalidInputError(
            "That is not a head of an audit log",
            next_step="Give the line that carrel audit head printed.",
        )
    return AnchorTip(int(words[1]), words[2]), words[3]


def anchor_restored_log(settings: Settings) -> None:
    """Says in the anchors that the log was replaced by a backup, so that what came since does not
    look cut. Raises OSError.
    """
    if not settings.audit.enabled or audit_place(settings) != "file":
        return
    from carrel.stores.json_lines.anchors import AnchorFile

    AnchorFile(*anchor_places(settings)).add(
        AnchorEvent.RESTORED, {"chains": chain_heads(read_lines(settings.audit_file))}
    )


def _ledger(settings: Settings) -> AnchorLedger:
    _refuse_stream(settings)
    if audit_is_in_postgres(settings):
        need_psycopg()
        from carrel.stores.postgres.audit import read_anchor_lines as read_anchor_rows

        return read_ledger(read_anchor_rows(str(settings.database.url)), _check(settings))
    from carrel.stores.json_lines.anchors import read_anchor_lines

    return read_ledger(read_anchor_lines(anchor_places(settings).anchors), _check(settings))


def _check(settings: Settings) -> SignatureCheck | None:
    """The check of the key that is set or kept; None where there is no key."""
    from carrel.stores.audit_signing import check_from_pem

    if audit_is_in_postgres(settings) and settings.audit.signing_key is None:
        from carrel.stores.postgres.audit import read_signing_key

        pem = read_signing_key(str(settings.database.url))
        return None if pem is None else check_from_pem(pem, "the key in audit_signing_key")
    file = anchor_places(settings).key
    return check_from_pem(file.read_bytes(), str(file)) if file.is_file() else None
