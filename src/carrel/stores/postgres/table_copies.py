"""Tables of PostgreSQL as files of text, written at one moment and read back with a proof."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

from psycopg import sql
from pydantic import BaseModel, ConfigDict

from carrel.core.errors import UnavailableError
from carrel.stores.postgres.migration import connect_blocking
from carrel.stores.postgres.parts import DATABASE_PARTS, part_steps
from carrel.stores.postgres.schema import (
    lock_versions,
    read_versions,
    remember_version,
    run_steps,
    upgrade_tables,
)
from carrel.stores.postgres.statements import BlockingConnection, ScriptStep, drive_blocking
from carrel.stores.postgres.table_rows import (
    DatabaseNotEmptyError,
    RowDigest,
    find_mark,
    is_there,
    list_columns,
    lock_tables,
    put_mark,
    read_lines,
    refuse_rows,
)
from carrel.stores.sql.driver import Rows

LIST_NAME = "tables.json"
_FORMAT = 1
_CHUNK = 1024 * 1024
# The same text for the same values, whatever the server's settings are.
_PLAIN_TEXT = (
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL bytea_output = 'hex'",
)


class CopiedTable(BaseModel):
    """One table in a copy; the digest is of its rows in any order."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str
    columns: tuple[str, ...]
    rows: int
    digest: str


class CopyList(BaseModel):
    """What a copy of a database holds, and of which versions its tables are."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: int
    versions: dict[str, int]
    tables: tuple[CopiedTable, ...]


class DatabaseWrittenError(DatabaseNotEmptyError):
    """A database that was filled from a backup holds other rows than it brought."""

    def __init__(self, counts: dict[str, int]) -> None:
        super().__init__(
            counts, "The database was filled from this backup before, and written to since"
        )


@dataclass(frozen=True, slots=True)
class PostgresCopies:
    """All tables of the database at an address, carried in a folder of files."""

    url: str

    def dump(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with connect_blocking(self.url) as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            _use_plain_text(connection)
            found = drive_blocking(connection, read_versions(part_steps()))
            _refuse_newer({each.part: each.version for each in found})
            versions = {each.part: each.version for each in found if each.version}
            tables = [
                _dump_table(connection, table, folder)
                for part in versions
                for table in DATABASE_PARTS[part].tables
                if is_there(connection, table)
            ]
        listed = CopyList(format=_FORMAT, versions=versions, tables=tuple(tables))
        (folder / LIST_NAME).write_text(listed.model_dump_json(indent=1), encoding="utf-8")

    def refuse_filled(self, mark: str) -> None:
        with connect_blocking(self.url) as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            _use_plain_text(connection)
            if not _is_restored(connection, mark):
                refuse_rows(connection, _carried_tables())

    def load(self, folder: Path, mark: str) -> bool:
        listed = CopyList.model_validate_json((folder / LIST_NAME).read_bytes())
        if listed.format > _FORMAT:
            raise UnavailableError(
                "The copy of the database was written by a newer Carrel",
                next_step="Restore it with that version; nothing was changed.",
            )
        _refuse_newer(listed.versions)
        with connect_blocking(self.url) as connection:
            _use_plain_text(connection)
            drive_blocking(connection, lock_versions())
            if _is_restored(connection, mark):
                return False
            _remake_tables(connection, listed.versions)
            for table in listed.tables:
                _load_table(connection, table, folder)
            drive_blocking(connection, upgrade_tables(part_steps()))
            put_mark(connection, mark, _as_upgraded(connection, listed).model_dump_json())
        return True


def _is_restored(connection: BlockingConnection, mark: str) -> bool:
    """Whether what the mark names is there as it was put there; DatabaseWrittenError if not.

    The audit log may have grown: each command leaves lines in it, the restore itself, too.
    """
    facts = find_mark(connection, mark)
    if facts is None:
        return False
    brought = {table.name: table for table in CopyList.model_validate_json(facts).tables}
    written = {}
    for table in _carried_tables():
        if table not in DATABASE_PARTS["audit"].tables and is_there(connection, table):
            rows = _digest(connection, table)
            before = brought.get(table)
            if (rows.count, rows.text) != (
                (before.rows, before.digest) if before else (0, RowDigest().text)
            ):
                written[table] = rows.count
        elif table in brought and not is_there(connection, table):
            written[table] = 0
    if written:
        raise DatabaseWrittenError(written)
    return True


def _as_upgraded(connection: BlockingConnection, listed: CopyList) -> CopyList:
    """What was loaded as it is in tables of the present versions."""
    found = drive_blocking(connection, read_versions(part_steps()))
    versions = {each.part: each.version for each in found}
    if all(versions[part] == version for part, version in listed.versions.items()):
        return listed
    tables = []
    for name in _carried_tables():
        if is_there(connection, name):
            rows = _digest(connection, name)
            columns = tuple(column for column, _ in list_columns(connection, name))
            tables.append(
                CopiedTable(name=name, columns=columns, rows=rows.count, digest=rows.text)
            )
    return CopyList(format=_FORMAT, versions=versions, tables=tuple(tables))


def _digest(connection: BlockingConnection, table: str) -> RowDigest:
    rows = RowDigest()
    for line in read_lines(
        connection, table, [name for name, _ in list_columns(connection, table)]
    ):
        rows.add(line)
    return rows


def _carried_tables() -> Iterator[str]:
    for part in DATABASE_PARTS.values():
        yield from part.tables


def _remake_tables(connection: BlockingConnection, versions: dict[str, int]) -> None:
    """Tables as they were when they were copied; those that are there must be empty."""
    present = [table for table in _carried_tables() if is_there(connection, table)]
    lock_tables(connection, present)
    refuse_rows(connection, _carried_tables())
    for part in DATABASE_PARTS.values():
        for table in (*part.tables, *part.passing):
            connection.execute(
                sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(sql.Identifier(table))
            )
    connection.execute("DELETE FROM carrel_versions")
    for name, version in versions.items():
        drive_blocking(connection, _make_part(name, version))


def _make_part(part: str, version: int) -> Generator[ScriptStep, Rows, None]:
    """The tables of a part as they were in a version."""
    yield from run_steps(DATABASE_PARTS[part].steps[:version])
    yield remember_version(part, version)


def _dump_table(connection: BlockingConnection, table: str, folder: Path) -> CopiedTable:
    columns = [name for name, _ in list_columns(connection, table)]
    rows = RowDigest()
    with (folder / f"{table}.copy").open("wb") as file:
        for line in read_lines(connection, table, columns):
            rows.add(line)
            file.write(line)
    return CopiedTable(name=table, columns=tuple(columns), rows=rows.count, digest=rows.text)


def _load_table(connection: BlockingConnection, table: CopiedTable, folder: Path) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table.name), names)
    with (
        (folder / f"{table.name}.copy").open("rb") as file,
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        while chunk := file.read(_CHUNK):
            copy.write(chunk)
    found = RowDigest()
    for line in read_lines(connection, table.name, table.columns):
        found.add(line)
    if (found.count, found.text) != (table.rows, table.digest):
        raise UnavailableError(
            f"{table.name} holds {found.count:,} rows after loading and is not what was copied "
            f"({table.rows:,} rows)",
            next_step="Nothing was changed; try another database.",
        )
    for column, is_identity in list_columns(connection, table.name):
        if is_identity:
            connection.execute(
                sql.SQL("SELECT setval(pg_get_serial_sequence({}, {}), max({})) FROM {}").format(
                    sql.Literal(table.name),
                    sql.Literal(column),
                    sql.Identifier(column),
                    sql.Identifier(table.name),
                )
            )


def _use_plain_text(connection: BlockingConnection) -> None:
    for statement in _PLAIN_TEXT:
        connection.execute(statement)


def _refuse_newer(versions: dict[str, int]) -> None:
    for part, version in versions.items():
        known = DATABASE_PARTS.get(part)
        if known is None or version > len(known.steps):
            raise UnavailableError(
                f"The {part} tables were written by a newer Carrel (version {version})",
                next_step="Use that one; nothing was changed.",
            )
