"""Nodes in PostgreSQL, with the pieces of their names indexed for near misses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from carrel.libraries.text.tokenizer import case_key, name_trigrams
from carrel.rooms.knowledge.documents import DocumentChange, Mark, Put, node_document
from carrel.rooms.knowledge.notes import Node
from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.postgres.knowledge.rows import told_plainly

PAGE = 500
_COLUMNS = "name, node_type, description, content, metadata"


class PostgresNodeStore:
    """Nodes beside the notes."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def put(self, nodes: Sequence[Node]) -> None:
        sql = (
            "INSERT INTO knowledge_nodes (name_key, name, node_type, description, content, "
            "metadata, grams) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (name_key) DO UPDATE SET name = "
            "excluded.name, "
            "node_type = excluded.node_type, description = excluded.description, content = "
            "excluded.content, "
            "metadata = excluded.metadata, grams = excluded.grams, changed_in = "
            "pg_current_xact_id()"
        )
        values = [
            (
                case_key(n.name),
                n.name,
                n.node_type,
                n.description,
                n.content,
                Jsonb(n.metadata),
                sorted(name_trigrams(n.name)),
            )
            for n in nodes
        ]
        with told_plainly():
            async with self._database.connected() as connection:
                await connection.cursor().executemany(sql, values)

    async def find(self, names: Sequence[str]) -> dict[str, Node]:
        sql = f"SELECT {_COLUMNS}, name_key FROM knowledge_nodes WHERE name_key = ANY (%s)"
        found = {
            row[-1]: _node(row)
            for row in await self._rows(sql, ([case_key(name) for name in names],))
        }
        return {name: found[case_key(name)] for name in names if case_key(name) in found}

    async def near(self, name: str, limit: int) -> list[str]:
        sql = (
            "SELECT name FROM knowledge_nodes, LATERAL (SELECT count(*) AS shared FROM "
            "unnest(grams) g WHERE g = ANY (%s)) s "
            "WHERE grams && %s ORDER BY shared DESC, name_key LIMIT %s"
        )
        pieces = sorted(name_trigrams(name))
        return [row[0] for row in await self._rows(sql, (pieces, pieces, limit))]

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        ((horizon,),) = await self._rows("SELECT pg_snapshot_xmin(pg_current_snapshot())::text", ())
        sql = (
            f"SELECT {_COLUMNS}, name_key, changed_in::text FROM knowledge_nodes WHERE "
            f"(changed_in, name_key) > (%s::xid8, %s) "
            f"ORDER BY changed_in, name_key LIMIT {PAGE}"
        )
        after = (since or "0", "")
        while True:
            rows = await self._rows(sql, after)
            for row in rows:
                yield Put(node_document(_node(row)))
            if len(rows) < PAGE:
                break
            after = (rows[-1][-1], rows[-1][-2])
            yield Mark(str(min(int(after[0]), int(horizon))))
        yield Mark(horizon)

    async def _rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with told_plainly():
            async with self._database.connected() as connection:
                return await (await connection.execute(sql, values)).fetchall()


def _node(row: tuple[Any, ...]) -> Node:
    return Node(row[0], row[1], row[2], row[3], row[4])
