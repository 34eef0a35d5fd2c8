"""The paper corpus: a concept index kept up to date, texts, and references."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, TypeVar

from carrel.core.parsing import parse_in_thread
from carrel.libraries import bibliography
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.errors import GoalNotInCorpusError, GoalUnclearError
from carrel.libraries.discovery.generation.discovery import Discovery
from carrel.libraries.discovery.records import Concepts, Paper
from carrel.rooms.research.errors import CorpusEmptyError
from carrel.rooms.research.ports import ConceptIndexes, Neighbours, PaperTexts

ResultT = TypeVar("ResultT")
# Fewer papers are read before anybody could look how far that is.
_WORTH_TELLING = 3000
_QUERY_CHARACTERS = 500
_WORD = re.compile(r"\w+")


class Corpus:
    """One corpus with its concept index; only changed papers are indexed again."""

    def __init__(
        self,
        texts: PaperTexts,
        indexes: ConceptIndexes,
        neighbours: Neighbours,
        read_vocabulary: Callable[[], Vocabulary] | None = None,
    ) -> None:
        self._texts = texts
        self._indexes = indexes
        self._neighbours = neighbours
        self._read_vocabulary = read_vocabulary
        self._lock = threading.Lock()
        self._signature: object = None
        # What describe_content last found, and of which papers.
        self._content: tuple[object, tuple[int, str]] | None = None
        self._discovery: Discovery | None = None
        self._vocabulary: Vocabulary | None = None
        self._progress: tuple[int, int] | None = None

    def reading_progress(self) -> tuple[int, int] | None:
        """Papers indexed and in total, while an index is built."""
        return self._progress

    async def with_discovery(self, work: Callable[[Discovery], ResultT]) -> ResultT:
        """Run `work` on a thread, one at a time; raises CorpusEmptyError if there are no papers."""

        def run() -> ResultT:
            with self._lock:
                return work(self._current_discovery())

        return await asyncio.to_thread(run)

    async def leading_bridges(self, goal: str, count: int) -> tuple[str, ...]:
        """Names that the papers on a goal lead to first; none where they do not speak of it."""
        try:
            return await self.with_discovery(lambda found: found.leading_bridges(goal, count))
        except (GoalNotInCorpusError, GoalUnclearError, CorpusEmptyError):
            return ()

    async def papers(self, paper_ids: Sequence[str]) -> list[Paper]:
        """Those of the papers that exist, in the order asked for."""
        return await asyncio.to_thread(self._texts.papers, list(paper_ids))

    async def describe_content(self) -> tuple[int, str]:
        """How many papers there are, and a signature that changes with any of their texts."""

        def work() -> tuple[int, str]:
            signature = self._texts.signature()
            if self._content is None or self._content[0] != signature:
                found = sorted(f"{paper.id} {mark}" for paper, mark in self._texts.everything())
                described = len(found), sha256("\n".join(found).encode()).hexdigest()[:16]
                self._content = signature, described
            return self._content[1]

        return await asyncio.to_thread(work)

    async def newest_papers(self, count: int) -> list[Paper]:
        """The newest papers of the corpus."""

        def work() -> list[Paper]:
            years = [(paper.year or 0, paper.id) for paper, _ in self._texts.everything()]
            newest = sorted(years, key=lambda each: (-each[0], each[1]))[:count]
            return self._texts.papers([paper_id for _, paper_id in newest])

        return await asyncio.to_thread(work)

    async def find_ids(self, names: Sequence[str]) -> list[str | None]:
        """The papers that ids, DOIs, arXiv ids or passage ids name; None for what is not here."""
        known = {paper.id for paper in await self.papers(names)}
        return [
            name if name in known else await self._neighbours.find_paper_id(name) for name in names
        ]

    async def search(self, sentence: str, count: int) -> list[Paper]:
        """Papers that match the words of a sentence, best first."""
        # Not a query: quotation marks, colons and capital AND must not be taken for operators.
        words = " ".join(_WORD.findall(sentence.lower()))[:_QUERY_CHARACTERS]
        if not words:
            return []
        return await self.papers(await self._neighbours.search_papers(words, count))

    async def references(self, paper_ids: Sequence[str]) -> list[dict[str, Any]]:
        """The papers that exist as CSL-JSON, each under its paper id."""
        items = []
        for paper_id in paper_ids:
            item = await self._neighbours.paper_as_csl(paper_id)
            # None where the corpus was replaced since; whoever asked shows the id alone.
            if item is not None:
                items.append({**item, "id": paper_id})
        return items

    async def format_bibliography(self, items: Sequence[dict[str, Any]]) -> list[str]:
        """The references as lines of a bibliography, in the style that is set."""
        return await self._neighbours.format_bibliography(items)

    async def write_bibtex(self, items: Sequence[dict[str, Any]]) -> str:
        return await parse_in_thread(
            bibliography.write_bibliography, items, bibliography.ExportFormat.BIBTEX
        )

    def _current_discovery(self) -> Discovery:
        signature = self._texts.signature()
        if self._discovery is None or signature != self._signature:
            index = self._current_index(repr(signature))
            if not len(index):
                raise CorpusEmptyError(
                    "There are no papers yet to find anything in",
                    next_step="Add papers on the goal: add_paper adds the first.",
                )
            self._discovery, self._signature = Discovery(index, self._texts), signature
        return self._discovery

    def _current_index(self, state: str) -> Concepts:
        if self._vocabulary is None and self._read_vocabulary is not None:
            self._vocabulary = self._read_vocabulary()
        found = self._indexes.open(state, self._vocabulary)
        if found is not None:
            return found
        try:
            return self._indexes.make(self._texts, state, self._vocabulary, self._report)
        finally:
            self._progress = None

    def _report(self, done: int, total: int) -> None:
        self._progress = (done, total) if total >= _WORTH_TELLING else None
