"""One version of a snapshot for an index elsewhere; its records are read in the snapshot alone."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import orjson

from carrel.libraries.text.abbreviations import find_abbreviations
from carrel.libraries.text.passages import cut_passages
from carrel.stores.indexed_papers import IndexedPaper, IndexedPassage
from carrel.stores.search.schema import IndexedDocument
from carrel.stores.search.snapshot_index import (
    DEFINING_CHARACTERS,
    papers_of_snapshot,
    passages_of_text,
    with_body,
)
from carrel.stores.sqlite.papers.documents import snapshot_document
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, SnapshotVersion


class IndexedSnapshot:
    """A version of a snapshot; the connection stays open as long as it is read."""

    def __init__(self, generation: SnapshotVersion, connection: sqlite3.Connection) -> None:
        self.build_id = generation.build_id
        self._generation = generation
        self._connection = connection

    def rows(self) -> Iterator[tuple[int, str]]:
        for paper, body in papers_of_snapshot(self._connection):
            content = [paper.title, paper.text, paper.year, paper.place, body, paper.keys]
            facets = {name: list(values) for name, values in paper.facets.items()}
            dumped = orjson.dumps([content, facets])
            yield paper.row, hashlib.blake2b(dumped, digest_size=12).hexdigest()

    def row_numbers(self) -> Iterator[int]:
        return (row for row, _ in self.rows())

    def digests(self, rows: Sequence[int]) -> dict[int, str]:
        wanted = set(rows)
        return {row: digest for row, digest in self.rows() if row in wanted}

    def papers(self, rows: Sequence[int]) -> list[IndexedPaper]:
        if not rows:
            return []
        wanted = set(rows)
        found = papers_of_snapshot(self._connection, min(rows), max(rows))
        return [self._indexed(*each) for each in found if each[0].row in wanted]

    def abbreviations(self) -> list[tuple[str, str, int]]:
        counted: Counter[tuple[str, str]] = Counter()
        for paper, body in papers_of_snapshot(self._connection):
            counted.update(find_abbreviations(f"{paper.text}\n{body[:DEFINING_CHARACTERS]}"))
        return [(short, long, count) for (short, long), count in sorted(counted.items())]

    def statistics(self) -> None:
        """Counted from the snapshot itself."""

    def _indexed(self, paper: IndexedDocument, body: str) -> IndexedPaper:
        cut = cut_passages(body) if body.strip() else []
        summary = self._summary(paper.row, paper.keys[0])
        shown = snapshot_document(self._generation, self._connection, paper.keys[0], summary)
        passages = passages_of_text(paper, body, cut)
        return IndexedPaper(
            paper.row,
            shown,
            with_body(paper, body, cut),
            [IndexedPassage(each, {"paper_id": paper.keys[0]}) for each in passages],
        )

    def _summary(self, row: int, paper_id: str) -> str:
        found = self._connection.execute(
            "SELECT coalesce(paper_fts.summary, paper.summary_preview, '') FROM paper "
            "JOIN paper_fts ON paper_fts.paper_id = paper.paper_id "
            "WHERE paper_fts.rowid = ? AND paper.paper_id = ?",
            (row, paper_id),
        ).fetchone()
        return "" if found is None else str(found[0] or "")


@contextmanager
def indexed_snapshot(snapshot: PaperSnapshot) -> Iterator[IndexedSnapshot]:
    """The present version of a snapshot."""
    generation = snapshot.current()
    with generation.connection() as connection:
        yield IndexedSnapshot(generation, connection)
