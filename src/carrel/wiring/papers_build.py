"""Puts together what builds, extends and summarises the corpus of one folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from carrel.core.clock import SystemClock
from carrel.core.progress import NoProgress, Progress, run_with_progress
from carrel.demo import PAPERS_FOLDER
from carrel.policy.persistence import HomeNotPersistentError
from carrel.rooms.papers.building.models import BuildOptions, BuildReport
from carrel.rooms.papers.building.service import PaperBuilder
from carrel.rooms.papers.building.summarising import SummarisePapers, Summariser, SummaryTally
from carrel.rooms.papers.local_operations import BuildPapers, CorpusOperations
from carrel.rooms.papers.models import PaperAdded
from carrel.services.language_models.summaries import SummaryWriter
from carrel.services.paper_sources.sources import PaperSourceFiles
from carrel.services.sentence_vectors import load_model
from carrel.settings import Settings
from carrel.stores.sqlite.errors import translate_full_disk
from carrel.stores.sqlite.papers import SNAPSHOT_NAME, STATIC_NAME, SUMMARIES_NAME, WORKSHOP_NAME
from carrel.stores.sqlite.papers.build_state import wait_for_other_additions
from carrel.stores.sqlite.papers.corpus_folder import SqlitePapersToRead, open_build_stores
from carrel.stores.static_folder import PaperAssets, SummaryFiles
from carrel.stores.tantivy.papers_build import update_paper_index
from carrel.wiring.audit import record_command
from carrel.wiring.papers import snapshot_path

_AS_BEFORE = BuildOptions()
_WITH_EDGES = BuildOptions(has_edges=True)


@contextmanager
def paper_builder(into: Path, options: BuildOptions = _AS_BEFORE) -> Iterator[PaperBuilder]:
    """A builder for the corpus in `into`, which must not have been built elsewhere."""
    with (
        translate_full_disk(into / WORKSHOP_NAME),
        open_build_stores(into, options) as stores,
    ):
        sources = PaperSourceFiles(partial(PaperAssets, into / STATIC_NAME), options)
        yield PaperBuilder(sources, stores, SystemClock())


def build_papers(
    sources: Sequence[Path],
    into: Path,
    options: BuildOptions = _WITH_EDGES,
    *,
    progress: Progress | None = None,
    only: bool = False,
    after_swap: Callable[[Path], None] | None = None,
) -> BuildReport:
    """Updates the corpus in `into`; `after_swap` gets the snapshot, whether it changed or not."""
    with paper_builder(into, options) as builder:
        report = builder.build(sources, progress or NoProgress(), only=only)
    if after_swap is not None:
        after_swap(into / SNAPSHOT_NAME)
    return report


def add_paper_file(into: Path, file: Path) -> PaperAdded:
    """Adds a file of the inbox to the corpus and its index, after whoever adds one already."""
    with wait_for_other_additions(into / WORKSHOP_NAME):
        with paper_builder(into, BuildOptions(workers=1)) as builder:
            added = builder.add(file, NoProgress())
        index_papers(into / SNAPSHOT_NAME)
    return added


def index_papers(snapshot: Path, progress: Progress | None = None) -> None:
    """Brings the word index beside a snapshot up to date."""
    run_with_progress(progress, "indexing", "papers", partial(update_paper_index, snapshot))


def embed_papers(snapshot: Path, progress: Progress | None = None) -> None:
    """Sentence vectors for every paper that has none; raises where `semantic` is not installed."""
    model = load_model()
    from carrel.stores.vectors.papers import embed_papers

    work = partial(embed_papers, snapshot, model)
    run_with_progress(progress, "embedding", "papers", lambda report: work(report=report))


class PaperWorkshop:
    """Builds, indexes and summarises for `carrel papers`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.snapshot = snapshot_path(settings)

    def build(self, request: BuildPapers, progress: Progress) -> BuildReport:
        settings, into = self._settings, Path(request.into)
        if not settings.keeps_home and into.resolve().is_relative_to(settings.home.resolve()):
            has_database = bool(settings.database.url)
            raise HomeNotPersistentError("Built papers are", has_database=has_database)
        limit = request.max_megabytes * 1024 * 1024
        return build_papers(
            [Path(source) for source in request.sources],
            into,
            BuildOptions(request.workers, limit, has_edges=not request.without_edges),
            progress=progress,
            only=request.only,
            after_swap=lambda built: index_papers(built, progress),
        )

    def index(self, progress: Progress) -> None:
        index_papers(self.snapshot, progress)

    def embed(self, progress: Progress) -> None:
        embed_papers(self.snapshot, progress)

    async def summarise(self, request: SummarisePapers, progress: Progress) -> SummaryTally:
        """Publishes what was written even after an early end."""
        into, key = Path(request.into), os.environ.get("CARREL_MODEL_API_KEY")
        writer = SummaryWriter(request.model_url, request.model, key)
        summaries = SummaryFiles(into / SUMMARIES_NAME)
        summariser = Summariser(SqlitePapersToRead(into), writer, summaries, SystemClock(), request)
        try:
            async with writer:
                return await summariser.run(progress)
        finally:
            with paper_builder(into) as builder:
                builder.refresh(progress)


def local_operations(settings: Settings) -> CorpusOperations:
    return CorpusOperations(PaperWorkshop(settings))


def build_demo(into: Path) -> BuildReport:
    """The demonstration corpus, built on first use and checked after that."""
    return build_papers([PAPERS_FOLDER], into, BuildOptions(workers=1), after_swap=index_papers)


def with_demo(settings: Settings) -> Settings:
    """The settings with the demonstration corpus open, unless the operator has named a corpus."""
    if settings.papers.snapshot is not None:
        return settings
    folder = settings.home / "demo"
    with record_command(settings, "papers:build", f"papers:{folder}", {"sources": ["demo"]}):
        build_demo(folder)
    papers = settings.papers.model_copy(update={"snapshot": folder / SNAPSHOT_NAME})
    return settings.model_copy(update={"papers": papers})
