"""Puts together what builds, extends and summarises the corpus of one folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from carrel.core.clock import SystemClock
from carrel.core.progress import NoProgress, Progress, run_with_progress
from carrel.demo import PAPERS_FOLDER
from carrel.rooms.papers.building.models import BuildReport
from carrel.rooms.papers.building.service import PaperBuilder
from carrel.rooms.papers.building.summarising import Summariser, SummaryTally
from carrel.rooms.papers.errors import PaperNotAddedError
from carrel.rooms.papers.models import PaperAdded
from carrel.services.language_models.summaries import SummaryWriter
from carrel.services.paper_sources.sources import DEFAULT_SIZE_LIMIT_BYTES, PaperSourceFiles
from carrel.services.sentence_vectors import load_model
from carrel.settings import Settings
from carrel.stores.sqlite.papers.build_state import (
    BuildLockFile,
    SqlitePaperBuildState,
    wait_for_other_additions,
)
from carrel.stores.sqlite.papers.documents import SqlitePapersToRead
from carrel.stores.sqlite.papers.snapshot_writer import (
    SNAPSHOT_NAME,
    BeforeSwap,
    SqliteSnapshotWriter,
)
from carrel.stores.static_folder import (
    INBOX_NAME,
    STATIC_NAME,
    SUMMARIES_NAME,
    PaperAssets,
    PaperStaticFolder,
    SummaryFiles,
)
from carrel.stores.tantivy.papers_build import update_paper_index
from carrel.wiring.audit import record_command

AfterSwap = Callable[[Path], object]


@contextmanager
def paper_builder(
    into: Path,
    *,
    workers: int | None = None,
    size_limit_bytes: int = DEFAULT_SIZE_LIMIT_BYTES,
    has_edges: bool | None = None,
    before_swap: BeforeSwap | None = None,
) -> Iterator[PaperBuilder]:
    """A builder for the corpus in `into`; `before_swap` sees the draft before it is published.

    Raises ForeignSnapshotError where the folder holds a snapshot that was built elsewhere.
    """
    workshop, static = into / ".carrel-build", into / STATIC_NAME
    with (
        SqlitePaperBuildState(workshop / "state.db") as state,
        PaperStaticFolder(static) as static_folder,
    ):
        snapshots = SqliteSnapshotWriter(
            into,
            workshop,
            PaperAssets(static).read_text,
            has_edges=has_edges,
            before_swap=before_swap,
        )
        snapshots.refuse_foreign(state.has_published())
        yield PaperBuilder(
            sources=PaperSourceFiles(
                partial(PaperAssets, static), size_limit_bytes=size_limit_bytes, workers=workers
            ),
            state=state,
            snapshots=snapshots,
            static=static_folder,
            summaries=SummaryFiles(into / SUMMARIES_NAME),
            lock=BuildLockFile(workshop / "lock.db"),
            clock=SystemClock(),
        )


def build_papers(
    sources: Sequence[Path],
    into: Path,
    *,
    progress: Progress | None = None,
    workers: int | None = None,
    size_limit_bytes: int = DEFAULT_SIZE_LIMIT_BYTES,
    has_edges: bool = True,
    only: bool = False,
    before_swap: BeforeSwap | None = None,
    after_swap: AfterSwap | None = None,
) -> BuildReport:
    """Updates the corpus in `into`; `after_swap` gets the snapshot, whether it changed or not."""
    inbox = [folder for folder in [into / INBOX_NAME] if folder.is_dir()]
    with paper_builder(
        into,
        workers=workers,
        size_limit_bytes=size_limit_bytes,
        has_edges=has_edges,
        before_swap=before_swap,
    ) as builder:
        report = builder.build([*sources, *inbox], progress or NoProgress(), only=only)
    if after_swap is not None:
        after_swap(into / SNAPSHOT_NAME)
    return report


def add_paper_file(into: Path, file: Path) -> PaperAdded:
    """Adds a file of the inbox to the corpus and its index, after whoever adds one already."""
    with wait_for_other_additions(into / ".carrel-build"):
        with paper_builder(into, workers=1) as builder:
            try:
                added = builder.add(into / INBOX_NAME, file, NoProgress())
            except PaperNotAddedError:
                # The caller may have stopped waiting and removes nothing then.
                file.unlink(missing_ok=True)
                raise
        index_papers(into / SNAPSHOT_NAME)
    return added


def summarise_papers(
    into: Path,
    *,
    template: str,
    base_url: str,
    model: str,
    api_key: str | None,
    limit: int | None,
    parallel: int,
    max_characters: int,
    progress: Progress,
) -> SummaryTally:
    """Fills `template` for the papers that lack it, and publishes them even after an early end."""

    async def run() -> SummaryTally:
        async with SummaryWriter(base_url, model, api_key) as writer:
            summaries = SummaryFiles(into / SUMMARIES_NAME)
            summariser = Summariser(
                papers, writer, summaries, SystemClock(), max_characters=max_characters
            )
            return await summariser.run(template, limit, parallel, progress)

    papers = SqlitePapersToRead(into)
    try:
        return asyncio.run(run())
    finally:
        with paper_builder(into) as builder:
            builder.refresh(progress)


def index_papers(snapshot: Path, progress: Progress | None = None) -> None:
    """Brings the word index beside a snapshot up to date."""
    run_with_progress(progress, "indexing", "papers", partial(update_paper_index, snapshot))


def embed_papers(snapshot: Path, progress: Progress | None = None) -> None:
    """Sentence vectors for every paper that has none; raises where `semantic` is not installed."""
    model = load_model()
    from carrel.stores.vectors.papers import embed_papers

    run_with_progress(
        progress,
        "embedding",
        "papers",
        lambda report: embed_papers(snapshot, model, report=report),
    )


def build_demo(into: Path) -> BuildReport:
    """The demonstration corpus, built on first use and checked after that."""
    return build_papers([PAPERS_FOLDER], into, workers=1, after_swap=index_papers)


def with_demo(settings: Settings) -> Settings:
    """The settings with the demonstration corpus open, unless the operator has named a corpus."""
    if settings.papers.snapshot is not None:
        return settings
    folder = settings.home / "demo"
    with record_command(settings, "papers:build", f"papers:{folder}", {"sources": ["demo"]}):
        build_demo(folder)
    papers = settings.papers.model_copy(update={"snapshot": folder / SNAPSHOT_NAME})
    return settings.model_copy(update={"papers": papers})
