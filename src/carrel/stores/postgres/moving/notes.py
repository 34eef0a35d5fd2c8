"""Moves notes with their versions, and nodes: their tables differ, the records are the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import orjson

from carrel.rooms.knowledge.notes import Node, Note, Version
from carrel.stores.postgres.knowledge import PostgresNodeStore, PostgresNoteStore
from carrel.stores.postgres.moving.kinds import Kind, Proof, RowProof
from carrel.stores.postgres.moving.rows import refuse_unstorable
from carrel.stores.postgres.statements import BlockingConnection, drive_blocking
from carrel.stores.sql.driver import Driver
from carrel.stores.sql.knowledge import HISTORY_COLUMNS, NODE_COLUMNS, note_columns
from carrel.stores.sqlite.connection import connect
from carrel.stores.sqlite.driver import SqliteDriver
from carrel.stores.sqlite.knowledge import SqliteNodeStore, SqliteNoteStore

_PAGE = 500
_NO_NODES: list[Node] = []


def move_notes(file: Path | None, driver: Driver) -> Kind:
    """Notes with tags, authors, states and every version; `driver` runs nothing."""
    target = PostgresNoteStore(driver)

    def read() -> Proof:
        return _prove_notes(_read_notes(file), _read_versions(file))

    def copy(connection: BlockingConnection) -> None:
        for note in _read_notes(file):
            refuse_unstorable("notes", (note.id, note.title, note.content, *note.tags))
            drive_blocking(connection, target.add_note(note))
        for version in _read_versions(file):
            refuse_unstorable("note_history", (version.note_id, version.title, version.content))
            drive_blocking(connection, target.add_version(version))

    def check(connection: BlockingConnection) -> Proof:
        notes = _select(connection, f"SELECT {note_columns()} FROM knowledge_notes n")
        versions = _select(connection, f"SELECT {HISTORY_COLUMNS} FROM knowledge_history")
        return _prove_notes(map(target.note_from, notes), map(target.version_from, versions))

    return Kind("notes", ("knowledge_notes", "knowledge_history"), read, copy, check)


def move_nodes(file: Path | None, driver: Driver) -> Kind:
    """Nodes of the knowledge graph."""
    target = PostgresNodeStore(driver)

    def read() -> Proof:
        return _prove_nodes(_read_nodes(file))

    def copy(connection: BlockingConnection) -> None:
        for node in _read_nodes(file):
            refuse_unstorable("nodes", (node.name, node.description, node.content))
            drive_blocking(connection, target.put_statements([node]))

    def check(connection: BlockingConnection) -> Proof:
        rows = _select(connection, f"SELECT {NODE_COLUMNS} FROM knowledge_nodes")
        return _prove_nodes(map(target.node_from, rows))

    return Kind("nodes", ("knowledge_nodes",), read, copy, check)


def _prove_notes(notes: Iterator[Note], versions: Iterator[Version]) -> Proof:
    proof = RowProof()
    for note in notes:
        proof.add("note", (repr(note),))
    for version in versions:
        proof.add("version", (repr(version),))
    return proof.proof


def _prove_nodes(nodes: Iterator[Node]) -> Proof:
    proof = RowProof()
    for node in nodes:
        metadata = orjson.dumps(node.metadata, option=orjson.OPT_SORT_KEYS).decode()
        proof.add("node", (node.name, node.node_type, node.description, node.content, metadata))
    return proof.proof


def _read_notes(file: Path | None) -> Iterator[Note]:
    store = SqliteNoteStore(SqliteDriver(file or Path(), ()))
    for row in _rows(file, f"SELECT {note_columns()} FROM notes n ORDER BY n.number"):
        yield store.note_from(row)


def _read_versions(file: Path | None) -> Iterator[Version]:
    store = SqliteNoteStore(SqliteDriver(file or Path(), ()))
    for row in _rows(file, f"SELECT {HISTORY_COLUMNS} FROM note_history"):
        yield store.version_from(row)


def _read_nodes(file: Path | None) -> Iterator[Node]:
    store = SqliteNodeStore(SqliteDriver(file or Path(), ()))
    for row in _rows(file, f"SELECT {NODE_COLUMNS} FROM nodes ORDER BY number"):
        yield store.node_from(row)


def _rows(file: Path | None, statement: str) -> Iterator[tuple[object, ...]]:
    if file is not None:
        with closing(connect(file, "read")) as rows:
            yield from rows.execute(statement)


def _select(connection: BlockingConnection, statement: str) -> Iterator[tuple[object, ...]]:
    with connection.cursor(name="moved") as cursor:
        cursor.itersize = _PAGE
        yield from cursor.execute(statement.encode())
