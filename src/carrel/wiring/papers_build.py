"""Puts together what builds, extends and summarises the corpus of one folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from carrel.core.caller import LOCAL_USER
from carrel.core.clock import SystemClock
from carrel.core.progress import NoProgress, Progress, run_with_progress
from carrel.demo import PAPERS_FOLDER
from carrel.libraries.works.file_kinds import KINDS_TAKEN
from carrel.rooms.papers.building import corrections
from carrel.rooms.papers.building.build_reports import BuildReport
from carrel.rooms.papers.building.intake import Intake, PaperIntake
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.building.service import LISTED_PAPERS
from carrel.rooms.papers.building.summarising import SummarisePapers, Summariser
from carrel.rooms.papers.correction_models import (
    EditPaper,
    PaperCorrected,
    PaperHistory,
    PaperHistoryOf,
)
from carrel.rooms.papers.errors import (
    DamagedCorpusError,
    DecisionNotFoundError,
    PaperNotAddedError,
    PaperNotFoundError,
    ReadOnlyCorpusError,
)
from carrel.rooms.papers.local_operations import CorpusOperations, CorpusTools
from carrel.rooms.papers.map_models import MapReport
from carrel.rooms.papers.models import AddedPaper, PaperAdded, PaperRemoved
from carrel.services.language_models.summaries import SummaryWriter
from carrel.services.paper_sources.pdf_source import PdfSource
from carrel.services.paper_sources.source_reader import ReadJobs
from carrel.services.paper_sources.sources import PaperSourceFiles
from carrel.services.sentence_vectors import load_model
from carrel.settings import Settings
from carrel.settings.home_rules import refuse_home
from carrel.stores.corpus.compaction import needs_compaction
from carrel.stores.corpus.current import CorpusPlace
from carrel.stores.corpus.manifest import has_manifest
from carrel.stores.corpus.papers_to_read import CorpusPapersToRead
from carrel.stores.search.snapshot_index import update_paper_index
from carrel.stores.sqlite.errors import translate_damage, translate_full_disk
from carrel.stores.sqlite.papers import SNAPSHOT_NAME, SUMMARIES_NAME, WORKSHOP_NAME
from carrel.stores.sqlite.papers.build_locks import wait_for_other_additions
from carrel.stores.sqlite.papers.corpus_folder import open_build_stores, staged_folder
from carrel.stores.sqlite.papers.read_parts import ReadParts
from carrel.stores.static_folder import PaperAssets, SummaryFiles
from carrel.wiring.audit import record_command
from carrel.wiring.imported_notes import find_imported_notes
from carrel.wiring.papers import snapshot_path
from carrel.wiring.papers_load import load_dump
from carrel.wiring.papers_map import draw_map
from carrel.wiring.papers_partitions import parts_folder, read_apart, read_share
from carrel.wiring.papers_published import (
    copy_folder,
    fetch_papers,
    find_copy,
    follow_published,
    prepare_copy,
    publish_papers,
    published_change,
)
from carrel.wiring.pdf_services import ADDRESSES, remember_pdf_services

_USUAL = BuildOptions()
_NO_HISTORY = PaperHistory(
    paper_id=None,
    title=None,
    version=None,
    is_removed=False,
    former_ids=[],
    records=[],
    decisions=[],
    total=0,
)


@contextmanager
def paper_builder(
    into: Path,
    options: BuildOptions = _USUAL,
    read_warm: ReadJobs | None = None,
    *,
    is_reading: bool = False,
) -> Iterator[PaperIntake]:
    """A builder for the corpus in `into`, which must not have been built elsewhere.

    In a copy of a published corpus, what it changes is published before the block is left; with
    `is_reading` nothing is changed.
    """
    with (
        published_change(into, is_reading=is_reading),
        translate_full_disk(into / WORKSHOP_NAME),
        translate_damage(partial(DamagedCorpusError, f"a database in {into}")),
        open_build_stores(into, options) as stores,
    ):
        pdf = PdfSource(ADDRESSES.grobid_url, ADDRESSES.docling_url)
        open_assets = partial(PaperAssets, staged_folder(into))
        parts = parts_folder(into)
        read_parts = ReadParts(parts, staged_folder(into)) if parts.is_dir() else None
        sources = PaperSourceFiles(open_assets, options, read_warm, pdf, read_parts)
        yield PaperIntake(sources, stores, SystemClock())


def build_papers(
    sources: Sequence[Path],
    into: Path,
    options: BuildOptions = _USUAL,
    *,
    progress: Progress | None = None,
    only: bool = False,
) -> BuildReport:
    """Updates the corpus in `into`."""
    with paper_builder(into, options) as builder:
        return builder.build(sources, progress or NoProgress(), only=only)


def add_paper_file(into: Path, file: Path, read_warm: ReadJobs | None = None) -> PaperAdded:
    """Adds a file of the inbox to the corpus, after whoever adds one already."""
    with (
        wait_for_other_additions(into / WORKSHOP_NAME),
        paper_builder(into, BuildOptions(workers=1), read_warm) as builder,
    ):
        return builder.add(file, NoProgress())


def take_path(
    into: Path,
    path: Path,
    within: Sequence[Path] | None,
    progress: Progress,
    read_warm: ReadJobs | None = None,
) -> PaperAdded:
    """Adds one file, or a folder of files, where it lies; PaperNotAddedError if it gives none."""
    options = BuildOptions(workers=1) if path.is_file() else _USUAL
    with (
        wait_for_other_additions(into / WORKSHOP_NAME),
        paper_builder(into, options, read_warm) as builder,
    ):
        taken = builder.take([path], progress, within=within, touched=LISTED_PAPERS)
    if not taken.papers:
        lines = taken.skipped or taken.lines
        nothing = f"No paper was found in it: papers are made of {KINDS_TAKEN}."
        raise PaperNotAddedError(
            lines[0].message if lines else nothing,
            next_step="Correct what is wrong and add it again; nothing was added."
            if lines
            else "Name a file of one of these kinds, or a folder that holds some; nothing was "
            "added.",
            details={"problems": [line.to_facts() for line in lines[:20]]},
        )
    papers = [
        AddedPaper(paper_id=each.paper_id, title=each.title, is_new=each.is_new)
        for each in taken.papers
    ]
    notes = [f"{Path(line.source).name}: {line.message}" for line in taken.lines]
    if len(papers) == 1:
        notes = [line.message for line in taken.lines]
    notes += [note for each in taken.papers for note in each.notes]
    return PaperAdded(
        **papers[0].model_dump(),
        notes=notes[:LISTED_PAPERS],
        papers=papers[:LISTED_PAPERS] if len(papers) > 1 else [],
        count=len(papers),
    )


def take_paper_files(
    into: Path,
    sources: Sequence[Path],
    options: BuildOptions = _USUAL,
    progress: Progress | None = None,
    named: Sequence[Path] | None = None,
    folders: Sequence[Path] = (),
) -> Intake:
    """Adds files and folders where they lie, after whoever adds already."""
    with (
        wait_for_other_additions(into / WORKSHOP_NAME),
        paper_builder(into, options) as builder,
    ):
        return builder.take(sources, progress or NoProgress(), named=named, folders=folders)


def remove_paper(into: Path, paper_id: str, who: str = LOCAL_USER) -> PaperRemoved:
    """Takes a paper out of the corpus, after whoever changes it already."""
    with (
        wait_for_other_additions(into / WORKSHOP_NAME),
        paper_builder(into, BuildOptions(workers=1)) as builder,
    ):
        return builder.remove(paper_id, who)


def correct_paper(into: Path, question: EditPaper, who: str) -> PaperCorrected:
    """Corrects a paper of the corpus, after whoever changes it already."""
    if question.paper_id is None and not _has_papers(into):
        raise DecisionNotFoundError(str(question.number or ""))
    _refuse_foreign(into, question.paper_id)
    with (
        wait_for_other_additions(into / WORKSHOP_NAME),
        paper_builder(into, BuildOptions(workers=1)) as builder,
    ):
        return corrections.correct_paper(builder, question, who)


def tell_history(into: Path, question: PaperHistoryOf) -> PaperHistory:
    """The records and decisions of a paper, or all decisions about the corpus."""
    if question.paper_id is None and not _has_papers(into):
        return _NO_HISTORY
    _refuse_foreign(into, question.paper_id)
    with paper_builder(into, BuildOptions(workers=1), is_reading=True) as builder:
        return corrections.tell_history(builder, question)


def _refuse_foreign(into: Path, paper_id: str | None) -> None:
    """Only a corpus with its build state can be corrected; nothing is made in the folder.

    In a copy of a published corpus that state is fetched with the first correction.
    """
    if not _has_papers(into):
        raise PaperNotFoundError(paper_id or "", is_corpus_empty=True)
    if not has_build_state(into) and find_copy(into) is None:
        raise ReadOnlyCorpusError


def _has_papers(into: Path) -> bool:
    """Whether there is a corpus of any kind, or the state of one that was never finished."""
    return has_build_state(into) or CorpusPlace(into / SNAPSHOT_NAME).exists()


def has_build_state(into: Path) -> bool:
    """Whether the corpus in a folder was built there."""
    return (into / WORKSHOP_NAME / "state.db").exists()


def compact_a_little(into: Path) -> None:
    """One merge of neighbouring segments of a published corpus, where it has too many."""
    if not needs_compaction(into):
        return
    with (
        wait_for_other_additions(into / WORKSHOP_NAME),
        paper_builder(into, BuildOptions(workers=1)) as builder,
    ):
        builder.compact(NoProgress(), most_runs=1)


def index_papers(snapshot: Path, progress: Progress | None = None) -> None:
    """Brings the word index beside a snapshot up to date."""
    run_with_progress(progress, "indexing", "papers", partial(update_paper_index, snapshot))


def embed_papers(snapshot: Path, progress: Progress | None = None) -> None:
    """Vectors for every passage that has none; raises where `semantic` is not installed."""
    model = load_model()
    from carrel.stores.vectors.papers import embed_papers
    from carrel.stores.vectors.segments import embed_corpus

    work = (
        partial(embed_corpus, snapshot.parent, model)
        if has_manifest(snapshot.parent)
        else partial(embed_papers, snapshot, model)
    )
    run_with_progress(progress, "embedding", "papers", lambda report: work(report=report))


def export_papers(corpus: Path, target: Path, has_edges: bool, progress: Progress) -> int:
    """Writes a corpus as a snapshot with its static folder."""
    from carrel.stores.corpus.snapshot_export import export_snapshot

    counts: list[int] = []

    def work(report: Callable[[int, int], None] | None) -> None:
        counts.append(export_snapshot(corpus, target, has_edges=has_edges, report=report))

    run_with_progress(progress, "exporting", "papers", work)
    return counts[0]


def refuse_lost_corpus(settings: Settings, into: Path) -> None:
    """Raises HomeNotPersistentError where what is built into this folder would be lost."""
    if into.absolute() == copy_folder(settings):
        prepare_copy(settings)
        return
    if not settings.keeps_home and into.resolve().is_relative_to(settings.home.resolve()):
        raise refuse_home(settings, "papers")


def local_operations(settings: Settings) -> CorpusOperations:
    """What `carrel papers` does with corpora in folders."""

    @asynccontextmanager
    async def open_summariser(request: SummarisePapers) -> AsyncIterator[Summariser]:
        into, key = Path(request.into), os.environ.get("CARREL_MODEL_API_KEY")
        papers, summaries = CorpusPapersToRead(into), SummaryFiles(into / SUMMARIES_NAME)
        async with SummaryWriter(request.model_url, request.model, key) as writer:
            yield Summariser(papers, writer, summaries, SystemClock(), request)

    def export_newest(corpus: Path, target: Path, has_edges: bool, progress: Progress) -> int:
        follow_published(settings, corpus)
        return export_papers(corpus, target, has_edges, progress)

    def draw_newest_map(snapshot: Path, again: bool, progress: Progress) -> MapReport:
        follow_published(settings, snapshot.parent)
        return draw_map(snapshot, again, progress)

    remember_pdf_services(settings)
    tools = CorpusTools(
        partial(refuse_lost_corpus, settings),
        paper_builder,
        index_papers,
        embed_papers,
        has_manifest,
        export_newest,
        take_paper_files,
        partial(find_imported_notes, settings),
        load_dump,
        draw_newest_map,
        partial(publish_papers, settings),
        partial(fetch_papers, settings),
        partial(read_apart, paper_builder),
        partial(read_share, paper_builder),
    )
    return CorpusOperations(snapshot_path(settings), SNAPSHOT_NAME, tools, open_summariser)


def build_demo(into: Path, progress: Progress | None = None) -> BuildReport:
    """The demonstration corpus, built on first use and checked after that."""
    return build_papers([PAPERS_FOLDER], into, BuildOptions(workers=1), progress=progress)


def with_demo(settings: Settings, progress: Progress | None = None) -> Settings:
    """The settings with the demonstration corpus open, unless the operator has named a corpus."""
    if settings.papers.snapshot is not None:
        return settings
    folder = settings.home / "demo"
    with record_command(settings, "papers:build", f"papers:{folder}", {"sources": ["demo"]}):
        build_demo(folder, progress)
    papers = settings.papers.model_copy(update={"snapshot": folder / SNAPSHOT_NAME})
    return settings.model_copy(update={"papers": papers})
