"""The facet tables of a snapshot while it is written: numbers for values, and counts that change as
papers come and go.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable


class FacetTable:
    """One of author, keyword, institution, tag, venue, with its values' numbers and the changes of
    their counts.
    """

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._ids: dict[str, int] = dict(connection.execute(f"SELECT value, {name}_id FROM {name}"))
        self._next = max(self._ids.values(), default=0) + 1
        self._changes: Counter[int] = Counter()
        self._new: list[tuple[int, str]] = []
        self._connections: list[tuple[str, int]] = []

    def connect(self, paper_id: str, value: str) -> None:
        value_id = self._ids.get(value)
        if value_id is None:
            value_id = self._ids[value] = self._next
            self._next += 1
            self._new.append((value_id, value))
        self._connections.append((paper_id, value_id))
        self._changes[value_id] += 1

    def flush(self) -> None:
        self._connection.executemany(f"INSERT INTO {self._name} VALUES (?, ?, 0)", self._new)
        self._connection.executemany(
            f"INSERT INTO paper_{self._name} VALUES (?, ?)", self._connections
        )
        self._new.clear()
        self._connections.clear()

    def count(self, value_ids: Iterable[int], change: int) -> None:
        for value_id in value_ids:
            self._changes[value_id] += change

    def write_counts(self) -> None:
        name = self._name
        self._connection.executemany(
            f"UPDATE {name} SET paper_count = paper_count + ? WHERE {name}_id = ?",
            ((change, value_id) for value_id, change in self._changes.items() if change),
        )
        self._connection.executemany(
            f"DELETE FROM {name} WHERE {name}_id = ? AND paper_count <= 0",
            ((value_id,) for value_id, change in self._changes.items() if change <= 0),
        )


class NodeTable:
    """The common table of all facets."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ids: dict[tuple[str, str], int] = {}
        self._facets: dict[int, str] = {}
        for node_id, facet, value in connection.execute(
            "SELECT node_id, facet_type, value FROM facet_node"
        ):
            self._ids[facet, value] = node_id
            self._facets[node_id] = facet
        self._next = max(self._facets, default=0) + 1
        self._changes: Counter[int] = Counter()
        self._new: list[tuple[int, str, str]] = []
        self._connections: list[tuple[str, int]] = []

    def id_of(self, facet: tuple[str, str]) -> int:
        found = self._ids.get(facet)
        if found is None:
            found = self._ids[facet] = self._next
            self._facets[found] = facet[0]
            self._next += 1
            self._new.append((found, *facet))
        return found

    def connect(self, paper_id: str, nodes: Iterable[int]) -> None:
        for node in nodes:
            self._connections.append((paper_id, node))
            self._changes[node] += 1

    def flush(self) -> None:
        self._connection.executemany("INSERT INTO facet_node VALUES (?, ?, ?, 0)", self._new)
        self._connection.executemany("INSERT INTO paper_facet VALUES (?, ?)", self._connections)
        self._new.clear()
        self._connections.clear()

    def facet_of(self, node_id: int) -> str:
        return self._facets[node_id]

    def count(self, node_ids: Iterable[int], change: int) -> None:
        for node_id in node_ids:
            self._changes[node_id] += change

    def write_counts(self) -> None:
        self._connection.executemany(
            "UPDATE facet_node SET paper_count = paper_count + ? WHERE node_id = ?",
            ((change, node_id) for node_id, change in self._changes.items() if change),
        )
        self._connection.executemany(
            "DELETE FROM facet_node WHERE node_id = ? AND paper_count <= 0",
            ((node_id,) for node_id, change in self._changes.items() if change <= 0),
        )
