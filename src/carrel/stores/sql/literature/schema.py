"""Tables of the literature room: notices about works, alerts and what they found, completions."""

from __future__ import annotations

SCHEMA = (
    # Notices about works, by key (`doi:…`, `pmid:…`); public data, the same for everybody.
    """CREATE TABLE IF NOT EXISTS literature_notices (
        work_key TEXT NOT NULL, service TEXT NOT NULL, record TEXT NOT NULL, kind TEXT NOT NULL,
        notice_date TEXT, notice_doi TEXT, notice_pmid TEXT, reasons TEXT NOT NULL,
        PRIMARY KEY (work_key, service, record))""",
    # Tables that were loaded from files: what the file looked like.
    """CREATE TABLE IF NOT EXISTS literature_tables (
        name TEXT PRIMARY KEY, place TEXT NOT NULL, mark TEXT NOT NULL, loaded_at TEXT NOT NULL,
        row_count INTEGER NOT NULL, skipped_count INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS literature_leases (
        name TEXT PRIMARY KEY, worker TEXT, lease_until DOUBLE PRECISION NOT NULL DEFAULT 0,
        lease_clock TEXT NOT NULL DEFAULT '', lease_ticks DOUBLE PRECISION NOT NULL DEFAULT 0)""",
    """CREATE TABLE IF NOT EXISTS literature_alerts (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, query TEXT NOT NULL,
        services TEXT NOT NULL, since TEXT NOT NULL, created_at TEXT NOT NULL,
        ran_at TEXT NOT NULL DEFAULT '',
        revision INTEGER NOT NULL DEFAULT 0, UNIQUE (owner, name))""",
    # Up to which day a service has answered completely, and how the last question went.
    """CREATE TABLE IF NOT EXISTS literature_alert_marks (
        alert_id TEXT NOT NULL,
        service TEXT NOT NULL, complete_until TEXT NOT NULL, asked_at TEXT NOT NULL DEFAULT '',
        failure TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '',
        resume_from TEXT NOT NULL DEFAULT '', pass_began TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (alert_id, service))""",
    """CREATE TABLE IF NOT EXISTS literature_alert_works (
        alert_id TEXT NOT NULL,
        number INTEGER NOT NULL, work_id TEXT NOT NULL, found_at TEXT NOT NULL, body TEXT NOT NULL,
        told_at TEXT NOT NULL DEFAULT '', PRIMARY KEY (alert_id, number))""",
    """CREATE TABLE IF NOT EXISTS literature_alert_keys (
        alert_id TEXT NOT NULL,
        work_key TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (alert_id, work_key))""",
    # One row for each record whose gaps somebody wants filled: waiting, proposed, applied …
    """CREATE TABLE IF NOT EXISTS literature_completions (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, target TEXT NOT NULL, record_id TEXT NOT NULL,
        state TEXT NOT NULL, body TEXT NOT NULL, asked_at TEXT NOT NULL, updated_at TEXT NOT NULL,
        UNIQUE (owner, target, record_id))""",
    """CREATE INDEX IF NOT EXISTS literature_completions_state
        ON literature_completions (state, target)""",
)
# One script for each version. What an earlier version lacks goes into a new script at the end,
# never into an old one.
SCRIPTS = (";\n".join(SCHEMA),)
