"""Writes a corpus as a snapshot and a static folder, as other tools read them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from carrel.core.errors import ConflictError
from carrel.core.process_name import process_name
from carrel.libraries.bibliography import ExportFormat, write_bibliography
from carrel.rooms.papers.bibliography import cited_item, is_entry_outdated
from carrel.rooms.papers.building.paper_records import BibtexEntry
from carrel.rooms.papers.building.papers import PublishedPaper, asset_paths
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.rooms.papers.ports import PaperToCite
from carrel.stores.corpus import MANIFEST_NAME
from carrel.stores.corpus.assets import read_asset
from carrel.stores.corpus.folder import MEND_SEGMENT, CorpusFolder, CorpusSession
from carrel.stores.corpus.manifest import has_manifest
from carrel.stores.corpus.papers import papers_of_rows, rows_by_arrival, shown_paper
from carrel.stores.corpus.records import StoredPaper
from carrel.stores.sqlite.papers import SNAPSHOT_NAME, STATIC_NAME, WORKSHOP_NAME
from carrel.stores.sqlite.papers.snapshot_writer import SqliteSnapshotWriter
from carrel.stores.static_folder import PaperAssets, PaperStaticFolder, write_whole

_BATCH_SIZE = 200
# Fields of a record that a snapshot has no column for.
_ONLY_IN_ENTRIES = (
    "volume", "issue", "pages", "publisher", "editors", "pmid", "pmcid", "isbn", "issn", "url",
)  # fmt: skip
_ENTRY_HEAD = re.compile(r"@(\w+)\{([^,]*),")
# In a folder that exports write, so that nobody else's snapshot is ever replaced.
_MARK_NAME = ".carrel-export"


def export_snapshot(
    corpus: Path,
    target: Path,
    *,
    has_edges: bool = True,
    report: Callable[[int, int], None] | None = None,
) -> int:
    """Write the corpus into the folder `target` and return how many papers that were.

    Raises SnapshotUnavailableError where there is no corpus of our own, ConflictError where the
    target holds a corpus or somebody's snapshot. An earlier export is replaced when this one is
    complete.
    """
    if not has_manifest(corpus):
        raise SnapshotUnavailableError("there is no corpus of segments to export")
    _take_folder(target)
    folder = CorpusFolder(corpus)
    try:
        # Held open from the start, so that a build that runs meanwhile does not matter.
        with folder.current().session() as session:
            return _export(session, target, has_edges, report or (lambda done, total: None))
    finally:
        folder.close()


def _take_folder(target: Path) -> None:
    """Mark the folder as one of exports; ConflictError where it holds anything else of papers."""
    mark = target / _MARK_NAME
    taken = (MANIFEST_NAME, WORKSHOP_NAME, *(() if mark.exists() else (SNAPSHOT_NAME, STATIC_NAME)))
    found = next((name for name in taken if (target / name).exists()), None)
    if found is not None:
        raise ConflictError(
            f"{target} holds a {found} that no export has written.",
            next_step="Name another folder; nothing was written.",
        )
    target.mkdir(parents=True, exist_ok=True)
    mark.touch()


def _export(
    session: CorpusSession, target: Path, has_edges: bool, report: Callable[[int, int], None]
) -> int:
    version, static = session.version, target / STATIC_NAME
    workshop = target / f".export-{process_name()}"
    writer = SqliteSnapshotWriter(
        target, workshop, PaperAssets(static).read_text, has_edges=has_edges
    )
    done, written, ids = 0, set[str](), set[str]()
    try:
        with PaperStaticFolder(static) as files, writer.draft(from_current=False) as draft:
            papers = _papers(session)
            while batch := list(islice(papers, _BATCH_SIZE)):
                for paper in batch:
                    ids.add(paper.paper_id)
                    written |= set(_write_assets(session, paper, static))
                files.write(batch)
                draft.add(batch)
                done += len(batch)
                report(done, version.papers)
            files.flush()
            draft.finish(version.build_id, version.manifest.built_at)
        writer.publish()
        with PaperStaticFolder(static) as files:
            files.sweep(frozenset(ids), frozenset(written))
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return done


def _papers(session: CorpusSession) -> Iterator[PublishedPaper]:
    """Every paper in the order of arrival, numbered from 1, as tables of a snapshot count them."""
    rows = rows_by_arrival(session)
    for first in range(0, len(rows), _BATCH_SIZE):
        found = papers_of_rows(session, rows[first : first + _BATCH_SIZE])
        for number, each in enumerate(found, start=first + 1):
            record = replace(each.paper.record, bibtex=_entry_of(each.paper))
            yield replace(each.paper.published_paper, paper_index=number, record=record)


def _entry_of(paper: StoredPaper) -> BibtexEntry | None:
    """The BibTeX entry: made where there is none, for what no other table of a snapshot holds."""
    known = paper.record.bibtex
    to_cite = PaperToCite(shown_paper(paper).metadata, known.raw if known else None)
    has_more = any(getattr(paper.record, name) for name in _ONLY_IN_ENTRIES)
    if not is_entry_outdated(to_cite) if known else not has_more:
        return known
    raw = write_bibliography([cited_item(to_cite)], ExportFormat.BIBTEX).strip()
    head = _ENTRY_HEAD.match(raw)
    return BibtexEntry(raw, head.group(2), head.group(1)) if head else known


def _write_assets(session: CorpusSession, paper: PublishedPaper, static: Path) -> Iterator[str]:
    """Write the texts and files of a paper that are not there yet; returns their names."""
    for name in asset_paths(paper.record):
        if not (static / name).exists():
            content = read_asset(session, name)
            if content is None:
                raise SnapshotUnavailableError(f"{name} is missing", next_step=MEND_SEGMENT)
            write_whole(static / name, content)
        yield name
