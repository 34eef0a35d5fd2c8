"""Nodes in SQLite, with the pieces of their names indexed for near misses."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence

import orjson

from carrel.libraries.text.tokenizer import case_key, name_trigrams
from carrel.rooms.knowledge.documents import DocumentChange, Mark, Put, node_document
from carrel.rooms.knowledge.notes import Node
from carrel.stores.sqlite.database import Database
from carrel.stores.sqlite.knowledge.rows import told_plainly

PAGE = 500


class SqliteNodeStore:
    """Nodes in the same file as the notes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, nodes: Sequence[Node]) -> None:
        with told_plainly(self._database.path):
            await self._database.write(lambda connection: _put(connection, nodes))

    async def find(self, names: Sequence[str]) -> dict[str, Node]:
        with told_plainly(self._database.path):
            return await self._database.read(lambda connection: _find(connection, names))

    async def near(self, name: str, limit: int) -> list[str]:
        pieces = sorted(name_trigrams(name))
        sql = (
            "SELECT n.name FROM (SELECT number, count(*) AS shared FROM node_grams "
            f"WHERE gram IN ({', '.join('?' * len(pieces))}) GROUP BY number ORDER BY shared "
            f"DESC, number LIMIT ?) g "
            "JOIN nodes n USING (number)"
        )
        with told_plainly(self._database.path):
            rows = await self._database.read(
                lambda connection: connection.execute(sql, (*pieces, limit)).fetchall()
            )
        return [row[0] for row in rows]

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        sql = (
            "SELECT n.name, n.node_type, n.description, n.content, n.metadata, c.sequence FROM "
            "changes c "
            f"CROSS JOIN nodes n ON n.name_key = c.key WHERE c.kind = 'node' AND c.sequence > ? "
            f"ORDER BY c.sequence LIMIT {PAGE}"
        )
        after = int(since or 0)
        while True:
            with told_plainly(self._database.path):
                start = after
                rows = await self._database.read(
                    lambda connection: connection.execute(sql, (start,)).fetchall()  # noqa: B023
                )
            for row in rows:
                yield Put(node_document(_node(row)))
            if rows:
                after = rows[-1][-1]
                yield Mark(str(after))
            if len(rows) < PAGE:
                return


def _put(connection: sqlite3.Connection, nodes: Sequence[Node]) -> None:
    for node in nodes:
        key = case_key(node.name)
        number = connection.execute(
            "INSERT INTO nodes (name_key, name, node_type, description, content, metadata) VALUES "
            "(?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (name_key) DO UPDATE SET name = excluded.name, node_type = "
            "excluded.node_type, "
            "description = excluded.description, content = excluded.content, metadata = "
            "excluded.metadata RETURNING number",
            (
                key,
                node.name,
                node.node_type,
                node.description,
                node.content,
                orjson.dumps(node.metadata).decode(),
            ),
        ).fetchone()[0]
        connection.executemany(
            "INSERT OR IGNORE INTO node_grams VALUES (?, ?)",
            [(gram, number) for gram in name_trigrams(node.name)],
        )
        connection.execute(
            "INSERT OR REPLACE INTO changes (kind, key, is_removed) VALUES ('node', ?, 0)", (key,)
        )


def _find(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for name in names:
        sql = "SELECT name, node_type, description, content, metadata FROM nodes WHERE name_key = ?"
        row = connection.execute(sql, (case_key(name),)).fetchone()
        if row is not None:
            found[name] = _node(row)
    return found


def _node(row: Sequence[str]) -> Node:
    return Node(row[0], row[1], row[2], row[3], orjson.loads(row[4]))
