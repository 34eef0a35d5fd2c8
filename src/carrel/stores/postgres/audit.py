"""The audit log as a PostgreSQL table that can only grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson
import psycopg

from carrel.policy.audit_chain import hash_in
from carrel.stores.audit_queue import QueuedAudit

_SCHEMA = (
    "SELECT pg_advisory_xact_lock(7226002)",
    """CREATE TABLE IF NOT EXISTS audit_log (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, chain TEXT NOT NULL, sequence BIGINT NOT NULL,
        at TIMESTAMPTZ NOT NULL, user_id TEXT NOT NULL, action TEXT NOT NULL, result TEXT NOT NULL, line TEXT NOT NULL,
        UNIQUE (chain, sequence))""",
    "CREATE INDEX IF NOT EXISTS audit_log_at ON audit_log (at)",
    "CREATE INDEX IF NOT EXISTS audit_log_user ON audit_log (user_id, at)",
    """CREATE OR REPLACE FUNCTION audit_log_only_grows() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the audit log can only grow'; END $$""",
    "DROP TRIGGER IF EXISTS audit_log_only_grows ON audit_log",
    """CREATE TRIGGER audit_log_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
        FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows()""",
)
_INSERT = """INSERT INTO audit_log (chain, sequence, at, user_id, action, result, line)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"""


class PostgresAudit(QueuedAudit):
    """The queue in front of the table."""

    def __init__(self, url: str, *, most_waiting: int = 100_000, keep_timeout_seconds: float = 2.0) -> None:
        super().__init__(PostgresSink(url), most_waiting=most_waiting, keep_timeout_seconds=keep_timeout_seconds)


class PostgresSink:
    """Inserts lines on one connection, made again when it breaks. A line that arrives twice is kept once."""

    def __init__(self, url: str, timeout_seconds: int = 5) -> None:
        self._url = url
        self._timeout_seconds = timeout_seconds
        self._connection: psycopg.Connection[tuple[object, ...]] | None = None

    def append(self, lines: Sequence[bytes]) -> None:
        rows = []
        for line in lines:
            facts = orjson.loads(line)
            # PostgreSQL has no NUL in text; the line itself has it escaped.
            shown = [str(facts[name]).replace("\x00", "") for name in ("user_id", "action", "result")]
            rows.append((facts["chain"], facts["sequence"], facts["timestamp"], *shown, line.decode()))
        try:
            connection = self._opened()
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(_INSERT, rows)
        except (psycopg.Error, OSError) as error:
            self.close()
            raise OSError(f"PostgreSQL does not take the audit log: {error}") from error

    def last_hash(self) -> str | None:
        try:
            row = self._opened().execute("SELECT line FROM audit_log ORDER BY id DESC LIMIT 1").fetchone()
        except (psycopg.Error, OSError) as error:
            self.close()
            raise OSError(f"PostgreSQL does not show the audit log: {error}") from error
        return None if row is None else hash_in(str(row[0]).encode())

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> psycopg.Connection[tuple[object, ...]]:
        if self._connection is None:
            connection = psycopg.connect(self._url, autocommit=True, connect_timeout=self._timeout_seconds)
            with connection.transaction():
                for statement in _SCHEMA:
                    connection.execute(statement.encode())
            self._connection = connection
        return self._connection


def read_lines(url: str) -> Iterator[bytes]:
    """Every line of the log, in the order it was kept."""
    with psycopg.connect(url) as connection, connection.cursor(name="audit_lines") as cursor:
        cursor.execute("SELECT line FROM audit_log ORDER BY id")
        for row in cursor:
            yield str(row[0]).encode()
