"""Rows of PostgreSQL as lines of text, their hashes, and marks of what was put into a database."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from psycopg import sql

from carrel.core.errors import ConflictError
from carrel.stores.postgres.statements import BlockingConnection

_DIGEST_BITS = 256
# Numbers of transactions mean nothing on another server; each row gets a new one there.
_COLUMNS = """SELECT a.attname, a.attidentity <> '' FROM pg_attribute a
    WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
      AND a.attgenerated = '' AND a.atttypid <> 'xid8'::regtype ORDER BY a.attnum"""
_MARKS = """CREATE TABLE IF NOT EXISTS carrel_imports (
    mark text PRIMARY KEY, facts text NOT NULL, finished_at timestamptz NOT NULL DEFAULT now())"""


class DatabaseNotEmptyError(ConflictError):
    """A database that is to be filled holds other data."""

    code = "database_not_empty"

    def __init__(
        self, counts: dict[str, int], reason: str = "The database holds other data"
    ) -> None:
        told = ", ".join(f"{table} ({rows:,})" for table, rows in counts.items())
        super().__init__(
            f"{reason}: {told}",
            next_step="Name a new, empty database (createdb NAME); Carrel empties none.",
            details={"tables": counts},
        )


def refuse_rows(connection: BlockingConnection, tables: Iterable[str]) -> None:
    """Raises DatabaseNotEmptyError where one of the tables has rows."""
    counts = {}
    for table in tables:
        if is_there(connection, table) and (rows := _count(connection, table)):
            counts[table] = rows
    if counts:
        raise DatabaseNotEmptyError(counts)


def find_mark(connection: BlockingConnection, mark: str) -> str | None:
    """The facts that were put down with a mark."""
    if not is_there(connection, "carrel_imports"):
        return None
    found = connection.execute("SELECT facts FROM carrel_imports WHERE mark = %s", (mark,))
    row = found.fetchone()
    return None if row is None else str(row[0])


def put_mark(connection: BlockingConnection, mark: str, facts: str) -> None:
    """Remembers, with the transaction, that what the mark names is there."""
    connection.execute(_MARKS)
    connection.execute("INSERT INTO carrel_imports (mark, facts) VALUES (%s, %s)", (mark, facts))


def lock_tables(connection: BlockingConnection, tables: Iterable[str]) -> None:
    """Keeps everybody else out of tables until the transaction ends."""
    for table in tables:
        connection.execute(
            sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(sql.Identifier(table))
        )


class RowDigest:
    """Counts rows and sums their hashes, so that their order does not matter."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0

    def add(self, row: bytes) -> None:
        self.count += 1
        self._sum += int.from_bytes(hashlib.sha256(row).digest())

    @property
    def text(self) -> str:
        return f"{self._sum % (1 << _DIGEST_BITS):064x}"


def read_lines(
    connection: BlockingConnection, table: str, columns: Iterable[str]
) -> Iterator[bytes]:
    """The rows of a table in the text format of COPY, each with its line end."""
    statement = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table)
    )
    rest = b""
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for block in copy:
            whole, newline, rest = (rest + bytes(block)).rpartition(b"\n")
            if newline:
                yield from (whole + newline).splitlines(keepends=True)
    if rest:
        yield rest


def list_columns(connection: BlockingConnection, table: str) -> list[tuple[str, bool]]:
    """The columns of a table that copies carry, and whether the database counts them itself."""
    return [
        (str(name), bool(is_identity))
        for name, is_identity in connection.execute(_COLUMNS, (table,)).fetchall()
    ]


def is_there(connection: BlockingConnection, table: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (table,)).fetchone()
    return bool(row and row[0])


def _count(connection: BlockingConnection, table: str) -> int:
    row = connection.execute(
        sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
    ).fetchone()
    return int(row[0]) if row else 0
