"""The audit log as a PostgreSQL table that can only grow, and its anchors in another."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import psycopg

from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError
from carrel.policy.audit import QueueOptions, hash_in
from carrel.policy.audit_anchor import (
    AnchorEvent,
    AnchorLedger,
    Anchors,
    AnchorTip,
    make_anchor,
    read_anchor,
    read_ledger,
)
from carrel.stores.audit_queue import AuditNotice, QueuedAudit
from carrel.stores.audit_signing import (
    Ed25519Check,
    Ed25519Signer,
    check_from_pem,
    load_or_make_key,
    new_private_key,
    signer_from_pem,
)
from carrel.stores.postgres.database import reason_of
from carrel.stores.postgres.pool import LIVENESS
from carrel.stores.postgres.schema import upgrade_tables
from carrel.stores.postgres.statements import drive_blocking

log = logging.getLogger("carrel.audit")

PART = "audit"

_GROWS = """CREATE OR REPLACE FUNCTION audit_log_only_grows() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the audit log can only grow'; END $$"""
_TABLES = (
    """CREATE TABLE IF NOT EXISTS audit_log (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, chain TEXT NOT NULL, sequence BIGINT NOT
          NULL,
        at TIMESTAMPTZ NOT NULL, user_id TEXT NOT NULL, action TEXT NOT NULL, result TEXT NOT NULL,
          line TEXT NOT NULL,
        UNIQUE (chain, sequence))""",
    "CREATE INDEX IF NOT EXISTS audit_log_at ON audit_log (at)",
    "CREATE INDEX IF NOT EXISTS audit_log_user ON audit_log (user_id, at)",
    "CREATE TABLE IF NOT EXISTS audit_anchors (number BIGINT PRIMARY KEY, line TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS audit_signing_key (only_one BOOLEAN PRIMARY KEY DEFAULT TRUE "
    "CHECK (only_one), pem TEXT NOT NULL)",
    _GROWS,
    *(
        statement
        for table in ("audit_log", "audit_anchors", "audit_signing_key")
        for statement in (
            f"DROP TRIGGER IF EXISTS audit_log_only_grows ON {table}",
            f"""CREATE TRIGGER audit_log_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows()""",
        )
    ),
)
# One script for each version. What an earlier version lacks goes into a new script at the end,
# never into an old one.
SCRIPTS = (";\n".join(_TABLES),)
_INSERT = """INSERT INTO audit_log (chain, sequence, at, user_id, action, result, line)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"""
# Digits of a row's number, which is 64 bits.
_LONGEST_NUMBER = 19
# Anchors of all replicas follow one another, so they are made one at a time.
_ANCHOR_LOCK = "SELECT pg_advisory_xact_lock(7226003)"

Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresAudit(QueuedAudit):
    """The queue in front of the table."""

    def __init__(
        self,
        url: str,
        *,
        open_anchors: Callable[[], Anchors] | None = None,
        options: QueueOptions | None = None,
        clock: Clock | None = None,
        may_migrate: bool = True,
    ) -> None:
        sink = PostgresSink(url, may_migrate=may_migrate)
        super().__init__(sink, open_anchors=open_anchors, options=options, clock=clock)


class _Link:
    """One connection, made again when it breaks, with the tables there."""

    def __init__(self, url: str, timeout_seconds: int, may_migrate: bool) -> None:
        self._url = url
        self._timeout_seconds = timeout_seconds
        self._may_migrate = may_migrate
        self._connection: Connection | None = None
        # Whether the last failure was that of the connection.
        self.was_broken = False

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    def connect(self) -> Connection:
        if self._connection is None:
            connection = psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=self._timeout_seconds,
                # A transaction pooler hands out connections that do not know what was prepared.
                prepare_threshold=None,
                # A connection that a firewall forgot would keep calls that write waiting.
                **LIVENESS,
            )
            try:
                with connection.transaction():
                    upgrade = upgrade_tables({PART: SCRIPTS}, may_migrate=self._may_migrate)
                    drive_blocking(connection, upgrade)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    @contextmanager
    def used(self, failure: str) -> Iterator[Connection]:
        """The connection; OSError with the failure, and a new connection for the next, if not."""
        try:
            yield self.connect()
        except (psycopg.Error, OSError) as error:
            self.was_broken = self._connection is not None and self._connection.broken
            self.close()
            said = f"PostgreSQL does not {failure}: {reason_of(error)}"
            raise OSError(errno.EIO, said) from error

    def replace_if_broken(self) -> None:
        """Closes a connection that a restart of the server has broken since it was last used."""
        if self._connection is not None:
            try:
                self._connection.execute("SELECT 1")
            except psycopg.Error:
                self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def audit_row(line: bytes) -> tuple[object, ...]:
    """The row of a line; raises ValueError or KeyError for what is no line of the log."""
    facts = orjson.loads(line)
    # PostgreSQL has no NUL in text; the line itself has it escaped.
    shown = [str(facts[name]).replace("\x00", "") for name in ("user_id", "action", "result")]
    return (facts["chain"], facts["sequence"], facts["timestamp"], *shown, line.decode())


class PostgresSink:
    """Inserts lines on one connection. A line that arrives twice is kept once."""

    def __init__(self, url: str, timeout_seconds: int = 5, *, may_migrate: bool = True) -> None:
        self._url = url
        self._link = _Link(url, timeout_seconds, may_migrate)

    def append(self, lines: Sequence[bytes]) -> None:
        rows = [audit_row(line) for line in lines]
        was_open = self._link.is_open
        try:
            self._insert(rows)
        except OSError:
            # A restart of the server broke it, perhaps long ago: no call need fail of that.
            if not (was_open and self._link.was_broken):
                raise
            self._insert(rows)

    def _insert(self, rows: Sequence[tuple[object, ...]]) -> None:
        with (
            self._link.used("take the audit log") as connection,
            connection.transaction(),
            connection.cursor() as cursor,
        ):
            cursor.executemany(_INSERT, rows)

    def last_hash(self) -> str | None:
        last = "SELECT line FROM audit_log ORDER BY id DESC LIMIT 1"
        with self._link.used("show the audit log") as connection:
            row = connection.execute(last).fetchone()
        return None if row is None else hash_in(str(row[0]).encode())

    def lines(self) -> Iterator[bytes]:
        try:
            yield from read_lines(self._url)
        except psycopg.Error as error:
            raise OSError(f"PostgreSQL does not show the audit log: {error}") from error

    def sync(self) -> None:
        """Every append is committed when it returns."""

    def maintain(self, anchors: Anchors | None, *, is_thorough: bool) -> list[AuditNotice]:
        """Does nothing: retention is left to the operator of the database."""
        return []

    def space_problem(self) -> str | None:
        """None: a full disk of the server shows as a failed append."""
        return None

    def close(self) -> None:
        self._link.close()


class PostgresAnchors:
    """Anchors in a table; the key is in a file that replicas share, or in the database."""

    def __init__(
        self,
        url: str,
        key_file: Path | None,
        timeout_seconds: int = 5,
        *,
        may_migrate: bool = True,
    ) -> None:
        self._key_file = key_file
        self._link = _Link(url, timeout_seconds, may_migrate)
        self._signer: Ed25519Signer | None = None

    def fingerprint(self) -> str:
        return self._load_signer().fingerprint

    def is_empty(self) -> bool:
        with self._link.used("show the anchors") as connection:
            return connection.execute("SELECT 1 FROM audit_anchors LIMIT 1").fetchone() is None

    def add(self, event: AnchorEvent, facts: Mapping[str, object]) -> AnchorTip:
        signer = self._load_signer()
        self._link.replace_if_broken()
        with self._link.used("take an anchor") as connection, connection.transaction():
            connection.execute(_ANCHOR_LOCK)
            row = connection.execute(
                "SELECT line FROM audit_anchors ORDER BY number DESC LIMIT 1"
            ).fetchone()
            last = None if row is None else read_anchor(str(row[0]).encode())
            line, tip = make_anchor(
                None if last is None else last.tip, event, facts, datetime.now(UTC), signer
            )
            connection.execute(
                "INSERT INTO audit_anchors (number, line) VALUES (%s, %s)",
                (tip.number, line.decode()),
            )
        log.info(
            "audit head",
            extra={
                "number": tip.number,
                "digest": tip.digest,
                "key": signer.fingerprint,
                "event": event.value,
            },
        )
        return tip

    def _load_signer(self) -> Ed25519Signer:
        if self._signer is None:
            if self._key_file is not None:
                self._signer = load_or_make_key(self._key_file)
            else:
                self._signer = self._from_database()
        return self._signer

    def _from_database(self) -> Ed25519Signer:
        failure = "show the key of the anchors"
        with self._link.used(failure) as connection, connection.transaction():
            connection.execute(_ANCHOR_LOCK)
            if connection.execute("SELECT 1 FROM audit_signing_key").fetchone() is None:
                connection.execute(
                    "INSERT INTO audit_signing_key (pem) VALUES (%s)",
                    (new_private_key().decode(),),
                )
            row = connection.execute("SELECT pem FROM audit_signing_key").fetchone()
        return signer_from_pem(str(row[0] if row else "").encode(), "the key in audit_signing_key")


def read_lines(url: str) -> Iterator[bytes]:
    """Every line of the log, in the order it was kept."""
    return _read(url, "SELECT line FROM audit_log ORDER BY id")


class PostgresAuditReader:
    """The log in its table, to list or verify it. The key may be in a file of the operator's."""

    def __init__(self, url: str, key_file: Path | None) -> None:
        self._url = url
        self._key_file = key_file

    def lines(self) -> Iterator[bytes]:
        return read_lines(self._url)

    def newest_lines(self, before: str | None = None) -> Iterator[tuple[str, bytes]]:
        """A place is the number of the row."""
        if before is not None and not (before.isdecimal() and len(before) < _LONGEST_NUMBER):
            raise InvalidInputError(
                "That is not a place in the audit log",
                next_step="Begin again from the newest line.",
            )
        bound = "" if before is None else f" WHERE id < {int(before)}"
        query = f"SELECT id || ' ' || line FROM audit_log{bound} ORDER BY id DESC"
        for row in _read_if_there(self._url, query):
            place, _, line = row.partition(b" ")
            yield place.decode(), line

    def ledger(self) -> AnchorLedger:
        return read_ledger(
            _read_if_there(self._url, "SELECT line FROM audit_anchors ORDER BY number"),
            self._signature_check(),
        )

    def storage_problems(self, ledger: AnchorLedger) -> list[str]:
        """None: the table itself refuses changes."""
        return []

    def _signature_check(self) -> Ed25519Check | None:
        if self._key_file is not None:
            if not self._key_file.is_file():
                return None
            return check_from_pem(self._key_file.read_bytes(), str(self._key_file))
        pem = next(_read_if_there(self._url, "SELECT pem FROM audit_signing_key"), None)
        return None if pem is None else check_from_pem(pem, "the key in audit_signing_key")


def _read_if_there(url: str, query: str) -> Iterator[bytes]:
    """The rows of a table; none where it was never made."""
    try:
        yield from _read(url, query)
    except psycopg.errors.UndefinedTable:
        return


def _read(url: str, query: str) -> Iterator[bytes]:
    with psycopg.connect(url) as connection, connection.cursor(name="audit_lines") as cursor:
        cursor.execute(query.encode())
        for row in cursor:
            yield str(row[0]).encode()
