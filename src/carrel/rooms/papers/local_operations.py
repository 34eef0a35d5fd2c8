"""Operations for the operator of the server: building, indexing and summarising a corpus."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from carrel.core.answer import Text
from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import InvalidInputError
from carrel.core.operation import Effect, Question
from carrel.core.progress import Progress
from carrel.rooms.papers.building.build_reports import BuildReport
from carrel.rooms.papers.building.intake import Intake
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.building.service import PaperBuilder
from carrel.rooms.papers.building.summarising import SummarisePapers, Summariser, SummaryTally
from carrel.rooms.papers.loading.filters import make_filters
from carrel.rooms.papers.loading.models import DumpService, LoadReport
from carrel.rooms.papers.loading.service import DumpToLoad
from carrel.rooms.papers.map_models import MapReport, UpdatePaperMap
from carrel.rooms.papers.models import NoQuestion

READ_SCOPES = frozenset({"papers:read"})
WRITE_SCOPES = frozenset({"papers:write"})
# Neither has a limit of its own; a person who waits can stop it, and what was done is kept.
_A_MONTH_SECONDS = 30 * 24 * 3600.0


Engine = Literal["here", "processes", "ray"]


@dataclass(frozen=True, slots=True)
class PartsRead:
    """What became of partitions: read now, read before, and those that no worker could read."""

    read: int
    read_before: int
    sources: int
    failed: tuple[str, ...] = ()


class BuildPapers(Question):
    sources: list[str] = Field(min_length=1, description="files, or folders of files")
    into: str = Field(description="the folder of the corpus")
    workers: int | None = Field(default=None, ge=1, description="processes that read")
    max_megabytes: int = Field(default=200, ge=1, description="larger files are not read")
    without_edges: bool = Field(default=False, description="no table of facet pairs")
    only: bool = Field(default=False, description="what earlier builds took elsewhere leaves")
    engine: Engine = Field(
        default="here", description="who reads: this build, processes by partitions, or Ray"
    )
    address: str | None = Field(default=None, description="the cluster of Ray; one of its own")


class ReadBuildPart(Question):
    sources: list[str] = Field(min_length=1, description="files, or folders of files")
    into: str | None = Field(default=None, description="the folder of the corpus")
    part: str = Field(
        default="1/1",
        pattern=r"^[1-9][0-9]{0,3}/[1-9][0-9]{0,3}$",
        description="which share of the partitions, such as 2/8: the second of eight machines",
    )
    workers: int = Field(default=1, ge=1, le=256, description="processes that read")
    max_megabytes: int = Field(default=200, ge=1, description="larger files are not read")


class AddPaperFiles(Question):
    files: list[str] = Field(description="files, or folders of files")
    named: list[str] | None = Field(
        default=None, description="those that bring a removed paper back; all by default"
    )
    folders: list[str] = Field(
        default=[], description="folders whose vanished files are named in the answer"
    )
    workers: int | None = Field(default=None, ge=1, description="processes that read")


class LoadDump(Question):
    service: DumpService = Field(description="whose dump it is")
    folder: str = Field(description="where its files lie")
    years: str | None = Field(default=None, description="2015..2024, 2015.., ..2024 or 2020")
    types: list[str] = Field(default=[], description="kinds of works, such as article-journal")
    languages: list[str] = Field(default=[], description="codes such as en; unknown for none")
    subjects: list[str] = Field(default=[], description="words of subjects, or categories")
    limit: int | None = Field(
        default=None, ge=1, description="no more records of this dump than so many in all"
    )


class IndexPapers(Question):
    meaning: bool = Field(
        default=False, description="also vectors of meaning (the extra `semantic`); resumable"
    )


class PublishPapers(Question):
    to: str | None = Field(
        default=None, description="where to; papers.corpus_url where it is not named"
    )
    replace: bool = Field(
        default=False, description="in place of whatever corpus is published there"
    )


class FetchPapers(Question):
    url: str | None = Field(
        default=None, description="where from; papers.corpus_url where it is not named"
    )
    into: str | None = Field(
        default=None, description="a folder; by default the copy that servers of this home read"
    )
    check: bool = Field(
        default=False, description="also hash what is here, and fetch again what is damaged"
    )


class ExportSnapshot(Question):
    folder: str = Field(description="where paper_snapshot.db and paper-static are written")
    without_edges: bool = Field(default=False, description="no table of facet pairs")


@dataclass(frozen=True, slots=True)
class Publication:
    """A published generation; `objects` and `bytes` were uploaded for it, or fetched."""

    url: str
    generation: int
    papers: int
    objects: int
    bytes: int
    is_changed: bool


@dataclass(frozen=True, slots=True)
class CorpusTools:
    """Work on corpora in folders; every function raises CarrelError or OSError.

    `refuse_lost_folder` raises for a folder that does not last; `index` and `embed` bring the word
    index and the sentence vectors beside a snapshot up to date. `has_segments` says whether a
    folder holds a corpus of our own, whose index is in its segments. `export` writes such a corpus
    into a folder as a snapshot, with pairs of facets or without, and returns the number of papers.
    `take` adds files where they lie, those that somebody named given twice, and names what vanished
    from folders. `find_notes` names the files below sources that are notes of a
    person's desk, where the folder is its corpus. `load` streams a dump into a corpus. `draw_map`
    brings the map beside a snapshot or its segments up to date, or draws it anew. `publish` puts
    the corpus of a folder into an object store, `fetch` the other way round.
    `read_apart` has sources read by partitions before a build, by an engine at an address;
    `read_share` reads one machine's share of the partitions, given as its number and how many
    there are.
    """

    refuse_lost_folder: Callable[[Path], None]
    open_builder: Callable[[Path, BuildOptions], AbstractContextManager[PaperBuilder]]
    index: Callable[[Path, Progress], None]
    embed: Callable[[Path, Progress], None]
    has_segments: Callable[[Path], bool]
    export: Callable[[Path, Path, bool, Progress], int]
    take: Callable[
        [Path, Sequence[Path], BuildOptions, Progress, Sequence[Path], Sequence[Path]], Intake
    ]
    find_notes: Callable[[Path, Sequence[Path], str], Awaitable[frozenset[str]]]
    load: Callable[[Path, DumpToLoad, Progress], LoadReport]
    draw_map: Callable[[Path, bool, Progress], MapReport]
    publish: Callable[[Path, str | None, bool, Progress], Publication]
    fetch: Callable[[Path | None, str | None, bool, Progress], Publication | None]
    read_apart: Callable[
        [Path, Sequence[Path], BuildOptions, Engine, str | None, Progress], PartsRead
    ]
    read_share: Callable[[Path, Sequence[Path], BuildOptions, tuple[int, int], Progress], PartsRead]


class CorpusOperations:
    """Local operations, because they read and write any folder of the machine."""

    def __init__(
        self,
        snapshot: Path,
        snapshot_name: str,
        tools: CorpusTools,
        open_summariser: Callable[[SummarisePapers], AbstractAsyncContextManager[Summariser]],
    ) -> None:
        self._snapshot = snapshot
        self._snapshot_name = snapshot_name
        self._tools = tools
        self._open_summariser = open_summariser

    @operation(
        title="Build the corpus",
        description=(
            "Builds a corpus from files and folders: Markdown, JATS, PDF, BibTeX, RIS, CSL-JSON, "
            "JSON lines, paper_infos.json. Run again, it does only what changed."
        ),
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="build",
    )
    async def build_papers(self, question: BuildPapers, call: Call) -> BuildReport:
        tools, into, limit = self._tools, Path(question.into), question.max_megabytes * 1024 * 1024
        tools.refuse_lost_folder(into)
        sources = [Path(source) for source in question.sources]
        options = BuildOptions(question.workers, limit, has_edges=not question.without_edges)
        notes = await tools.find_notes(into, sources, call.caller.user_id)
        if question.engine != "here":
            # What no worker could read is read by the build itself, which says what is wrong.
            tools.read_apart(
                into, sources, options, question.engine, question.address, call.progress
            )
        with tools.open_builder(into, options) as builder:
            return builder.build(sources, call.progress, only=question.only, notes=notes)

    @operation(
        title="Read a part of a corpus",
        description=(
            "Reads one machine's share of what carrel papers build would read, into the folder of "
            "the corpus, which all machines see under one path. The build then joins the parts."
        ),
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="build-part",
        next_command="carrel papers build joins the parts, once every machine is done.",
    )
    async def read_build_part(self, question: ReadBuildPart, call: Call) -> Text:
        into = Path(question.into) if question.into else self._snapshot.parent
        self._tools.refuse_lost_folder(into)
        number, _, count = question.part.partition("/")
        share = int(number), int(count)
        if share[0] > share[1]:
            raise InvalidInputError(
                f"There is no part {question.part}.", next_step="Name 1/N up to N/N."
            )
        options = BuildOptions(question.workers, question.max_megabytes * 1024 * 1024)
        sources = [Path(source) for source in question.sources]
        done = self._tools.read_share(into, sources, options, share, call.progress)
        lines = [f"{done.read:,} partitions were read ({done.sources:,} files)."]
        if done.read_before:
            lines.append(f"{done.read_before:,} had been read before.")
        if done.failed:
            lines.append(f"{len(done.failed):,} were not: {'; '.join(done.failed[:5])}.")
        return Text(" ".join(lines))

    @operation(
        title="Add files to the corpus",
        description=(
            "Adds files and folders where they lie; what is known already and unchanged costs "
            "nothing, and nothing leaves the corpus."
        ),
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="add-files",
    )
    async def add_paper_files(self, question: AddPaperFiles, call: Call) -> Intake:
        into = self._snapshot.parent
        self._tools.refuse_lost_folder(into)
        files = [Path(file) for file in question.files]
        named = files if question.named is None else [Path(file) for file in question.named]
        options = BuildOptions(question.workers)
        folders = [Path(folder) for folder in question.folders]
        return self._tools.take(into, files, options, call.progress, named, folders)

    @operation(
        title="Load a dump",
        description=(
            "Streams a dump of OpenAlex, PubMed, arXiv or Crossref into the corpus, filtered by "
            "year, type, language and subject. Run again, it goes on where it was stopped and "
            "takes what is newer."
        ),
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="load",
    )
    async def load_papers(self, question: LoadDump, call: Call) -> LoadReport:
        into = self._snapshot.parent
        self._tools.refuse_lost_folder(into)
        filters = make_filters(
            question.years, question.types, question.languages, question.subjects
        )
        dump = DumpToLoad(question.service, Path(question.folder), filters, question.limit)
        return self._tools.load(into, dump, call.progress)

    @operation(
        title="Index the corpus",
        description="Make or renew the fast index beside a snapshot.",
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="index",
        next_command='carrel papers search "WORDS" uses it.',
    )
    async def index_papers(self, question: IndexPapers, call: Call) -> Text:
        snapshot = self._snapshot
        if self._tools.has_segments(snapshot.parent):
            with self._tools.open_builder(snapshot.parent, BuildOptions()) as builder:
                builder.reindex(call.progress)
        elif snapshot.is_file():
            self._tools.index(snapshot, call.progress)
        else:
            raise InvalidInputError(
                f"There is no snapshot at {snapshot}", next_step="Name one with --snapshot."
            )
        if question.meaning:
            self._tools.embed(snapshot, call.progress)
        return Text(f"The index of {snapshot} is up to date.")

    @operation(
        title="Compact the corpus",
        description=(
            "Merges the segments of the corpus into few large ones and drops what was deleted; "
            "searches go on meanwhile."
        ),
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="compact",
    )
    async def compact_papers(self, question: NoQuestion, call: Call) -> Text:
        folder = self._snapshot.parent
        if not self._tools.has_segments(folder):
            raise InvalidInputError(
                f"There is no corpus of Carrel's own in {folder}",
                next_step="Build one with carrel papers build FOLDER.",
            )
        with self._tools.open_builder(folder, BuildOptions()) as builder:
            before, now = builder.compact(call.progress)
        if before == now:
            return Text(f"Nothing to merge: the corpus has {now:,} segments.")
        return Text(f"The corpus has {now:,} segments; it had {before:,}.")

    @operation(
        title="Draw the map",
        description=(
            "Brings the map of the corpus up to date: new papers are placed among their "
            "neighbours, nothing else moves. With --again everything is laid out anew."
        ),
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="map",
        next_command="carrel serve shows it at /papers/map.",
    )
    async def draw_paper_map(self, question: UpdatePaperMap, call: Call) -> Text:
        self._tools.refuse_lost_folder(self._snapshot.parent)
        report = self._tools.draw_map(self._snapshot, question.again, call.progress)
        lines = [f"The map shows {report.papers:,} papers; {report.placed:,} of them are new."]
        if report.is_drawn_anew:
            lines = [f"The map was drawn: it shows {report.papers:,} papers."]
        if report.left:
            lines.append(f"{report.left:,} have left it.")
        if report.not_placed:
            lines.append(f"{report.not_placed:,} share no word with others and are not on it.")
        return Text(" ".join(lines))

    @operation(
        title="Publish the corpus",
        description=(
            "Puts the corpus into an object store or a shared folder for other servers: only what "
            "is missing there, verified, and seen by all of them at once. Run again, it goes on "
            "where it was stopped."
        ),
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        reaches_outside=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="publish",
        next_command="carrel serve with papers.corpus_url set serves it.",
    )
    async def publish_papers(self, question: PublishPapers, call: Call) -> Text:
        published = self._tools.publish(
            self._snapshot.parent, question.to, question.replace, call.progress
        )
        if not published.is_changed:
            return Text(
                f"Nothing to publish: generation {published.generation:,} of {published.url} is "
                "this corpus."
            )
        return Text(
            f"Generation {published.generation:,} of {published.url} has "
            f"{_count(published.papers, 'paper')}; "
            f"{_count(published.objects, 'object')} with {published.bytes:,} "
            f"bytes moved."
        )

    @operation(
        title="Fetch the published corpus",
        description=(
            "Takes the corpus that is published in an object store or a shared folder: what is "
            "missing here, each part verified before it is used."
        ),
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        reaches_outside=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="fetch",
        next_command='carrel papers search "WORDS" searches it.',
    )
    async def fetch_papers(self, question: FetchPapers, call: Call) -> Text:
        into = None if question.into is None else Path(question.into)
        fetched = self._tools.fetch(into, question.url, question.check, call.progress)
        if fetched is None:
            raise InvalidInputError(
                "Nothing is published there yet",
                next_step="Publish a corpus with carrel papers publish, or add a paper.",
            )
        says = f"Generation {fetched.generation:,} of {fetched.url} has "
        says += _count(fetched.papers, "paper")
        if not fetched.objects:
            return Text(f"{says}; it was here already.")
        return Text(
            f"{says}; {_count(fetched.objects, 'segment')} with {fetched.bytes:,} bytes moved."
        )

    @operation(
        title="Export a snapshot",
        description=(
            "Writes the corpus as paper_snapshot.db and paper-static, as other tools read them."
        ),
        scopes=READ_SCOPES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="export-snapshot",
    )
    async def export_snapshot(self, question: ExportSnapshot, call: Call) -> Text:
        target, has_edges = Path(question.folder), not question.without_edges
        count = self._tools.export(self._snapshot.parent, target, has_edges, call.progress)
        return Text(f"{count:,} papers are in {target / self._snapshot_name}.")

    @operation(
        title="Summarise the corpus",
        description="Has a model fill a summary template for papers that lack it; resumable.",
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="summarise",
    )
    async def summarise_papers(self, question: SummarisePapers, call: Call) -> SummaryTally:
        async with self._open_summariser(question) as summariser:
            try:
                return await summariser.run(call.progress)
            finally:
                # What was written is published even after an early end.
                with self._tools.open_builder(Path(question.into), BuildOptions()) as builder:
                    builder.refresh(call.progress)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
