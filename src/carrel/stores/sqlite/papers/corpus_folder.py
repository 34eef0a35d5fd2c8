"""The folder of a corpus that is built here: where its stores lie, and all of them opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import orjson

from carrel.core.errors import NotConfiguredError
from carrel.rooms.papers.building.models import BuildOptions, PaperToRead
from carrel.rooms.papers.building.ports import BuildStores
from carrel.stores.sqlite.connection import connect
from carrel.stores.sqlite.papers import (
    INBOX_NAME,
    SNAPSHOT_NAME,
    STATIC_NAME,
    SUMMARIES_NAME,
    WORKSHOP_NAME,
)
from carrel.stores.sqlite.papers.build_state import BuildLockFile, SqlitePaperBuildState
from carrel.stores.sqlite.papers.snapshot_writer import SqliteSnapshotWriter
from carrel.stores.static_folder import PaperAssets, PaperStaticFolder, SummaryFiles


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


class SqlitePapersToRead:
    """Papers listed at the start, so that a replaced snapshot does not matter."""

    def __init__(self, folder: Path) -> None:
        self._static = folder / STATIC_NAME
        path = folder / SNAPSHOT_NAME
        if not path.is_file():
            raise NotConfiguredError(
                "There is no corpus in that folder.",
                next_step="Build one with carrel papers build.",
            )
        with closing(connect(path, "read")) as connection:
            select = (
                "SELECT paper_id, title, source_md_content_hash FROM paper ORDER BY paper_index"
            )
            self._rows: list[tuple[str, str, str | None]] = connection.execute(select).fetchall()

    def count(self) -> int:
        return len(self._rows)

    def papers(self) -> Iterator[PaperToRead]:
        for paper_id, title, sha256 in self._rows:
            yield PaperToRead(paper_id, title, self._text(paper_id, sha256))

    def _text(self, paper_id: str, sha256: str | None) -> str:
        if sha256 is not None:
            return (self._static / "md" / f"{sha256}.md").read_text(encoding="utf-8")
        summary = orjson.loads((self._static / "summary" / f"{paper_id}.json").read_bytes())
        return str(summary.get("abstract") or "")
