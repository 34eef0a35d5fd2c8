"""What a cluster is told of a paper: what its document shows, and the words that search_papers
ranks by.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.folding import fold_text, text_key
from carrel.libraries.text.words import split_words
from carrel.rooms.knowledge.documents import Document, DocumentChange, FieldKind, Mark, Put, Reset
from carrel.stores.sqlite.papers.documents import PAPER_FIELDS, paper_page
from carrel.stores.sqlite.papers.snapshot import Generation, Snapshot

FACETS: tuple[FacetCategory, ...] = ("author", "venue", "keyword", "institution", "tag")
TEXTS = ("title", "summary", "metadata", "full")
_MAX_WORD_CHARACTERS = 80
# Larger than the place of any paper in its snapshot, and small enough for a year before it in a
# double.
_LATEST = 1 << 32

RANKED_FIELDS: Mapping[str, FieldKind] = {
    **PAPER_FIELDS,
    **{f"words_{name}": "words" for name in (*TEXTS, *FACETS)},
    "title_key": "keyword",
    "newness": "number",
}


class RankedPapers:
    """The index `papers`. Its mark is the build id of the snapshot, as for every index of it, and
    on the way how far it is.
    """

    index = "papers"
    fields = RANKED_FIELDS
    is_public = True

    def __init__(self, path: Path, *, mark_every: int = 1000) -> None:
        self._snapshot = Snapshot(path)
        self._mark_every = mark_every

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        generation = await asyncio.to_thread(self._snapshot.current)
        build_id = generation.build_id
        if since == build_id:
            return
        begun, _, place = (since or "").rpartition("@")
        last = int(place) if begun == build_id else -1
        if begun != build_id:
            yield Reset()
        told = 0
        with generation.connection() as connection:
            while page := await asyncio.to_thread(_page, generation, connection, last):
                for number, document in page:
                    yield Put(document)
                    told += 1
                    if told % self._mark_every == 0:
                        yield Mark(f"{build_id}@{number}")
                last = page[-1][0]
        yield Mark(build_id)

    async def close(self) -> None:
        await asyncio.to_thread(self._snapshot.close)


def spaced_words(text: str) -> str:
    """Every word, folded, each CJK character one of them, with spaces between; so that both sides
    part words alike.
    """
    return " ".join(word[:_MAX_WORD_CHARACTERS] for word in split_words(fold_text(text)))


def title_mark(title_key: str) -> str:
    """A whole title in few characters, as long ones are not indexed exactly."""
    return hashlib.sha256(title_key.encode()).hexdigest()[:32]


def _page(
    generation: Generation, connection: sqlite3.Connection, after: int
) -> list[tuple[int, Document]]:
    return [
        (
            number,
            Document(
                document.id,
                {**document.fields, **_ranked_by(connection, document.id)},
                document.readers,
            ),
        )
        for number, document in paper_page(generation, connection, after)
    ]


def _ranked_by(connection: sqlite3.Connection, paper_id: str) -> dict[str, object]:
    title, year, place, number = connection.execute(
        "SELECT title, year, paper_index, rowid FROM paper WHERE paper_id = ?", (paper_id,)
    ).fetchone()
    summary, source, translated, metadata = _indexed(connection, paper_id, number)
    known_year = int(year) if str(year).isdecimal() else 0
    fields: dict[str, object] = {
        "words_title": spaced_words(str(title)),
        "words_summary": spaced_words(summary),
        "words_metadata": spaced_words(metadata),
        "words_full": [spaced_words(text) for text in (source, translated) if text],
        "title_key": title_mark(text_key(str(title))),
        "newness": known_year * _LATEST + max(0, _LATEST - 1 - int(place or 0)),
    }
    for facet in FACETS:
        sql = f"SELECT value FROM {facet} JOIN paper_{facet} USING ({facet}_id) WHERE paper_id = ?"
        fields[f"words_{facet}"] = [
            spaced_words(str(value)) for (value,) in connection.execute(sql, (paper_id,))
        ]
    return fields


def _indexed(connection: sqlite3.Connection, paper_id: str, number: int) -> tuple[str, ...]:
    """The texts of the full-text table, which usually counts as the table of papers does."""
    columns = "SELECT summary, source, translated, metadata FROM paper_fts"
    row = connection.execute(
        f"{columns} WHERE rowid = ? AND paper_id = ?", (number, paper_id)
    ).fetchone()
    if row is None:
        row = connection.execute(f"{columns} WHERE paper_id = ?", (paper_id,)).fetchone() or (
            "",
            "",
            "",
            "",
        )
    return tuple(str(text or "") for text in row)
