"""Writes a corpus as a snapshot and a static folder, as other tools read them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from carrel.core.process_name import process_name
from carrel.rooms.papers.building.papers import PublishedPaper, asset_paths
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.corpus.manifest import Manifest, read_manifest, segment_folder
from carrel.stores.corpus.records import read_stored
from carrel.stores.corpus.segments import open_segment, read_asset
from carrel.stores.sqlite.papers import STATIC_NAME
from carrel.stores.sqlite.papers.snapshot_writer import SqliteSnapshotWriter
from carrel.stores.static_folder import PaperAssets, PaperStaticFolder, write_whole

_BATCH_SIZE = 200


def export_snapshot(
    corpus: Path,
    target: Path,
    *,
    has_edges: bool = True,
    report: Callable[[int, int], None] | None = None,
) -> int:
    """Write the corpus into the folder `target` and return how many papers that were.

    Raises SnapshotUnavailableError where there is no corpus of our own. A snapshot that is there is
    replaced when the new one is complete.
    """
    manifest = read_manifest(corpus)
    if manifest is None:
        raise SnapshotUnavailableError("there is no corpus of segments to export")
    static = target / STATIC_NAME
    workshop = target / f".export-{process_name()}"
    writer = SqliteSnapshotWriter(
        target, workshop, PaperAssets(static).read_text, has_edges=has_edges
    )
    done = 0
    try:
        with PaperStaticFolder(static) as folder, writer.draft(from_current=False) as draft:
            papers = _papers(corpus, manifest, static)
            while batch := list(islice(papers, _BATCH_SIZE)):
                folder.write(batch)
                draft.add(batch)
                done += len(batch)
                if report is not None:
                    report(done, manifest.papers)
            folder.flush()
            draft.finish(manifest.build_id, manifest.built_at)
        writer.publish()
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return done


def _papers(corpus: Path, manifest: Manifest, static: Path) -> Iterator[PublishedPaper]:
    """Every paper, its texts and files written before it is given."""
    for entry in manifest.segments:
        folder, dead = segment_folder(corpus, entry.name), frozenset(entry.deleted)
        with closing(open_segment(folder)) as connection:
            for row, body in connection.execute("SELECT row, record FROM paper ORDER BY row"):
                if row in dead:
                    continue
                paper = read_stored(body).published
                for name in asset_paths(paper.record):
                    content = read_asset(folder, connection, name)
                    if content is not None and not (static / name).exists():
                        write_whole(static / name, content)
                yield paper
