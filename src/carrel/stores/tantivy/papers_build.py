"""Builds the word index of a snapshot and puts it in place in one step."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import tantivy

from carrel.libraries.text.folding import text_key
from carrel.stores.sqlite.papers.index_manifest import (
    FOLDING,
    FORMAT,
    IndexManifest,
    index_folder,
    read_manifest,
    write_manifest,
)
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, SnapshotVersion
from carrel.stores.tantivy.papers import (
    FACETS,
    TITLE_TIMES,
    common_pairs,
    exact_words,
    ranking_words,
    register,
    schema,
)

ReportPapers = Callable[[int, int], None]

_REPORT_EVERY = 500
_HEAP_BYTES = 256 * 1024 * 1024
_YEAR = re.compile(r"\d{4}")
_LATEST = 1 << 32


def build_paper_index(
    snapshot: Path, *, report: ReportPapers | None = None, threads: int = 1
) -> IndexManifest:
    """Build an index of the snapshot beside it; readers keep the old one until it is ready.

    `report(done, total)` is called now and then. An interrupted run changes nothing.
    """
    source = PaperSnapshot(snapshot)
    try:
        generation = source.current()
        home = index_folder(source.path)
        home.mkdir(exist_ok=True)
        folder = home / f"text-{generation.build_id[:12] or 'none'}-{secrets.token_hex(4)}"
        folder.mkdir()
        try:
            papers = _write(generation, folder, report, threads)
            manifest = IndexManifest(
                FORMAT, generation.build_id, folder.name, papers, folding=FOLDING
            )
            write_manifest(source.path, manifest)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        _remove_others(home, folder.name)
        return manifest
    finally:
        source.close()


def update_paper_index(snapshot: Path, report: ReportPapers | None = None) -> None:
    """Makes the word index of a snapshot where it is missing or old."""
    if not has_fresh_index(snapshot):
        build_paper_index(snapshot, report=report, threads=max(1, os.cpu_count() or 1))


def has_fresh_index(snapshot: Path) -> bool:
    """Whether the index beside a snapshot was made from just this snapshot with today's folding."""
    source = PaperSnapshot(snapshot)
    try:
        manifest = read_manifest(source.path)
        return (
            manifest is not None
            and manifest.folding == FOLDING
            and manifest.snapshot_build_id == source.current().build_id
        )
    finally:
        source.close()


def _write(
    generation: SnapshotVersion, folder: Path, report: ReportPapers | None, threads: int
) -> int:
    index = tantivy.Index(schema(), path=str(folder))
    register(index)
    writer = index.writer(_HEAP_BYTES, threads)
    done = 0
    with generation.connection() as connection:
        total = int(connection.execute("SELECT count(*) FROM paper").fetchone()[0])
        for document in _documents(connection):
            writer.add_document(document)
            done += 1
            if report is not None and done % _REPORT_EVERY == 0:
                report(done, total)
    writer.commit()
    writer.wait_merging_threads()
    if report is not None:
        report(done, total)
    return done


def _documents(connection: sqlite3.Connection) -> Iterator[tantivy.Document]:
    rows = connection.execute(
        "SELECT paper_fts.rowid, paper.rowid, paper.paper_id, paper.title, paper.year, "
        "paper.paper_index, "
        "paper_fts.summary, paper_fts.source, paper_fts.translated, paper_fts.metadata "
        "FROM paper_fts JOIN paper ON paper.paper_id = paper_fts.paper_id ORDER BY paper_fts.rowid"
    )
    with closing(rows):
        for (
            row,
            number,
            paper_id,
            title,
            year,
            place,
            summary,
            source,
            translated,
            metadata,
        ) in rows:
            document = tantivy.Document()
            known_year = int(year) if _YEAR.fullmatch(year) else 0
            document.add_unsigned("row", row)
            document.add_unsigned("paper", number)
            document.add_unsigned("year", known_year)
            document.add_unsigned("newness", known_year * _LATEST + max(0, _LATEST - 1 - place))
            title_words = exact_words(title)
            document.add_text("title_key", text_key(title))
            document.add_text("title", " ".join(title_words))
            _add_text(document, "text", title_words, times=TITLE_TIMES)
            for field, text in (
                ("text", summary),
                ("text", metadata),
                ("full", source),
                ("full", translated),
            ):
                if text:
                    _add_text(document, field, exact_words(text))
            for facet in FACETS:
                for value in _values(connection, facet, paper_id):
                    document.add_text(facet, " ".join(exact_words(value)))
            yield document


def _add_text(document: tantivy.Document, field: str, found: list[str], *, times: int = 1) -> None:
    """Words into the field they rank in, and into those that know where each stands."""
    document.add_text(field, " ".join(ranking_words(found) * times))
    document.add_text("exact", " ".join(found))
    document.add_text("pairs", " ".join(common_pairs(found)))


def _values(connection: sqlite3.Connection, facet: str, paper_id: str) -> list[str]:
    sql = f"SELECT value FROM {facet} JOIN paper_{facet} USING ({facet}_id) WHERE paper_id = ?"
    return [str(row[0]) for row in connection.execute(sql, (paper_id,))]


def _remove_others(home: Path, kept: str) -> None:
    """Remove old indexes; readers that have one open keep it until they close it."""
    for folder in home.iterdir():
        if folder.is_dir() and folder.name.startswith("text-") and folder.name != kept:
            shutil.rmtree(folder, ignore_errors=True)
