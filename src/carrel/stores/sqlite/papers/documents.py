"""Papers of a snapshot as documents: for the search bodies and for a cluster."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from carrel.libraries.query.papers import FacetCategory
from carrel.rooms.knowledge.documents import DiffedDocuments, Document, DocumentSource
from carrel.stores.paper_documents import (
    PAPER_FIELDS,
    RANKED_FACETS,
    IndexedTexts,
    paper_document,
)
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, SnapshotVersion

_PAGE = 100


class SnapshotDocuments:
    """The papers of a snapshot as documents of the index `papers`."""

    def __init__(self, snapshot: PaperSnapshot) -> None:
        self._snapshot = snapshot

    @property
    def source(self) -> DocumentSource:
        """The index `papers`; keep the object, it tracks the changes it reported."""
        return DiffedDocuments("papers", PAPER_FIELDS, self)

    async def state(self) -> str:
        return await asyncio.to_thread(lambda: snapshot_state(self._snapshot.current()))

    async def everything(self) -> AsyncIterator[Document]:
        generation = await asyncio.to_thread(self._snapshot.current)
        last = -1
        with generation.connection() as connection:
            while page := await asyncio.to_thread(paper_page, generation, connection, last):
                for _, document in page:
                    yield document
                last = page[-1][0]


def snapshot_state(generation: SnapshotVersion) -> str:
    """A name for one version of the snapshot: its build, size, and times of file and log."""
    _, _, size, written, log, *_ = generation.signature
    return hashlib.sha256(f"{generation.build_id}|{size}|{written}|{log}".encode()).hexdigest()[:32]


def paper_page(
    generation: SnapshotVersion, connection: sqlite3.Connection, after: int
) -> list[tuple[int, Document]]:
    """Documents with numbers above `after`, in order; none at the end."""
    found = connection.execute(
        "SELECT p.rowid, p.paper_id, p.summary_preview, "
        "(SELECT f.summary FROM paper_fts f WHERE f.rowid = p.rowid AND f.paper_id = p.paper_id) "
        f"FROM paper p WHERE p.rowid > ? ORDER BY p.rowid LIMIT {_PAGE}",
        (after,),
    ).fetchall()
    return [
        (number, _document(generation, connection, str(paper_id), str(summary or preview or "")))
        for number, paper_id, preview, summary in found
    ]


def _document(
    generation: SnapshotVersion, connection: sqlite3.Connection, paper_id: str, summary: str
) -> Document:
    paper = rows.read_paper(connection, generation, paper_id)
    if paper is None:
        raise AssertionError(f"{paper_id} was read from this very connection")
    return paper_document(paper.metadata, summary)


class SnapshotRankedVersion:
    """One version of a snapshot with the texts that a search ranks by."""

    def __init__(self, generation: SnapshotVersion, connection: sqlite3.Connection) -> None:
        self.build_id = generation.build_id
        self._generation = generation
        self._connection = connection

    def page(self, after: int) -> list[tuple[int, Document, IndexedTexts]]:
        return [
            (number, document, _indexed_texts(self._connection, document.id))
            for number, document in paper_page(self._generation, self._connection, after)
        ]


@contextmanager
def ranked_snapshot(snapshot: PaperSnapshot) -> Iterator[SnapshotRankedVersion]:
    """The present version of a snapshot, for an index that ranks."""
    generation = snapshot.current()
    with generation.connection() as connection:
        yield SnapshotRankedVersion(generation, connection)


def _indexed_texts(connection: sqlite3.Connection, paper_id: str) -> IndexedTexts:
    title, year, place, number = connection.execute(
        "SELECT title, year, paper_index, rowid FROM paper WHERE paper_id = ?", (paper_id,)
    ).fetchone()
    columns = "SELECT summary, source, translated, metadata FROM paper_fts"
    # The full-text table usually counts as the table of papers does.
    row = connection.execute(
        f"{columns} WHERE rowid = ? AND paper_id = ?", (number, paper_id)
    ).fetchone()
    if row is None:
        row = connection.execute(f"{columns} WHERE paper_id = ?", (paper_id,)).fetchone()
    summary, source, translated, metadata = (str(text or "") for text in row or ("",) * 4)
    facets: dict[FacetCategory, list[str]] = {}
    for facet in RANKED_FACETS:
        sql = f"SELECT value FROM {facet} JOIN paper_{facet} USING ({facet}_id) WHERE paper_id = ?"
        facets[facet] = [str(value) for (value,) in connection.execute(sql, (paper_id,))]
    return IndexedTexts(
        str(title), str(year), int(place or 0), summary, source, translated, metadata, facets
    )
