"""Puts a summariser together, and brings the corpus up to date with what it wrote."""

from __future__ import annotations

from pathlib import Path

from carrel.core.clock import SystemClock
from carrel.core.progress import Progress
from carrel.rooms.papers.building.models import Written
from carrel.rooms.papers.building.summarising import Summariser, SummaryTally
from carrel.services.openai_compatible import OpenAiCompatibleModel
from carrel.stores.sqlite.papers.documents import SqlitePapersToRead
from carrel.stores.static_folder import SUMMARIES_NAME, SummaryFiles
from carrel.wiring.papers_build import AfterSwap, refresh_papers


class _Model:
    """The engine in the room's words."""

    def __init__(self, engine: OpenAiCompatibleModel) -> None:
        self._engine = engine
        self.provider = engine.provider
        self.name = engine.name

    def write(self, instructions: str, text: str) -> Written:
        answer = self._engine.write(instructions, text)
        return Written(answer.text, answer.tokens_in, answer.tokens_out)


def summarise_papers(
    into: Path,
    *,
    template: str,
    base_url: str,
    model: str,
    api_key: str | None,
    limit: int | None,
    parallel: int,
    most_characters: int,
    progress: Progress,
    after_swap: AfterSwap | None = None,
) -> SummaryTally:
    """Fills `template` for the papers that lack it; what was written is published even when the run
    ends early.
    """
    papers = SqlitePapersToRead(into)
    with OpenAiCompatibleModel(base_url, model, api_key) as engine:
        summaries = SummaryFiles(into / SUMMARIES_NAME)
        summariser = Summariser(
            papers,
            _Model(engine),
            summaries,
            SystemClock(),
            most_characters=most_characters,
            parallel=parallel,
        )
        try:
            return summariser.run(template, limit, progress)
        finally:
            refresh_papers(into, progress=progress, after_swap=after_swap)
