"""Keywords and tags of a corpus: papers by keyword, and concepts by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.analysis import exact_words
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import split_words
from carrel.rooms.knowledge.ports import Concept
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.stores.corpus.facets import deleted_facets, facet_count, rows_with_value
from carrel.stores.corpus.folder import (
    CorpusFolder,
    CorpusSession,
    LiveSegment,
    SegmentReader,
    retry_if_swept,
)
from carrel.stores.corpus.papers import FoundPaper, facet_values, papers_of_rows

CATEGORIES: tuple[FacetCategory, ...] = ("keyword", "tag")
# Papers of a rarer value are sorted; for a more frequent one the newest papers are looked through.
_MAX_SORTED = 2_000
_PAGE = 200
_SHOWN_PAPERS = 10
_LEAST_BEGINNING = 3
_NOT_ASCII = "*[^ -~]*"
# Values of one segment that are looked at for a suggestion.
_MAX_ALIKE = 2_000

NewestWithWords = Callable[[Sequence[str]], Iterator[int]]
"""Rows whose keywords, or whose tags, together contain all of these words, newest first."""


def papers_with_keyword(
    session: CorpusSession, keyword: str, first: int, count: int, with_words: NewestWithWords
) -> list[tuple[FoundPaper, list[str]]]:
    """Papers with this value, then with one that contains its words, newest first; the values."""
    words = frozenset(exact_words(keyword))
    if not words:
        return []
    exact_value = " ".join(keyword.lower().split())
    page = list(islice(_newest_with_value(session, exact_value), first + count))
    found = papers_of_rows(session, page[first:])
    if len(page) < first + count:
        skip = max(0, first - len(page))
        wider = _wider(session, with_words(sorted(words)), words, exact_value)
        found += islice(wider, skip, skip + count - len(found))
    return [(paper, matching_values(paper.paper.record, words, exact_value)) for paper in found]


def _newest_with_value(session: CorpusSession, value: str) -> Iterator[int]:
    """Rows with exactly this keyword or tag, newest first."""
    streams = [
        _newest_in(segment, reader, number, papers)
        for category in CATEGORIES
        for segment, reader, number, papers in rows_with_value(session, category, value)
    ]
    last = None
    for _, row in merge(*streams):
        if row != last:
            yield row
        last = row


def _newest_in(
    segment: LiveSegment, reader: SegmentReader, number: int, papers: int
) -> Iterator[tuple[int, int]]:
    if papers <= _MAX_SORTED:
        sql = (
            "SELECT -newness, paper.row FROM paper_facet CROSS JOIN paper ON paper.row = "
            "paper_facet.row WHERE facet = ? ORDER BY newness DESC, paper.row"
        )
    else:
        sql = (
            "SELECT -newness, row FROM paper WHERE EXISTS (SELECT 1 FROM paper_facet WHERE facet "
            "= ? AND paper_facet.row = paper.row) ORDER BY newness DESC, row"
        )
    for newness, row in reader.each(sql, (number,)):
        if row not in segment.deleted:
            yield newness, row


def _wider(
    session: CorpusSession, rows: Iterator[int], words: frozenset[str], exact_value: str
) -> Iterator[FoundPaper]:
    """Of these rows the papers with a value that has all words, but not the exact value."""
    while page := list(islice(rows, _PAGE)):
        for paper in papers_of_rows(session, page):
            values = matching_values(paper.paper.record, words, exact_value)
            if values and exact_value not in values:
                yield paper


def matching_values(record: PaperRecord, words: frozenset[str], exact_value: str) -> list[str]:
    """Keywords before tags: those that are the value or have all the words."""
    return list(
        dict.fromkeys(
            value
            for value in (*facet_values(record.keywords), *facet_values(record.tags))
            if value == exact_value or words <= set(exact_words(value))
        )
    )


class CorpusConcepts:
    """Keywords before tags; none without a corpus, an error where it cannot be read."""

    def __init__(self, folder: CorpusFolder) -> None:
        self._folder = folder

    async def find(self, names: Sequence[str]) -> Mapping[str, Concept]:
        return await asyncio.to_thread(retry_if_swept, self._folder, lambda it: _find(it, names))

    async def near(self, name: str, limit: int) -> list[str]:
        return await asyncio.to_thread(
            retry_if_swept, self._folder, lambda session: _near(session, name, limit)
        )


def _find(session: CorpusSession, names: Sequence[str]) -> dict[str, Concept]:
    found = {name: _concept(session, name) for name in names}
    return {name: concept for name, concept in found.items() if concept is not None}


def _concept(session: CorpusSession, name: str) -> Concept | None:
    """A keyword or tag by name; facet values are in lower case."""
    value = " ".join(name.lower().split())
    for category in CATEGORIES:
        papers = facet_count(session, category, value)
        if papers > 0:
            rows = islice(_newest_of_category(session, category, value), _SHOWN_PAPERS)
            shown = papers_of_rows(session, list(rows))
            titles = tuple((each.paper.paper_id, each.paper.record.title) for each in shown)
            return Concept(value, category, papers, titles)
    return None


def _newest_of_category(
    session: CorpusSession, category: FacetCategory, value: str
) -> Iterator[int]:
    streams = [_newest_in(*each) for each in rows_with_value(session, category, value)]
    return (row for _, row in merge(*streams))


def _near(session: CorpusSession, name: str, limit: int) -> list[str]:
    """Values with a word that begins as the name does, those of most papers first."""
    words = split_words(name)
    if not words:
        return []
    first = fold_text(words[0])
    beginning = first[: max(_LEAST_BEGINNING, len(first) // 2)]
    return [
        value for category in CATEGORIES for value in _alike(session, category, beginning, limit)
    ][:limit]


def _alike(
    session: CorpusSession, category: FacetCategory, beginning: str, limit: int
) -> list[str]:
    deleted, counts = deleted_facets(session), dict[str, int]()
    pattern = beginning.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    for _, reader in session.readers():
        for value, papers in reader.each(
            "SELECT value, papers FROM facet WHERE category = ? AND (value LIKE ? ESCAPE '!' OR "
            "value GLOB ?) LIMIT ?",
            (category, f"%{pattern}%", _NOT_ASCII, _MAX_ALIKE),
        ):
            if any(word.startswith(beginning) for word in split_words(fold_text(value))):
                counts[value] = counts.get(value, 0) + papers
    left = {value: papers - deleted[category, value] for value, papers in counts.items()}
    ordered = sorted((-papers, value) for value, papers in left.items() if papers > 0)
    return [value for _, value in ordered[:limit]]
