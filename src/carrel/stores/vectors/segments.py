"""Vectors of the passages of a corpus of segments, beside them in the corpus folder.

Rows are never used again and merging keeps them, so that one map from passages to vectors holds for
every version of the corpus. What has no vectors yet is found by words alone.
"""

from __future__ import annotations

import logging
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from carrel.core.errors import describe_error
from carrel.libraries.query.papers import FacetCategory, PaperQuery
from carrel.libraries.text.plain_text import plain_text
from carrel.libraries.text.snippets import Stem
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession, CorpusVersion, LiveSegment
from carrel.stores.corpus.papers import FoundPaper, decode_record
from carrel.stores.corpus.passage_rows import passages_of_row
from carrel.stores.corpus.ranking import SegmentRanking
from carrel.stores.file_lock import hold_lock
from carrel.stores.search.engine import MatchCount
from carrel.stores.search.ranking import RankedPaper, RankedPassage
from carrel.stores.vectors.papers import WHOLE_PAPER, embed_all, passage_text
from carrel.stores.vectors.passages import (
    Embedder,
    PassageMap,
    PassageText,
    PassageVectors,
    ReportPapers,
    map_passages,
)
from carrel.stores.vectors.pool import VectorPool, open_records
from carrel.stores.vectors.ranking import SemanticPapers

log = logging.getLogger("carrel.cache")

FOLDER_NAME = "vectors"
_POOL_NAME = "pool.i8"
_MAP_NAME = "map.npz"


def vectors_folder(corpus: Path, model: str) -> Path:
    """The folder of a corpus that holds the vectors of one model."""
    return corpus / FOLDER_NAME / model


def pool_file(home: Path) -> Path:
    """The file with all vectors of one model."""
    return home / _POOL_NAME


def embed_corpus(corpus: Path, embedder: Embedder, *, report: ReportPapers | None = None) -> int:
    """Makes vectors for every segment that has none and returns how many.

    A run that was stopped goes on where it stopped. Raises LockHeldError where another process
    makes them already.
    """
    home = vectors_folder(corpus, embedder.name)
    home.mkdir(parents=True, exist_ok=True)
    folder = CorpusFolder(corpus)
    made = 0
    try:
        with hold_lock(home / "lock"), folder.current().session() as session:
            live = _live_rows(session.version)
            pool = VectorPool(pool_file(home), embedder.dimensions)
            known = load_map(home, embedder.dimensions).of_records(len(pool)).of_rows(live)
            left = len(np.setdiff1d(live, known.rows))
            for segment in session.version.segments:
                rows = np.setdiff1d(_rows_of(session.version, segment), known.rows)
                if not len(rows):
                    continue
                passages = _passages(session, segment, rows.tolist())
                with pool:
                    found, new = embed_all(passages, pool, embedder, left, report)
                records = open_records(pool_file(home), embedder.dimensions)
                known = known.join(map_passages(found, records))
                known.save(home / _MAP_NAME)
                made += new
    finally:
        folder.close()
    return made


def load_map(home: Path, dimensions: int) -> PassageMap:
    """The map; an empty one where it is missing or damaged, as its vectors are found by text."""
    try:
        return PassageMap.load(home / _MAP_NAME)
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
        return PassageMap.empty(dimensions)


def _live_rows(version: CorpusVersion) -> NDArray[np.int64]:
    """The rows of all papers that count."""
    rows = [_rows_of(version, segment) for segment in version.segments]
    return np.concatenate([np.zeros(0, np.int64), *rows])


def _rows_of(version: CorpusVersion, segment: LiveSegment) -> NDArray[np.int64]:
    name = ("rows", segment.name)
    rows: NDArray[np.int64] | None = version.shared.get(name)
    if rows is None:
        with segment.file.reading() as reader:
            found = reader.all("SELECT row FROM paper ORDER BY row")
        rows = version.shared[name] = np.fromiter((row for (row,) in found), np.int64, len(found))
    deleted = np.fromiter(segment.deleted, np.int64, len(segment.deleted))
    return np.setdiff1d(rows, deleted) if len(deleted) else rows


def _passages(
    session: CorpusSession, segment: LiveSegment, rows: Iterable[int]
) -> Iterator[PassageText]:
    reader = session.reader(segment)
    for row in rows:
        found = reader.one("SELECT record FROM paper WHERE row = ?", (row,))
        if found is None:
            raise reader.file.damaged()
        stored = decode_record(reader, found[0])
        record = stored.record
        if record.markdown_sha256 and record.abstract:
            yield PassageText(row, WHOLE_PAPER, passage_text(record.title, record.abstract))
        for passage in passages_of_row(session, FoundPaper(row, segment, stored)):
            text = passage.text if passage.kind in {"table", "code"} else plain_text(passage.text)
            yield PassageText(row, passage.number, passage_text(record.title, text))


class SemanticSegmentRanking:
    """Ranks papers and passages of one version by words and meaning.

    Vectors that are made while a server runs are taken up at the next question.
    """

    def __init__(
        self,
        words: SegmentRanking,
        version: CorpusVersion,
        corpus: Path,
        load_embedder: Callable[[], Embedder],
    ) -> None:
        """The model is loaded when the corpus has vectors."""
        self._words = words
        self._version = version
        self._corpus = corpus
        self._load_embedder = load_embedder
        self._lock = threading.Lock()
        self._seen = -1
        self._papers: SemanticPapers | None = None

    @property
    def name(self) -> str:
        extra = "" if self._with_meaning() is None else ", and vectors of meaning"
        return f"{self._words.name}{extra}"

    @property
    def stem(self) -> Stem | None:
        return self._words.stem

    def search(
        self, session: CorpusSession, query: PaperQuery, first: int, count: int
    ) -> list[RankedPaper]:
        papers = self._with_meaning()
        if papers is None:
            return self._words.search(session, query, first, count)
        return papers.search(query, first, count)

    def count(self, query: PaperQuery) -> MatchCount:
        papers = self._with_meaning()
        found = self._words.count(query)
        if papers is not None and papers.finds_more_than_words(query):
            return MatchCount(found.count, is_exact=False)
        return found

    def search_passages(
        self, query: PaperQuery, within_rows: Sequence[int] | None, first: int, count: int
    ) -> list[RankedPassage]:
        papers = self._with_meaning()
        if papers is None:
            return self._words.search_passages(query, within_rows, first, count)
        return papers.search_passages(query, within_rows, first, count)

    def words_like(self, word: str) -> list[tuple[str, int]]:
        return self._words.words_like(word)

    def with_facet_words(
        self, session: CorpusSession, categories: Sequence[FacetCategory], words: Sequence[str]
    ) -> Iterator[int]:
        return self._words.with_facet_words(session, categories, words)

    def with_title_beginning(
        self, session: CorpusSession, text: str, count: int
    ) -> tuple[list[int], int]:
        return self._words.with_title_beginning(session, text, count)

    def _with_meaning(self) -> SemanticPapers | None:
        try:
            (self._corpus / FOLDER_NAME).stat()
            home = vectors_folder(self._corpus, self._load_embedder().name)
            seen = home.stat().st_mtime_ns
        except OSError:
            return None
        if seen != self._seen:
            with self._lock:
                if seen != self._seen:
                    self._papers = self._load(home, self._load_embedder())
                    self._seen = seen
        return self._papers

    def _load(self, home: Path, embedder: Embedder) -> SemanticPapers | None:
        dimensions = embedder.dimensions
        passages = load_map(home, dimensions).of_rows(_live_rows(self._version))
        if not len(passages.rows):
            return None
        try:
            vectors = PassageVectors(open_records(pool_file(home), dimensions), passages)
        except (OSError, ValueError) as error:
            # Words alone answer until `carrel papers index --meaning` has made them again.
            cause = describe_error(error)
            log.warning("vectors are damaged", extra={"file": home.name, "cause": cause})
            return None
        return SemanticPapers(self._words.papers, vectors, embedder)
