"""The papers at hand as the research room needs them: a concept index that follows the snapshot,
texts, and references.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from carrel.core.parsing import parse_in_thread
from carrel.libraries import bibliography
from carrel.libraries.discovery.extraction import ChunkReader
from carrel.libraries.discovery.generation import Discovery
from carrel.libraries.discovery.index import ConceptIndex
from carrel.libraries.discovery.records import Paper
from carrel.libraries.discovery.vocabulary import Term, Vocabulary
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.service import Papers
from carrel.rooms.references.citations import CitationStyles
from carrel.rooms.research.errors import CorpusEmptyError
from carrel.settings import ReferencesSettings
from carrel.stores.sqlite.concepts import ConceptFile
from carrel.stores.sqlite.papers.documents import PaperTexts
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, Signature

ResultT = TypeVar("ResultT")
# Below this many papers to read, starting further processes takes longer than they save.
_WORTH_PROCESSES = 3000
_CHUNK = 500
_WORD = re.compile(r"\w+")


class SnapshotCorpus:
    """One snapshot with its index. The index is kept in a file, and only papers that changed are
    read again.
    """

    def __init__(
        self,
        snapshot: PaperSnapshot,
        folder: Path,
        papers: Papers,
        references: ReferencesSettings,
        *,
        vocabulary: Path | None = None,
        processes: int = 2,
    ) -> None:
        name = hashlib.sha256(str(snapshot.path).encode()).hexdigest()[:16]
        self._texts = PaperTexts(snapshot)
        self._papers = papers
        self._references = references
        self._vocabulary_path = vocabulary
        self._file = ConceptFile(
            folder / f"concepts-{name}.db", "" if vocabulary is None else vocabulary.name
        )
        self._processes = processes
        self._lock = threading.Lock()
        self._signature: Signature | None = None
        self._discovery: Discovery | None = None
        self._index: ConceptIndex | None = None
        self._fingerprints: dict[str, str] = {}
        self._read: tuple[int, int] | None = None

    def reading_progress(self) -> tuple[int, int] | None:
        return self._read

    async def with_discovery(self, work: Callable[[Discovery], ResultT]) -> ResultT:
        def run() -> ResultT:
            with self._lock:
                return work(self._current())

        return await asyncio.to_thread(run)

    async def papers(self, paper_ids: Sequence[str]) -> list[Paper]:
        return await asyncio.to_thread(self._texts.papers, list(paper_ids))

    async def search(self, words: str, count: int) -> list[Paper]:
        # A sentence, not a query: quotation marks, colons and capital AND must not be taken for
        # operators.
        plain = " ".join(_WORD.findall(words.lower()))[:500]
        if not plain:
            return []
        hits = await self._papers.search(plain, page=1, limit=count)
        return await self.papers([hit.paper_id for hit in hits])

    async def references(self, paper_ids: Sequence[str]) -> list[dict[str, Any]]:
        from carrel.rooms.papers.citable_papers import paper_as_csl

        items = []
        for paper_id in paper_ids:
            try:
                item = await paper_as_csl(self._papers, paper_id)
            except PaperNotFoundError:
                # The corpus was replaced since; whoever asked shows the id alone.
                continue
            items.append({**item, "id": paper_id})
        return items

    async def format_bibliography(self, items: Sequence[dict[str, Any]]) -> list[str]:
        chosen = self._references
        styles = CitationStyles(chosen.styles)
        entries = await styles.render_bibliography(
            items, chosen.default_style, "text", chosen.default_locale
        )
        return [f"{entry.text} [{entry.id}]" for entry in entries]

    async def write_bibtex(self, items: Sequence[dict[str, Any]]) -> str:
        return await parse_in_thread(
            bibliography.write_bibliography, items, bibliography.ExportFormat.BIBTEX
        )

    def _current(self) -> Discovery:
        signature = self._texts.signature()
        if self._discovery is None or signature != self._signature:
            index = self._followed()
            if not len(index):
                raise CorpusEmptyError(
                    "The corpus has no papers",
                    next_step="Build one with carrel papers build, or set --snapshot.",
                )
            self._discovery, self._signature = Discovery(index, self._texts), signature
        return self._discovery

    def _followed(self) -> ConceptIndex:
        """The index brought up to the snapshot as it is now."""
        if self._index is None:
            vocabulary = (
                None if self._vocabulary_path is None else read_vocabulary(self._vocabulary_path)
            )
            self._index, self._fingerprints = self._file.load(vocabulary) or (
                ConceptIndex(vocabulary),
                {},
            )
        index, known = self._index, self._fingerprints
        present: dict[str, str] = {}
        changed: list[Paper] = []
        for paper, fingerprint in self._texts.everything():
            present[paper.id] = fingerprint
            if known.get(paper.id) != fingerprint:
                changed.append(paper)
        gone = [paper_id for paper_id in known if paper_id not in present]
        for paper_id in gone:
            index.remove(paper_id)
        self._take_in(index, changed)
        self._fingerprints = present
        if changed or gone:
            self._file.save(index, present)
        return index

    def _take_in(self, index: ConceptIndex, papers: Sequence[Paper]) -> None:
        if len(papers) < _WORTH_PROCESSES or self._processes < 2:
            index.add(papers)
            return
        self._read = (0, len(papers))
        try:
            self._read_together(index, papers)
        finally:
            self._read = None

    def _read_together(self, index: ConceptIndex, papers: Sequence[Paper]) -> None:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        chunks = [papers[first : first + _CHUNK] for first in range(0, len(papers), _CHUNK)]
        with ProcessPoolExecutor(
            self._processes, mp_context=multiprocessing.get_context("spawn")
        ) as pool:
            for number, chunk in enumerate(
                pool.map(ChunkReader(index.vocabulary), chunks), start=1
            ):
                index.merge(chunk)
                self._read = (min(number * _CHUNK, len(papers)), len(papers))


def read_vocabulary(path: Path) -> Vocabulary:
    """Lines of `id, label, synonyms with |, tree numbers with |`, separated by tabs; plain or
    compressed with xz.
    """
    import lzma

    with (
        lzma.open(path, "rt", encoding="utf-8")
        if path.suffix == ".xz"
        else path.open(encoding="utf-8") as lines
    ):
        return Vocabulary(_term(line) for line in lines)


def _term(line: str) -> Term:
    term_id, label, synonyms, trees, *_ = [*line.rstrip("\n").split("\t"), "", ""]
    return Term(
        term_id,
        label,
        tuple(filter(None, synonyms.split("|"))),
        tuple(filter(None, trees.split("|"))),
    )
