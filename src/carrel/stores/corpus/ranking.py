"""The index over all segments of one version of a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from carrel.libraries.query.papers import FacetCategory, PaperIdentifier, PaperQuery
from carrel.libraries.text.abbreviations import AbbreviationTable
from carrel.libraries.text.snippets import Stem
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.corpus.folder import MEND_INDEX, CorpusSession, CorpusVersion, LiveSegment
from carrel.stores.corpus.index_lookups import IndexLookups
from carrel.stores.corpus.papers import identified_rows
from carrel.stores.corpus.schema import PAPERS_PART, PASSAGES_PART
from carrel.stores.search.engine import MatchCount
from carrel.stores.search.errors import UnusablePartError
from carrel.stores.search.ranking import PaperRanking, RankedPaper, RankedPassage
from carrel.stores.search.views import View, open_view
from carrel.stores.search.vocabulary import Vocabulary

# Where there are larger segments, the abbreviations of smaller ones than this wait for a merge:
# putting the table of a large corpus together for every paper that is added would take seconds.
_WORTH_A_NEW_TABLE = 1_000
# Deleted rows that are subtracted from the number of matches; with more it is not told.
_MAX_DELETED_COUNTED = 20_000


class SegmentRanking:
    """Ranks papers and passages of one version; many threads may use it at once."""

    name = "fast index of words and passages"

    def __init__(self, version: CorpusVersion, papers: View, passages: View) -> None:
        self._version = version
        self._lookups = IndexLookups(papers)
        self._vocabulary = Vocabulary(papers)
        deleted = frozenset[int]().union(*(segment.deleted for segment in version.segments))
        self._deleted = sorted(deleted)
        self.papers = PaperRanking(
            papers,
            passages,
            deleted=deleted,
            rows_of_identifiers=self._rows_of_identifiers,
            abbreviations=_abbreviations(version),
        )

    @property
    def stem(self) -> Stem | None:
        return self.papers.stem

    def search(
        self, session: CorpusSession, query: PaperQuery, first: int, count: int
    ) -> list[RankedPaper]:
        return self.papers.search(query, first, count)

    def count(self, query: PaperQuery) -> MatchCount:
        found = self.papers.count(query)
        if not found.is_exact or not found.count or not self._deleted:
            return found
        if len(self._deleted) > _MAX_DELETED_COUNTED:
            return MatchCount(found.count, is_exact=False)
        return MatchCount(found.count - self.papers.count_among(query, self._deleted))

    def search_passages(
        self, query: PaperQuery, within_rows: Sequence[int] | None, first: int, count: int
    ) -> list[RankedPassage]:
        return self.papers.passages.search(query, within_rows, first, count)

    def words_like(self, word: str) -> list[tuple[str, int]]:
        return self._vocabulary.words_like(word)

    def with_facet_words(
        self, session: CorpusSession, categories: Sequence[FacetCategory], words: Sequence[str]
    ) -> Iterator[int]:
        return self._lookups.with_facet_words(session, categories, words)

    def with_title_beginning(
        self, session: CorpusSession, text: str, count: int
    ) -> tuple[list[int], int]:
        return self._lookups.with_title_beginning(session, text, count)

    def _rows_of_identifiers(self, identifiers: Sequence[PaperIdentifier]) -> list[int]:
        with self._version.session() as session:
            return identified_rows(session, identifiers)


def open_corpus_ranking(session: CorpusSession, views: Path) -> SegmentRanking:
    """Opens the index parts of all segments as one; SnapshotUnavailableError where one is damaged.

    `views` is a folder for views that processes share, which can be made again at any time.
    """
    version = session.version
    folders = [segment.file.folder for segment in version.segments]
    try:
        papers = open_view([folder / PAPERS_PART for folder in folders], views)
        passages = open_view([folder / PASSAGES_PART for folder in folders], views)
    except UnusablePartError as error:
        for segment in version.segments:
            # A segment that was swept meanwhile is not damaged.
            segment.file.check_present()
        raise SnapshotUnavailableError(str(error), next_step=MEND_INDEX) from error
    return SegmentRanking(version, papers, passages)


def _abbreviations(version: CorpusVersion) -> AbbreviationTable:
    """How the corpus abbreviates, by its larger segments where it has some."""
    large = [each for each in version.segments if each.papers >= _WORTH_A_NEW_TABLE]
    segments = large or version.segments
    known, name = version.shared, ("abbreviations", *(segment.name for segment in segments))
    if known.get("abbreviations", (None, None))[0] != name:
        known["abbreviations"] = (name, AbbreviationTable(_definitions(segments)))
    table: AbbreviationTable = known["abbreviations"][1]
    return table


def _definitions(segments: Sequence[LiveSegment]) -> Iterator[tuple[str, str, int]]:
    for segment in segments:
        with segment.file.reading() as reader:
            yield from reader.each("SELECT short, long, papers FROM abbreviation")
