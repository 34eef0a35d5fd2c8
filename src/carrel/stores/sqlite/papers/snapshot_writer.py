"""Writes a paper snapshot aside, from nothing or from a copy, and swaps it in by one rename."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import combinations
from pathlib import Path

from carrel.libraries.text.plain_text import plain_text, spaced_for_index
from carrel.rooms.papers.building.papers import PublishedPaper
from carrel.rooms.papers.errors import ForeignSnapshotError
from carrel.stores.sqlite.connection import connect
from carrel.stores.sqlite.papers import SNAPSHOT_NAME
from carrel.stores.sqlite.papers.snapshot_schema import (
    INDEXES,
    NAMED_FACETS,
    OWN_TABLES,
    PAPER_TABLES,
    TABLES,
)


class FacetTable:
    """A table of facet values with their numbers, links to papers and changes of paper counts."""

    def __init__(
        self, connection: sqlite3.Connection, table: str, links: str, number: str, columns: str
    ) -> None:
        self._connection = connection
        self._table = table
        self._links = links
        self._number = number
        rows = connection.execute(f"SELECT {number}, {columns} FROM {table}")
        self.values: dict[int, tuple[str, ...]] = {row[0]: tuple(row[1:]) for row in rows}
        self._numbers = {value: found for found, value in self.values.items()}
        self._next = max(self.values, default=0) + 1
        self._changes: Counter[int] = Counter()
        self._new_rows: list[tuple[object, ...]] = []
        self._new_links: list[tuple[str, int]] = []

    def link(self, paper_id: str, *value: str) -> int:
        """Gives a paper a value and returns the value's number."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = self._next
            self.values[number] = value
            self._next += 1
            self._new_rows.append((number, *value, 0))
        self._new_links.append((paper_id, number))
        self._changes[number] += 1
        return number

    def uncount(self, paper_id: str) -> list[int]:
        """Takes a paper out of the counts of its values and returns their numbers."""
        select = f"SELECT {self._number} FROM {self._links} WHERE paper_id = ?"
        numbers = [number for (number,) in self._connection.execute(select, (paper_id,))]
        self._changes.subtract(numbers)
        return numbers

    def flush(self) -> None:
        if self._new_rows:
            places = ", ".join("?" * len(self._new_rows[0]))
            self._connection.executemany(
                f"INSERT INTO {self._table} VALUES ({places})", self._new_rows
            )
        self._connection.executemany(f"INSERT INTO {self._links} VALUES (?, ?)", self._new_links)
        self._new_rows.clear()
        self._new_links.clear()

    def write_counts(self) -> None:
        self._connection.executemany(
            f"UPDATE {self._table} SET paper_count = paper_count + ? WHERE {self._number} = ?",
            ((change, number) for number, change in self._changes.items() if change),
        )
        self._connection.executemany(
            f"DELETE FROM {self._table} WHERE {self._number} = ? AND paper_count <= 0",
            ((number,) for number, change in self._changes.items() if change <= 0),
        )


# Three thousand authors of one paper would alone make millions of pairs; beyond this many facets
# authors are not paired.
_MAX_PAIRED_FACETS = 200

ReadText = Callable[[str], str]
BeforeSwap = Callable[[Path], None]


class SqliteSnapshotWriter:
    """The snapshot of one corpus folder; `read_text` reads a file of the static folder.

    `has_edges` says whether pairs of facets are counted; None goes on as the current snapshot does.
    """

    def __init__(
        self,
        folder: Path,
        workshop: Path,
        read_text: ReadText,
        *,
        has_edges: bool | None = None,
        before_swap: BeforeSwap | None = None,
    ) -> None:
        self.path = folder / SNAPSHOT_NAME
        self._draft_path = workshop / "draft.db"
        self._read_text = read_text
        self._has_edges = has_edges
        self._before_swap = before_swap

    def refuse_foreign(self, has_published: bool) -> None:
        """Raises ForeignSnapshotError where a snapshot lies here that no build of ours made."""
        if self.path.exists() and not has_published:
            raise ForeignSnapshotError(self.path.name)

    def current_build_id(self) -> str | None:
        """The build id of the snapshot on disk; None where none can be read."""
        found = self._first_value("SELECT value FROM snapshot_meta WHERE key = 'snapshot_build_id'")
        return None if found is None else str(found)

    def _current_has_edges(self) -> bool:
        return (
            self.current_build_id() is None
            or self._first_value("SELECT 1 FROM facet_edge LIMIT 1") is not None
        )

    def _first_value(self, query: str) -> object | None:
        """The first value that the current snapshot answers with; None where it cannot be read."""
        if not self.path.is_file():
            return None
        try:
            with closing(connect(self.path, "immutable")) as connection:
                row = connection.execute(query).fetchone()
        except sqlite3.Error:
            return None
        return row[0] if row else None

    @contextmanager
    def draft(self, from_current: bool) -> Iterator[SqliteSnapshotDraft]:
        self._draft_path.parent.mkdir(parents=True, exist_ok=True)
        self._remove_draft()
        has_edges = self._current_has_edges() if self._has_edges is None else self._has_edges
        if from_current:
            shutil.copyfile(self.path, self._draft_path)
        with closing(connect(self._draft_path)) as connection:
            # Nobody reads the draft and a broken one is thrown away, so nothing needs to be safe
            # before the end.
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("PRAGMA cache_size=-131072")
            connection.execute("BEGIN")
            yield SqliteSnapshotDraft(
                connection, self._read_text, is_fresh=not from_current, has_edges=has_edges
            )
            connection.execute("COMMIT")
            # A snapshot is never written again. Without WAL it needs no files beside it and opens
            # in a read-only folder.
            connection.execute("PRAGMA journal_mode=DELETE")

    def publish(self) -> None:
        if self._before_swap is not None:
            self._before_swap(self._draft_path)
        with self._draft_path.open("rb") as file:
            os.fsync(file.fileno())
        self._draft_path.replace(self.path)

    def _remove_draft(self) -> None:
        for suffix in ("", "-journal", "-wal", "-shm"):
            Path(f"{self._draft_path}{suffix}").unlink(missing_ok=True)


class SqliteSnapshotDraft:
    """Rows go in as papers come; counts, pairs and indexes follow at the end."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        read_text: ReadText,
        *,
        is_fresh: bool,
        has_edges: bool,
    ) -> None:
        self._connection = connection
        self._read_text = read_text
        self._is_fresh = is_fresh
        if is_fresh:
            for statement in TABLES:
                connection.execute(statement)
        for statement in OWN_TABLES:
            connection.execute(statement)
        self._named = {
            name: FacetTable(connection, name, f"paper_{name}", f"{name}_id", "value")
            for name in NAMED_FACETS
        }
        self._nodes = FacetTable(
            connection, "facet_node", "paper_facet", "node_id", "facet_type, value"
        )
        self._facet_tables = (*self._named.values(), self._nodes)
        self._edge_changes: Counter[tuple[int, int]] = Counter()
        self._has_edges = has_edges
        self._pairs_from_scratch = (
            connection.execute("SELECT 1 FROM facet_edge LIMIT 1").fetchone() is None
        )

    def remove(self, paper_ids: Iterable[str]) -> None:
        for paper_id in paper_ids:
            row = self._connection.execute(
                "SELECT paper_index FROM paper WHERE paper_id = ?", (paper_id,)
            ).fetchone()
            if row is None:
                continue
            self._pair(self._nodes.uncount(paper_id), -1)
            for table in self._named.values():
                table.uncount(paper_id)
            for fts in ("paper_fts", "paper_fts_trigram"):
                self._connection.execute(f"DELETE FROM {fts} WHERE rowid = ?", row)
            for name in PAPER_TABLES:
                self._connection.execute(f"DELETE FROM {name} WHERE paper_id = ?", (paper_id,))

    def add(self, papers: Iterable[PublishedPaper]) -> None:
        batch = list(papers)
        self._insert("paper", 20, map(_paper_row, batch))
        self._insert(
            "paper_summary",
            2,
            ((paper.paper_id, tag) for paper in batch for tag in paper.summaries.templates),
        )
        self._insert(
            "paper_translation",
            3,
            ((paper.paper_id, *pair) for paper in batch for pair in paper.record.translations),
        )
        self._insert(
            "paper_bibtex",
            4,
            (
                (paper.paper_id, entry.raw, entry.key, entry.kind)
                for paper in batch
                if (entry := paper.record.bibtex)
            ),
        )
        self._insert(
            "paper_inferred",
            2,
            ((paper.paper_id, field) for paper in batch for field in paper.inferred),
        )
        self._insert(
            "paper_key_alias",
            4,
            (
                (key.value, paper.paper_id, key.kind_name, key.fingerprint)
                for paper in batch
                for key in paper.keys
            ),
        )
        for paper in batch:
            self._add_facets(paper)
        for table in self._facet_tables:
            table.flush()
        self._connection.executemany(
            "INSERT INTO paper_fts(rowid, paper_id, title, summary, source, translated, metadata) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            map(self._index_row, batch),
        )
        self._connection.executemany(
            "INSERT INTO paper_fts_trigram(rowid, paper_id, title, venue) VALUES (?, ?, ?, ?)",
            (
                (paper.paper_index, paper.paper_id, paper.record.title.lower(), paper.venue.lower())
                for paper in batch
            ),
        )

    def finish(self, build_id: str, built_at: str) -> None:
        for table in self._facet_tables:
            table.write_counts()
        for name in ("year", "month"):
            self._connection.execute(f"DELETE FROM {name}_count")
            self._connection.execute(
                f"INSERT INTO {name}_count SELECT {name}, count(*) FROM paper GROUP BY {name} "
                f"ORDER BY {name}"
            )
        if not self._has_edges:
            self._connection.execute("DELETE FROM facet_edge")
        elif self._pairs_from_scratch:
            self._pair_everything()
        if self._is_fresh:
            for statement in INDEXES:
                self._connection.execute(statement)
            for fts in ("paper_fts", "paper_fts_trigram"):
                self._connection.execute(f"INSERT INTO {fts}({fts}) VALUES ('optimize')")
        self._write_edge_changes()
        self._connection.execute("DELETE FROM snapshot_meta")
        self._insert("snapshot_meta", 2, [("snapshot_build_id", build_id), ("built_at", built_at)])

    def _insert(self, table: str, columns: int, rows: Iterable[Sequence[object]]) -> None:
        self._connection.executemany(
            f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows
        )

    def _add_facets(self, paper: PublishedPaper) -> None:
        nodes: list[int] = []
        for facet, value in paper.facets():
            nodes.append(self._nodes.link(paper.paper_id, facet, value))
            if facet in self._named:
                self._named[facet].link(paper.paper_id, value)
        self._pair(nodes, +1)

    def _pair(self, nodes: Sequence[int], change: int) -> None:
        if self._pairs_from_scratch or not self._has_edges:
            return
        if len(nodes) > _MAX_PAIRED_FACETS:
            nodes = sorted(node for node in nodes if self._nodes.values[node][0] != "author")[
                :_MAX_PAIRED_FACETS
            ]
        for pair in combinations(sorted(nodes), 2):
            self._edge_changes[pair] += change

    def _pair_everything(self) -> None:
        """All pairs counted by the database, which spills to disk where memory is short."""
        crowded = "SELECT paper_id FROM paper_facet GROUP BY paper_id HAVING count(*) > ?"
        self._connection.execute("CREATE TEMP TABLE crowded (paper_id TEXT PRIMARY KEY)")
        self._connection.execute(f"INSERT INTO crowded {crowded}", (_MAX_PAIRED_FACETS,))
        self._connection.execute(
            """INSERT INTO facet_edge
               SELECT a.node_id, b.node_id, count(*) FROM paper_facet a JOIN paper_facet b
               ON b.paper_id = a.paper_id AND b.node_id > a.node_id
               WHERE a.paper_id NOT IN (SELECT paper_id FROM crowded)
               GROUP BY a.node_id, b.node_id ORDER BY a.node_id, b.node_id"""
        )
        self._pairs_from_scratch = False
        for (paper_id,) in self._connection.execute("SELECT paper_id FROM crowded").fetchall():
            select = "SELECT node_id FROM paper_facet WHERE paper_id = ?"
            self._pair([node for (node,) in self._connection.execute(select, (paper_id,))], +1)

    def _write_edge_changes(self) -> None:
        self._connection.executemany(
            "INSERT INTO facet_edge VALUES (?, ?, ?) "
            "ON CONFLICT(node_id_a, node_id_b) DO UPDATE SET paper_count = paper_count + "
            "excluded.paper_count",
            ((a, b, change) for (a, b), change in self._edge_changes.items() if change),
        )
        self._connection.executemany(
            "DELETE FROM facet_edge WHERE node_id_a = ? AND node_id_b = ? AND paper_count <= 0",
            (pair for pair, change in self._edge_changes.items() if change < 0),
        )

    def _index_row(self, paper: PublishedPaper) -> tuple[object, ...]:
        record = paper.record
        source = (
            plain_text(self._read_text(f"md/{record.markdown_sha256}.md"))
            if record.markdown_sha256
            else ""
        )
        translated = " ".join(
            plain_text(self._read_text(f"md_translate/{lang}/{sha256}.md"))
            for lang, sha256 in record.translations
        )
        about = (
            record.title,
            *record.authors,
            paper.venue,
            *record.keywords,
            *record.institutions,
            paper.year,
            record.doi or "",
        )
        metadata = " ".join(part for part in about if part)
        texts = (record.title, paper.summaries.searchable, source, translated, metadata)
        return (paper.paper_index, paper.paper_id, *map(spaced_for_index, texts))


def _paper_row(paper: PublishedPaper) -> tuple[object, ...]:
    record, key, summary = paper.record, paper.keys[0], paper.summaries.preferred
    about = (key.value, key.kind_name, record.doi, record.title, paper.year, paper.month)
    shown = (paper.publication_date, paper.venue, summary.template, paper.summaries.preview)
    written = (summary.language, summary.provider, summary.model, summary.prompt_template)
    files = (summary.extracted_at, record.pdf_sha256, record.markdown_sha256)
    place = (paper.paper_index, record.source_hash)
    return (paper.paper_id, *about, *shown, *place, *written, *files)
