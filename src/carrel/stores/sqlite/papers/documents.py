"""Papers of a snapshot as the documents of a search index."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from carrel.libraries.text.words import join_cjk
from carrel.rooms.knowledge.documents import (
    PAPERS,
    DiffedDocuments,
    Document,
    DocumentSource,
    FieldKind,
)
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.snapshot import Generation, Snapshot

PAPER_FIELDS: Mapping[str, FieldKind] = {
    "paper_id": "keyword",
    "title": "text",
    "summary": "text",
    "authors": "text",
    "venue": "text",
    "year": "number",
    "publication_date": "keyword",
    "keywords": "keyword",
    "tags": "keyword",
    "institutions": "keyword",
    "doi": "keyword",
    "arxiv_id": "keyword",
}
_PAGE = 100


class SnapshotDocuments:
    """The papers of one snapshot; a file that was replaced is noticed, one that is missing is an
    error.
    """

    def __init__(self, path: Path) -> None:
        self._snapshot = Snapshot(path)

    @property
    def source(self) -> DocumentSource:
        """The index `papers`. Keep it: it remembers what it told."""
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

    async def close(self) -> None:
        await asyncio.to_thread(self._snapshot.close)


def snapshot_state(generation: Generation) -> str:
    """A name for one version of the snapshot: its build, its size, and when it and its log were
    written.
    """
    _, _, size, written, log, *_ = generation.signature
    return hashlib.sha256(f"{generation.build_id}|{size}|{written}|{log}".encode()).hexdigest()[:32]


def paper_page(
    generation: Generation, connection: sqlite3.Connection, after: int
) -> list[tuple[int, Document]]:
    """Some documents with their numbers, in the order of the numbers and past this one; none at the
    end.
    """
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
    generation: Generation, connection: sqlite3.Connection, paper_id: str, summary: str
) -> Document:
    paper = rows.paper(connection, generation, paper_id)
    if paper is None:
        raise AssertionError(f"{paper_id} was read from this very connection")
    facts = paper.metadata
    fields: dict[str, object] = {
        "paper_id": paper_id,
        "title": facts.title,
        "summary": join_cjk(summary),
        "authors": list(facts.authors),
        "venue": facts.venue,
        "year": int(facts.year) if facts.year.isdecimal() else None,
        "publication_date": facts.publication_date,
        "keywords": list(facts.keywords),
        "tags": list(facts.tags),
        "institutions": list(facts.institutions),
        "doi": facts.doi,
        "arxiv_id": facts.arxiv_id,
    }
    return Document(
        paper_id,
        {name: value for name, value in fields.items() if value not in (None, "", [])},
        (PAPERS,),
    )
