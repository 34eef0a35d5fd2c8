"""The index beside a snapshot: made from it in one step, and the ranking of its papers."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from pathlib import Path

from carrel.core.errors import CarrelError, describe_error
from carrel.libraries.query.papers import PaperQuery
from carrel.libraries.text.abbreviations import AbbreviationTable, find_abbreviations
from carrel.libraries.text.passages import LONG, Passage, PassageKind, cut_passages
from carrel.libraries.text.snippets import Stem
from carrel.libraries.text.words import has_cjk, join_cjk
from carrel.stores.file_lock import hold_lock
from carrel.stores.search.compiler import stem
from carrel.stores.search.errors import UnusablePartError
from carrel.stores.search.parts import BUILD_HEAP_BYTES, PartWriter
from carrel.stores.search.ranking import PaperRanking, RankedPaper
from carrel.stores.search.schema import (
    FACETS,
    FULL_WEIGHT,
    REFERENCES_WEIGHT,
    IndexedDocument,
)
from carrel.stores.search.views import open_part
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.index_manifest import (
    FOLDING,
    FORMAT,
    IndexManifest,
    index_folder,
    manifest_file,
    read_manifest,
    write_manifest,
)
from carrel.stores.sqlite.papers.rows import ListedPaper
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, SnapshotVersion

log = logging.getLogger("carrel.cache")

ReportPapers = Callable[[int, int], None]

_REPORT_EVERY = 500
_YEAR = re.compile(r"\d{4}")
_PAPERS = "papers"
_PASSAGES = "passages"
_ABBREVIATIONS = "abbreviations.json"
# Definitions are read from so much of a text; abbreviations are defined where they are first used.
DEFINING_CHARACTERS = 20_000


def open_paper_index(snapshot: Path, build_id: str) -> SnapshotRanking | None:
    """The index beside a snapshot, if it was made from just this snapshot."""
    manifest = read_manifest(snapshot)
    if manifest is None or manifest.snapshot_build_id != build_id:
        return None
    folder = index_folder(snapshot) / manifest.folder
    try:
        return SnapshotRanking(folder)
    except (OSError, ValueError, UnusablePartError) as error:
        # Without its manifest it counts as missing, so that the next build or `carrel papers index`
        # makes it again.
        log.warning(
            "paper index is damaged", extra={"file": folder.name, "cause": describe_error(error)}
        )
        with suppress(OSError):
            manifest_file(snapshot).unlink(missing_ok=True)
        return None


def renew_older_index(snapshot: Path) -> SpawnProcess | None:
    """Make an index that an earlier version left again, in a process of its own.

    The snapshot's own tables answer until it is there. None where there is nothing to renew.
    """
    before = read_manifest(snapshot, any_format=True)
    if before is None or before.format == FORMAT or snapshot in _renewed:
        return None
    _renewed.add(snapshot)
    # Ends with the server; what it left half made is removed by the next.
    process = get_context("spawn").Process(target=_renew_alone, args=(snapshot,), daemon=True)
    process.start()
    return process


_renewed: set[Path] = set()


def _renew_alone(snapshot: Path) -> None:
    """Renew the index unless another process is doing so."""
    try:
        with hold_lock(index_folder(snapshot) / "lock"):
            update_paper_index(snapshot)
    except (OSError, UnusablePartError, CarrelError) as error:
        log.warning("paper index was not renewed", extra={"cause": describe_error(error)})


class SnapshotRanking:
    """Ranks the papers of a snapshot, whose rows are those of its full-text table."""

    name = "fast index of words"

    def __init__(self, folder: Path) -> None:
        definitions = json.loads((folder / _ABBREVIATIONS).read_text(encoding="utf-8"))
        self.papers = PaperRanking(
            open_part(folder / _PAPERS),
            open_part(folder / _PASSAGES),
            abbreviations=AbbreviationTable(definitions),
        )
        self.stem: Stem = stem

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[ListedPaper]:
        return list_papers(connection, self.papers.search(query, first, count))

    def total(self, connection: sqlite3.Connection, query: PaperQuery) -> int | None:
        found = self.papers.count(query)
        return found.count if found.is_exact else None

    def find_named(self, connection: sqlite3.Connection, query: PaperQuery) -> list[ListedPaper]:
        """The papers whose identifier, title or beginning of a title was typed."""
        return list_papers(connection, self.papers.find_named(query))

    def scored_papers(self, query: PaperQuery, count: int) -> list[RankedPaper]:
        """The best papers by words and filters alone."""
        return self.papers.rank(query, count)


def list_papers(connection: sqlite3.Connection, ranked: Sequence[RankedPaper]) -> list[ListedPaper]:
    """The ranked papers in their order, each with the passage by which it was found."""
    passages = {paper.row: paper.passage for paper in ranked if paper.passage is not None}
    return [
        paper._replace(passage=_passage_text(connection, paper, passages[paper.row]))
        if paper.row in passages
        else paper
        for paper in rows.papers_of_rows(connection, [paper.row for paper in ranked])
    ]


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
            write_manifest(source.path, _with_vectors(source.path, manifest))
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


def _with_vectors(snapshot: Path, manifest: IndexManifest) -> IndexManifest:
    """The manifest with the vectors that were already made for the same snapshot."""
    before = read_manifest(snapshot, any_format=True)
    if before is None or before.snapshot_build_id != manifest.snapshot_build_id:
        return manifest
    return replace(manifest, vectors=before.vectors, vector_rows=before.vector_rows)


def _write(
    generation: SnapshotVersion, folder: Path, report: ReportPapers | None, threads: int
) -> int:
    done = 0
    abbreviations: Counter[tuple[str, str]] = Counter()
    with (
        generation.connection() as connection,
        PartWriter(folder / _PAPERS, heap_bytes=BUILD_HEAP_BYTES // 2, threads=threads) as papers,
        PartWriter(folder / _PASSAGES, heap_bytes=BUILD_HEAP_BYTES // 2, threads=threads) as texts,
    ):
        total = int(connection.execute("SELECT count(*) FROM paper").fetchone()[0])
        for paper, body in papers_of_snapshot(connection):
            cut = cut_passages(body) if body.strip() else []
            papers.add(with_body(paper, body, cut))
            for passage in passages_of_text(paper, body, cut):
                texts.add(passage)
            defining = f"{paper.text}\n{body[:DEFINING_CHARACTERS]}"
            abbreviations.update(find_abbreviations(defining))
            done += 1
            if report is not None and done % _REPORT_EVERY == 0:
                report(done, total)
    if report is not None:
        report(done, total)
    found = [(short, long, count) for (short, long), count in sorted(abbreviations.items())]
    (folder / _ABBREVIATIONS).write_text(json.dumps(found), encoding="utf-8")
    return done


def with_body(paper: IndexedDocument, body: str, cut: Sequence[Passage]) -> IndexedDocument:
    """A paper with its full text."""
    passages = [body[each.start : each.end] for each in cut]
    # No passage holds the headings above it.
    headings = dict.fromkeys(title for each in cut for title in each.headings)
    return replace(paper, body=[*passages, *headings])


def passages_of_text(
    paper: IndexedDocument, body: str, cut: Sequence[Passage]
) -> list[IndexedDocument]:
    """The passages of a paper's full text, or its abstract where it has none."""
    if not cut:
        return [_passage(paper, 0, paper.text, "text")]
    return [_passage(paper, each.start, body[each.start : each.end], each.kind) for each in cut]


def papers_of_snapshot(
    connection: sqlite3.Connection, first: int = -1, last: int = sys.maxsize
) -> Iterator[tuple[IndexedDocument, str]]:
    """The papers of these rows as documents with their full texts, rows ascending."""
    found = connection.execute(
        "SELECT paper_fts.rowid, paper.paper_id, paper.title, paper.year, paper.paper_index, "
        "paper_fts.summary, paper_fts.source, paper_fts.translated, paper_fts.metadata "
        "FROM paper_fts JOIN paper ON paper.paper_id = paper_fts.paper_id "
        "WHERE paper_fts.rowid BETWEEN ? AND ? ORDER BY paper_fts.rowid",
        (first, last),
    )
    with closing(found):
        for row, paper_id, title, year, place, summary, source, translated, metadata in found:
            body = full_text(source, translated)
            yield (
                IndexedDocument(
                    row=row,
                    title=title,
                    text="\n".join(_readable(text) for text in (summary, metadata) if text),
                    year=int(year) if _YEAR.fullmatch(year) else 0,
                    place=place,
                    facets={facet: _values(connection, facet, paper_id) for facet in FACETS},
                    keys=_keys(connection, paper_id),
                ),
                body,
            )


def _passage(paper: IndexedDocument, start: int, text: str, kind: PassageKind) -> IndexedDocument:
    """A passage, numbered by where it begins in the full text; the abstract where there is none."""
    is_references = kind == "references"
    return IndexedDocument(
        row=paper.row,
        title="" if is_references else paper.title,
        weight=REFERENCES_WEIGHT if is_references else FULL_WEIGHT,
        title_times=1,
        text=text,
        number=start,
        year=paper.year,
        place=paper.place,
    )


def _passage_text(connection: sqlite3.Connection, paper: ListedPaper, start: int) -> str:
    """The passage that begins here; empty where the paper has no full text."""
    found = connection.execute(
        "SELECT paper_id, source, translated FROM paper_fts WHERE rowid = ?", (paper.row,)
    ).fetchone()
    if found is None or found[0] != paper.paper_id:
        return ""
    return full_text(found[1], found[2])[start : start + LONG]


def full_text(source: str | None, translated: str | None) -> str:
    """The text of a paper as it is indexed and cut into passages."""
    return "\n\n".join(_readable(text) for text in (source, translated) if text)


def _readable(text: str) -> str:
    return text if text.isascii() or not has_cjk(text) else join_cjk(text)


def _keys(connection: sqlite3.Connection, paper_id: str) -> list[str]:
    found = connection.execute(
        "SELECT paper_key FROM paper_key_alias WHERE paper_id = ?", (paper_id,)
    )
    return [paper_id, *(str(row[0]) for row in found)]


def _values(connection: sqlite3.Connection, facet: str, paper_id: str) -> list[str]:
    sql = f"SELECT value FROM {facet} JOIN paper_{facet} USING ({facet}_id) WHERE paper_id = ?"
    return [str(row[0]) for row in connection.execute(sql, (paper_id,))]


def _remove_others(home: Path, kept: str) -> None:
    """Remove old indexes; readers that have one open keep it until they close it."""
    for folder in home.iterdir():
        if folder.is_dir() and folder.name.startswith("text-") and folder.name != kept:
            shutil.rmtree(folder, ignore_errors=True)
