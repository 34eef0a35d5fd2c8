"""Vectors of the passages of a snapshot, kept beside its index, and search by words and meaning."""

from __future__ import annotations

import logging
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from carrel.core.errors import describe_error
from carrel.libraries.query.papers import PaperQuery
from carrel.libraries.text.passages import cut_passages
from carrel.libraries.text.snippets import Stem
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.file_lock import hold_lock
from carrel.stores.search.snapshot_index import (
    SnapshotRanking,
    full_text,
    list_papers,
    open_paper_index,
)
from carrel.stores.sqlite.papers.index_manifest import index_folder, read_manifest, write_manifest
from carrel.stores.sqlite.papers.rows import ListedPaper
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.stores.vectors.passages import (
    Embedder,
    PassageMap,
    PassageText,
    PassageVectors,
    ReportPapers,
    embed_passages,
    map_passages,
)
from carrel.stores.vectors.pool import VectorPool, open_records
from carrel.stores.vectors.ranking import SemanticPapers

log = logging.getLogger("carrel.cache")

# The number of the vector of title and abstract, which is no passage of the text.
WHOLE_PAPER = -1
_TEXT_CHARACTERS = 4_000
_REPORT_EVERY = 32


def embed_papers(snapshot: Path, embedder: Embedder, *, report: ReportPapers | None = None) -> int:
    """Makes vectors for passages that have none and returns how many; needs the word index.

    Raises LockHeldError where another process makes them already.
    """
    source = PaperSnapshot(snapshot)
    try:
        generation = source.current()
        manifest = read_manifest(source.path)
        if manifest is None or manifest.snapshot_build_id != generation.build_id:
            raise SnapshotUnavailableError("its fast index is missing or older than the snapshot")
        home = index_folder(source.path)
        file = vector_file(home, embedder.name)
        with hold_lock(home / "vectors.lock"), generation.connection() as connection:
            pool = VectorPool(file, embedder.dimensions)
            total = int(connection.execute("SELECT count(*) FROM paper_fts").fetchone()[0])
            with pool:
                found, made = embed_all(_passages(connection), pool, embedder, total, report)
        name = f"rows-{generation.build_id[:12] or 'none'}-{embedder.name}.npz"
        map_passages(found, open_records(file, embedder.dimensions)).save(home / name)
        write_manifest(source.path, replace(manifest, vectors=embedder.name, vector_rows=name))
        for old in (*home.glob("rows-*.np[yz]"), *home.glob("vectors-*.keys")):
            if old.name != name:
                old.unlink(missing_ok=True)
        return made
    finally:
        source.close()


def embed_all(
    passages: Iterator[PassageText],
    pool: VectorPool,
    embedder: Embedder,
    total: int,
    report: ReportPapers | None,
) -> tuple[list[tuple[int, int, int]], int]:
    """Row, number and record of every passage, and how many vectors were made now."""
    found: list[tuple[int, int, int]] = []
    made = papers = 0
    last: int | None = None
    for passage, place, is_new in embed_passages(passages, pool, embedder):
        found.append((passage.row, passage.number, place))
        made += is_new
        if passage.row != last:
            last = passage.row
            papers += 1
            if report is not None and papers % _REPORT_EVERY == 0:
                report(papers, total)
    if report is not None:
        report(total, total)
    return found, made


def vector_file(home: Path, name: str) -> Path:
    return home / f"vectors-{name}.i8"


def passage_text(title: str, text: str) -> str:
    """What of a passage is embedded: the title says what it is about."""
    return f"{title}. {text}"[:_TEXT_CHARACTERS]


def _passages(connection: sqlite3.Connection) -> Iterator[PassageText]:
    texts = connection.execute(
        "SELECT rowid, title, summary, source, translated FROM paper_fts ORDER BY rowid"
    )
    with closing(texts):
        for row, title, summary, source, translated in texts:
            yield PassageText(row, WHOLE_PAPER, passage_text(title, summary))
            body = full_text(source, translated)
            for passage in cut_passages(body) if body.strip() else ():
                text = passage_text(title, body[passage.start : passage.end])
                yield PassageText(row, passage.start, text)


def open_semantic_index(
    snapshot: Path, build_id: str, embedder: Callable[[], Embedder]
) -> SemanticRanking | SnapshotRanking | None:
    """The index beside a snapshot, with vectors where they were made for this snapshot."""
    words = open_paper_index(snapshot, build_id)
    manifest = read_manifest(snapshot)
    if words is None or manifest is None or not manifest.vectors:
        return words
    home = index_folder(snapshot)
    model = embedder()
    if model.name != manifest.vectors:
        return words
    try:
        records = open_records(vector_file(home, model.name), model.dimensions)
        vectors = PassageVectors(records, PassageMap.load(home / manifest.vector_rows))
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        # Words alone answer until `carrel papers index --meaning` has made the vectors again.
        log.warning(
            "paper vectors are damaged",
            extra={"file": manifest.vector_rows, "cause": describe_error(error)},
        )
        with suppress(OSError):
            write_manifest(snapshot, replace(manifest, vectors="", vector_rows=""))
        return words
    return SemanticRanking(words, vectors, model)


class SemanticRanking:
    """Ranks the papers of a snapshot by words and meaning."""

    name = "fast index of words, and vectors of meaning"

    def __init__(self, words: SnapshotRanking, vectors: PassageVectors, embedder: Embedder) -> None:
        self._papers = SemanticPapers(words.papers, vectors, embedder)
        self._words = words
        self.stem: Stem | None = words.stem

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[ListedPaper]:
        return list_papers(connection, self._papers.search(query, first, count))

    def total(self, connection: sqlite3.Connection, query: PaperQuery) -> int | None:
        """The papers that have the words; None where meaning alone may find more."""
        if self._papers.finds_more_than_words(query):
            return None
        return self._words.total(connection, query)
