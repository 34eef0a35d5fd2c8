"""The folder of a corpus that is built here: where its stores lie, and all of them opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.building.ports import BuildStores
from carrel.stores.sqlite.papers.build_state import BuildLockFile, SqlitePaperBuildState
from carrel.stores.sqlite.papers.snapshot_writer import SqliteSnapshotWriter
from carrel.stores.static_folder import (
    INBOX_NAME,
    STATIC_NAME,
    SUMMARIES_NAME,
    PaperAssets,
    PaperStaticFolder,
    SummaryFiles,
)

WORKSHOP_NAME = ".carrel-build"


@contextmanager
def open_build_stores(into: Path, options: BuildOptions) -> Iterator[BuildStores]:
    """The stores of the corpus in `into`.

    Raises ForeignSnapshotError where the folder holds a snapshot that was built elsewhere.
    """
    workshop, static = into / WORKSHOP_NAME, into / STATIC_NAME
    with (
        SqlitePaperBuildState(workshop / "state.db") as state,
        PaperStaticFolder(static) as static_folder,
    ):
        snapshots = SqliteSnapshotWriter(
            into,
            workshop,
            PaperAssets(static).read_text,
            has_edges=options.has_edges,
            before_swap=options.before_swap,
        )
        snapshots.refuse_foreign(state.has_published())
        yield BuildStores(
            into / INBOX_NAME,
            state,
            snapshots,
            static_folder,
            SummaryFiles(into / SUMMARIES_NAME),
            BuildLockFile(workshop / "lock.db"),
        )
