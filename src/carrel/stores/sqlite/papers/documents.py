"""Papers of a snapshot as documents of the search bodies."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator

from carrel.rooms.knowledge.documents import DiffedDocuments, Document, DocumentSource
from carrel.stores.paper_documents import PAPER_FIELDS, paper_document
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
        (
            number,
            snapshot_document(generation, connection, str(paper_id), str(summary or preview or "")),
        )
        for number, paper_id, preview, summary in found
    ]


def snapshot_document(
    generation: SnapshotVersion, connection: sqlite3.Connection, paper_id: str, summary: str
) -> Document:
    """A paper as a document that shows itself."""
    paper = rows.read_paper(connection, generation, paper_id)
    if paper is None:
        raise AssertionError(f"{paper_id} was read from this very connection")
    return paper_document(paper.metadata, summary)
