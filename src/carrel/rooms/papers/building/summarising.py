"""Fills a summary template with a language model for every paper that lacks it; resumable."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from pydantic import Field

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.operation import Question
from carrel.core.progress import Progress
from carrel.rooms.papers.building.models import ModelText, PaperToRead
from carrel.rooms.papers.building.paper_records import FiledSummary
from carrel.rooms.papers.building.ports import PapersToRead, SummaryModel, SummaryStore

_RULES = (
    "You summarise one scientific paper for researchers. Use only the text that you are given. "
    "Where the text does not answer "
    "something, write: not stated in the text. Never add results, numbers, names or references "
    "that are not in it. "
    "Answer in Markdown, with exactly the headings below, in English."
)

TEMPLATES: dict[str, str] = {
    "deep_read": (
        f"{_RULES}\n\n"
        "## Question\nWhat the paper asks and why that matters.\n"
        "## Background\nWhat it builds on and what it sets itself apart from.\n"
        "## Method\nWhat was done, step by step, with materials, data and settings.\n"
        "## Results\nThe findings with their numbers, comparisons and uncertainties.\n"
        "## Figures and tables\nWhat each one that matters shows.\n"
        "## Assumptions and limits\nWhat the argument rests on, and what its authors say it "
        "cannot show.\n"
        "## What follows\nOpen questions and next steps that the text names.\n"
        "## In short\nFive sentences for somebody who will not read the paper."
    ),
    "eight_questions": (
        f"{_RULES}\n\n"
        "## 1. What problem is solved?\n## 2. What was known before?\n## 3. What is the new "
        "idea?\n## 4. How was it done?\n"
        "## 5. What data or materials were used?\n## 6. What came out, in numbers?\n"
        "## 7. What are the limits?\n## 8. What comes next?"
    ),
    "three_pass": (
        f"{_RULES}\n\n"
        "## First pass\nKind of paper, context, contribution, and whether its assumptions seem "
        "valid, in a few sentences.\n"
        "## Second pass\nThe argument with its evidence, figure by figure, without proofs and "
        "details of apparatus.\n"
        "## Third pass\nHow one would rebuild the work, which assumptions are silent, and where "
        "it could fail."
    ),
}


_MAX_FAILURES_IN_A_ROW = 5


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a million tokens, in the operator's currency."""

    per_million_in: float
    per_million_out: float


@dataclass(slots=True)
class SummaryTally:
    """How many summaries were written, and what that took."""

    written: int = 0
    already_there: int = 0
    without_text: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)

    def cost(self, prices: Prices) -> float:
        return (
            self.tokens_in * prices.per_million_in + self.tokens_out * prices.per_million_out
        ) / 1_000_000


class SummarisePapers(Question):
    into: str = Field(description="the folder of the corpus")
    template: str = Field(description="deep_read, eight_questions or three_pass")
    model: str = Field(description="the model's name")
    model_url: str = Field(description="an OpenAI-compatible address, up to /v1")
    limit: int | None = Field(default=None, ge=1, description="at most so many papers now")
    parallel: int = Field(default=2, ge=1, description="questions at once")
    max_characters: int = Field(default=120_000, ge=1, description="read at most so much of each")


class Summariser:
    """Fills one template with one model. Only complete answers are filed."""

    def __init__(
        self,
        papers: PapersToRead,
        model: SummaryModel,
        summaries: SummaryStore,
        clock: Clock,
        request: SummarisePapers,
    ) -> None:
        self._papers = papers
        self._model = model
        self._summaries = summaries
        self._clock = clock
        self._request = request

    async def run(self, progress: Progress) -> SummaryTally:
        """Summarises the papers that lack the template; raises after several failures in a row."""
        template, limit = self._request.template, self._request.limit
        if template not in TEMPLATES:
            raise InvalidInputError(
                f"There is no template {template!r} that a model can fill.",
                next_step=f"Choose one of {', '.join(sorted(TEMPLATES))}.",
                details={"templates": sorted(TEMPLATES)},
            )
        tally = SummaryTally()
        progress.begin(
            f"summarising ({template})", self._papers.count() if limit is None else limit, "papers"
        )
        to_do = islice(self._lacking(template, tally, progress), limit)
        failures_in_a_row = 0
        running: dict[asyncio.Task[ModelText], PaperToRead] = {}
        try:
            while True:
                for paper in islice(to_do, self._request.parallel - len(running)):
                    writing = self._model.write(TEMPLATES[template], self._material(paper))
                    running[asyncio.ensure_future(writing)] = paper
                if not running:
                    break
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    paper = running.pop(task)
                    try:
                        written = task.result()
                    except CarrelError as error:
                        tally.failures.append((paper.paper_id, error.message))
                        failures_in_a_row += 1
                        if failures_in_a_row >= _MAX_FAILURES_IN_A_ROW:
                            raise
                    else:
                        failures_in_a_row = 0
                        self._file(paper, template, written, tally)
                    progress.advance()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        progress.end()
        return tally

    def _lacking(
        self, template: str, tally: SummaryTally, progress: Progress
    ) -> Iterator[PaperToRead]:
        for paper in self._papers.papers():
            if not paper.text.strip():
                tally.without_text += 1
            elif self._summaries.has(paper.paper_id, template, self._basis(paper)):
                tally.already_there += 1
            else:
                yield paper
                continue
            progress.advance()

    def _basis(self, paper: PaperToRead) -> str:
        """The hash of the text: a summary becomes stale with its text, not with the model."""
        return hashlib.sha256(self._material(paper).encode("utf-8", "replace")).hexdigest()

    def _material(self, paper: PaperToRead) -> str:
        return f"{paper.title}\n\n{paper.text[: self._request.max_characters]}"

    def _file(
        self, paper: PaperToRead, template: str, written: ModelText, tally: SummaryTally
    ) -> None:
        markdown = written.text.strip()
        if len(paper.text) > self._request.max_characters:
            share = self._request.max_characters / len(paper.text)
            markdown += (
                f"\n\n*Only the first {self._request.max_characters:,} characters ({share:.0%}) "
                f"of the text were read for this.*"
            )
        summary = FiledSummary(
            template=template,
            markdown=markdown,
            language="en",
            provider=self._model.provider,
            model=self._model.name,
            prompt_template=None,
            extracted_at=self._clock.now().isoformat(timespec="seconds"),
        )
        self._summaries.file(paper.paper_id, summary, self._basis(paper))
        tally.written += 1
        tally.tokens_in += written.tokens_in
        tally.tokens_out += written.tokens_out
