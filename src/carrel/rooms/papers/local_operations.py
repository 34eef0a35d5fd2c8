"""Operations for the operator of the server: building, indexing and summarising a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pydantic import Field

from carrel.core.answer import Text
from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import InvalidInputError
from carrel.core.operation import Effect, Question
from carrel.core.progress import Progress
from carrel.rooms.papers.building.models import BuildReport
from carrel.rooms.papers.building.summarising import SummarisePapers, SummaryTally

WRITE_SCOPES = frozenset({"papers:write"})
# Neither has a limit of its own; a person who waits can stop it, and what was done is kept.
_A_MONTH_SECONDS = 30 * 24 * 3600.0


class BuildPapers(Question):
    sources: list[str] = Field(min_length=1, description="files, or folders of files")
    into: str = Field(description="the folder of the corpus")
    workers: int | None = Field(default=None, ge=1, description="processes that read")
    max_megabytes: int = Field(default=200, ge=1, description="larger files are not read")
    without_edges: bool = Field(default=False, description="no table of facet pairs")
    only: bool = Field(default=False, description="what earlier builds took elsewhere leaves")


class IndexPapers(Question):
    meaning: bool = Field(
        default=False, description="also vectors of meaning (the extra `semantic`); resumable"
    )


class CorpusWorkshop(Protocol):
    """Works on corpora in folders; every method raises CarrelError or OSError."""

    @property
    def snapshot(self) -> Path:
        """The snapshot of the desk."""
        ...

    def build(self, request: BuildPapers, progress: Progress) -> BuildReport: ...

    def index(self, progress: Progress) -> None:
        """Brings the word index beside the snapshot up to date."""
        ...

    def embed(self, progress: Progress) -> None:
        """Compute the missing vectors beside the snapshot."""
        ...

    async def summarise(self, request: SummarisePapers, progress: Progress) -> SummaryTally: ...


class CorpusOperations:
    """Local operations, because they read and write any folder of the machine."""

    def __init__(self, workshop: CorpusWorkshop) -> None:
        self._workshop = workshop

    @operation(
        title="Build the corpus",
        description=(
            "Builds a snapshot and its static folder from files and folders: Markdown, JATS, PDF, "
            "BibTeX, RIS, CSL-JSON, JSON lines, paper_infos.json. Run again, it does only what "
            "changed."
        ),
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="build",
    )
    async def build_papers(self, question: BuildPapers, call: Call) -> BuildReport:
        return self._workshop.build(question, call.progress)

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
        snapshot = self._workshop.snapshot
        if not snapshot.is_file():
            raise InvalidInputError(
                f"There is no snapshot at {snapshot}", next_step="Name one with --snapshot."
            )
        self._workshop.index(call.progress)
        if question.meaning:
            self._workshop.embed(call.progress)
        return Text(f"The index of {snapshot} is up to date.")

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
        return await self._workshop.summarise(question, call.progress)
