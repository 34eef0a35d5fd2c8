"""Papers of a snapshot as others read them: for search, discovery, summaries."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path

from carrel.libraries.discovery.records import Paper
from carrel.libraries.text.words import join_cjk
from carrel.rooms.knowledge.documents import (
    PAPERS,
    DiffedDocuments,
    Document,
    DocumentSource,
    FieldKind,
)
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, Signature, SnapshotVersion

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


_PAPERS = """SELECT p.paper_id, p.title, p.year, p.summary_preview,
    (SELECT f.summary FROM paper_fts f WHERE f.rowid = p.rowid AND f.paper_id = p.paper_id),
    (SELECT group_concat(k.value, char(31)) FROM paper_keyword pk JOIN keyword k USING (keyword_id)
      WHERE pk.paper_id = p.paper_id)
    FROM paper p"""


class PaperTexts:
    """Reads a snapshot; a file that was replaced is noticed."""

    def __init__(self, snapshot: PaperSnapshot) -> None:
        self._snapshot = snapshot

    @property
    def path(self) -> Path:
        return self._snapshot.path

    def signature(self) -> Signature:
        return self._snapshot.signature()

    def everything(self) -> Iterator[tuple[Paper, str]]:
        """Every paper with a fingerprint that changes when it does."""
        with self._snapshot.current().connection() as connection:
            for row in connection.execute(f"{_PAPERS} ORDER BY p.rowid"):
                yield _paper(row), _fingerprint(row)

    def paper(self, paper_id: str) -> Paper | None:
        with self._snapshot.current().connection() as connection:
            return _one(connection, paper_id)

    def papers(self, paper_ids: Sequence[str]) -> list[Paper]:
        with self._snapshot.current().connection() as connection:
            found = (_one(connection, paper_id) for paper_id in paper_ids)
            return [paper for paper in found if paper is not None]


def _one(connection: sqlite3.Connection, paper_id: str) -> Paper | None:
    row = connection.execute(f"{_PAPERS} WHERE p.paper_id = ?", (paper_id,)).fetchone()
    return None if row is None else _paper(row)


def _paper(row: tuple[str, ...]) -> Paper:
    paper_id, title, year, preview, summary, keywords = row
    known_year = int(year) if str(year).isdigit() else None
    names = tuple(str(keywords).split("\x1f")) if keywords else ()
    return Paper(str(paper_id), str(title), str(summary or preview or ""), names, year=known_year)


def _fingerprint(row: tuple[str, ...]) -> str:
    return hashlib.blake2b(
        "\x1e".join("" if value is None else str(value) for value in row).encode(), digest_size=12
    ).hexdigest()
