"""Titles, abstracts and keywords of a snapshot, as the research room reads them."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from carrel.libraries.discovery.records import Paper
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, Signature

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

    def fingerprints(self) -> Iterator[tuple[str, str]]:
        """The id of every paper with a text that changes when the paper does."""
        with self._snapshot.current().connection() as connection:
            for row in connection.execute(f"{_PAPERS} ORDER BY p.rowid"):
                yield str(row[0]), _fingerprint(row)

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
