"""Moves parts whose tables are the same in SQLite and in PostgreSQL, row by row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from psycopg import sql

from carrel.core.errors import InvalidInputError
from carrel.stores.postgres.moving.kinds import Kind, Proof, RowProof
from carrel.stores.postgres.parts import DATABASE_PARTS
from carrel.stores.postgres.statements import BlockingConnection
from carrel.stores.postgres.table_rows import list_columns
from carrel.stores.sqlite.connection import connect

_PAGE = 500


def move_part(part: str, name: str, file: Path | None) -> Kind:
    """The kind that is all tables of a part; `file` is a copy of the home's, None without one."""
    tables = DATABASE_PARTS[part].tables

    def read() -> Proof:
        proof = RowProof()
        for table, _, rows in _read_tables(file, tables):
            for row in rows:
                proof.add(table, row)
        return proof.proof

    def copy(connection: BlockingConnection) -> None:
        for table, names, rows in _read_tables(file, tables):
            _refuse_other_columns(connection, table, names)
            statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
                sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names))
            )
            with connection.cursor() as cursor, cursor.copy(statement) as stream:
                for row in rows:
                    stream.write_row(row)

    def check(connection: BlockingConnection) -> Proof:
        proof = RowProof()
        for table in tables:
            names = sorted(name for name, _ in list_columns(connection, table))
            statement = sql.SQL("SELECT {} FROM {}").format(
                sql.SQL(", ").join(map(sql.Identifier, names)), sql.Identifier(table)
            )
            with connection.cursor(name="moved") as cursor:
                cursor.itersize = _PAGE
                for row in cursor.execute(statement):
                    proof.add(table, row)
        return proof.proof

    return Kind(name, tables, read, copy, check)


def _read_tables(
    file: Path | None, tables: Sequence[str]
) -> Iterator[tuple[str, list[str], Iterator[tuple[object, ...]]]]:
    """Each table with its columns and its rows; nothing without a file."""
    if file is None:
        return
    for table in tables:
        names = _columns_of(file, table)
        yield table, names, _read(file, table, names)


def _columns_of(file: Path, table: str) -> list[str]:
    """The columns of a table, by name: two databases have them in different orders."""
    with closing(connect(file, "read")) as rows:
        return sorted(str(row[1]) for row in rows.execute(f"PRAGMA table_info({table})"))


def _read(file: Path, table: str, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
    with closing(connect(file, "read")) as rows:
        listed = ", ".join(f'"{name}"' for name in names)
        for row in rows.execute(f"SELECT {listed} FROM {table}"):
            refuse_unstorable(table, row)
            yield row


def refuse_unstorable(table: str, row: Sequence[object]) -> None:
    """Raises InvalidInputError for text that PostgreSQL takes from nobody."""
    for value in row:
        if isinstance(value, str) and ("\0" in value or _has_lone_surrogate(value)):
            raise InvalidInputError(
                f"A row of {table} has a character that PostgreSQL does not take (beginning with "
                f"{ascii(row[0])[:80]})",
                next_step="Change that text here, then run it again; what was moved stays moved.",
            )


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _refuse_other_columns(connection: BlockingConnection, table: str, names: Sequence[str]) -> None:
    there = sorted(name for name, _ in list_columns(connection, table))
    if there != list(names):
        raise sqlite3.DataError(f"{table} has the columns {names} here and {there} there")
