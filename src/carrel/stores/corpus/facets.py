"""Facets of a corpus: counts over all segments less what is deleted, most frequent first."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from carrel.libraries.query.papers import FacetCategory
from carrel.rooms.papers.building.paper_keys import facet_value
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.stores.corpus.folder import CorpusSession, LiveSegment, SegmentReader
from carrel.stores.corpus.papers import decode_record, facet_values

CATEGORIES: tuple[FacetCategory, ...] = ("author", "keyword", "institution", "tag", "venue")
# Facets that are names, shown as papers spell them.
SPELLED: frozenset[FacetCategory] = frozenset({"author", "institution", "venue"})
# The most that an operation lists; a smaller list is a part of this one.
MAX_LISTED = 100
# Chosen on 200,000 papers of a random corpus in 40 segments, so that no first call takes more than
# a second of CPU: lists that are added up whole, all lists together, and values looked up one by
# one (each in every long list) before everything is added up instead.
_FEW_VALUES = 2_000
_FEW_ALTOGETHER = 200_000
_MAX_LOOKUPS = 60_000
_PAGE = 50
# Papers of a value that are read for its spelling: the first ones may be deleted.
_SPELLINGS_READ = 20
# Numbers of values, by names of segments, that a process remembers.
_MAX_REMEMBERED = 100


def record_facets(record: PaperRecord) -> Iterator[tuple[FacetCategory, str]]:
    """The facets of a record in the categories that can be listed."""
    for category, values in names_of(record).items():
        for value in facet_values(values):
            yield category, value


def names_of(record: PaperRecord) -> Mapping[FacetCategory, tuple[str, ...]]:
    """The names of a record by category, as it spells them."""
    return {
        "author": record.authors,
        "keyword": record.keywords,
        "institution": record.institutions,
        "tag": record.tags,
        "venue": (record.venue,) if record.venue else (),
    }


def top_facets(
    session: CorpusSession, category: FacetCategory, count: int
) -> list[tuple[str, int]]:
    """The most frequent values with their number of papers, remembered for this version."""
    answers, key = session.version.answers, ("top", category)
    if key not in answers:
        answers[key] = _FacetLists(session, category).top(MAX_LISTED)
    if count > MAX_LISTED:
        return _FacetLists(session, category).top(count)
    return list(answers[key][:count])


def spelled_facets(
    session: CorpusSession, category: FacetCategory, values: Iterable[str]
) -> list[str]:
    """Values as a paper that has them spells them: they are counted in lower case."""
    known: dict[str, str] = session.version.answers.setdefault(("spelled", category), {})
    for value in values:
        if value not in known:
            known[value] = _spelling(session, category, value)
    return [known[value] for value in values]


def _spelling(session: CorpusSession, category: FacetCategory, value: str) -> str:
    for segment, reader, number, _ in rows_with_value(session, category, value):
        rows = reader.all(
            "SELECT row, record FROM paper JOIN paper_facet USING (row) WHERE facet = ? "
            "ORDER BY row LIMIT ?",
            (number, _SPELLINGS_READ),
        )
        for row, record in rows:
            if row not in segment.deleted:
                names = names_of(decode_record(reader, record).record)[category]
                return next((name for name in names if facet_value(name) == value), value)
    return value


def facet_count(session: CorpusSession, category: FacetCategory, value: str) -> int:
    """How many papers have a value."""
    found = sum(_papers(reader, category, value) for _, reader in session.readers())
    return found - deleted_facets(session)[category, value]


def count_values(session: CorpusSession, category: FacetCategory) -> int:
    """How many different values a category has."""
    answers, key = session.version.answers, ("values", category)
    if key not in answers:
        counts = _distinct_in_files(session, category)
        gone = sum(
            1
            for (kind, value), number in deleted_facets(session).items()
            if kind == category
            and number >= sum(_papers(reader, category, value) for _, reader in session.readers())
        )
        answers[key] = counts - gone
    return int(answers[key])


def deleted_facets(session: CorpusSession) -> Counter[tuple[FacetCategory, str]]:
    """How often deleted rows have each value; they still count in their segments."""
    answers = session.version.answers
    if "deleted" not in answers:
        total: Counter[tuple[FacetCategory, str]] = Counter()
        for segment, reader in session.readers():
            if segment.deleted:
                total.update(_deleted_in(segment, reader))
        answers["deleted"] = total
    found: Counter[tuple[FacetCategory, str]] = answers["deleted"]
    return found


def rows_with_value(
    session: CorpusSession, category: FacetCategory, value: str
) -> Iterator[tuple[LiveSegment, SegmentReader, int, int]]:
    """The number of a value in every segment that has it, and its papers there."""
    for segment, reader in session.readers():
        found = reader.one(
            "SELECT number, papers FROM facet WHERE category = ? AND value = ?", (category, value)
        )
        if found is not None:
            yield segment, reader, found[0], found[1]


class _FacetLists:
    """The values of one category in every segment, each list most frequent first.

    Fagin's threshold algorithm: read the lists in parallel and add up every value met. What no list
    has shown yet has at most the sum of where the lists stand. Short lists are added up whole.
    """

    def __init__(self, session: CorpusSession, category: FacetCategory) -> None:
        self._readers = [reader for _, reader in session.readers()]
        self._category = category
        self._deleted = deleted_facets(session)
        self._in_short: dict[str, int] = {}
        self._counts: dict[str, int] = {}

    def top(self, count: int) -> list[tuple[str, int]]:
        sizes = [_size(reader, self._category) for reader in self._readers]
        is_little = sum(sizes) <= _FEW_ALTOGETHER
        short, long = list[SegmentReader](), list[SegmentReader]()
        for reader, size in zip(self._readers, sizes, strict=True):
            (short if is_little or size <= _FEW_VALUES else long).append(reader)
        self._in_short = self._add_up(short)
        for value in self._in_short if len(self._in_short) * len(long) <= _MAX_LOOKUPS else ():
            self._counts[value] = self._count(value, long)
        if long and not self._read_lists(long, count):
            whole = self._add_up(self._readers)
            self._counts = {
                value: papers - self._deleted[self._category, value]
                for value, papers in whole.items()
            }
        known = ((-papers, value) for value, papers in self._counts.items() if papers > 0)
        return [(value, -papers) for papers, value in heapq.nsmallest(count, known)]

    def _read_lists(self, long: Sequence[SegmentReader], count: int) -> bool:
        """Whether the best are known; not where too many values would have to be looked up."""
        if len(self._counts) < len(self._in_short):
            return False
        cursors = [_Cursor(reader, self._category) for reader in long]
        while len(self._counts) * len(long) <= _MAX_LOOKUPS:
            most = sum(cursor.most for cursor in cursors)
            best = heapq.nlargest(count, self._counts.values())
            if not most or (len(best) == count and best[-1] > most):
                return True
            for value in max(cursors, key=lambda cursor: cursor.most).next_page():
                if value not in self._counts:
                    self._counts[value] = self._count(value, long)
        return False

    def _count(self, value: str, long: Sequence[SegmentReader]) -> int:
        found = sum(_papers(reader, self._category, value) for reader in long)
        deleted = self._deleted[self._category, value]
        return found + self._in_short.get(value, 0) - deleted

    def _add_up(self, readers: Sequence[SegmentReader]) -> dict[str, int]:
        total: dict[str, int] = {}
        for reader in readers:
            for value, papers in reader.each(_VALUES, (self._category,)):
                total[value] = total.get(value, 0) + papers
        return total


class _Cursor:
    """A place in one list; `most` is what the values after it have at most."""

    def __init__(self, reader: SegmentReader, category: FacetCategory) -> None:
        self._rows = reader.each(
            "SELECT value, papers FROM facet WHERE category = ? ORDER BY papers DESC", (category,)
        )
        self._ahead = next(self._rows, None)

    @property
    def most(self) -> int:
        return 0 if self._ahead is None else int(self._ahead[1])

    def next_page(self) -> list[str]:
        values: list[str] = []
        while self._ahead is not None and len(values) < _PAGE:
            values.append(self._ahead[0])
            self._ahead = next(self._rows, None)
        return values


_VALUES = "SELECT value, papers FROM facet WHERE category = ?"


def _papers(reader: SegmentReader, category: FacetCategory, value: str) -> int:
    found = reader.one(
        "SELECT papers FROM facet WHERE category = ? AND value = ?", (category, value)
    )
    return 0 if found is None else int(found[0])


def _deleted_in(segment: LiveSegment, reader: SegmentReader) -> Counter[tuple[FacetCategory, str]]:
    """Kept with the file, since a newer manifest only adds to what is deleted in it."""
    with segment.file.counting:
        rows, counts = segment.file.deleted_facets
        if not rows <= segment.deleted:
            rows, counts = frozenset(), Counter()
        new = sorted(segment.deleted - rows)
        if new:
            counts = counts.copy()
            for (record,) in reader.each(
                "SELECT record FROM paper WHERE row IN (SELECT value FROM json_each(?))",
                (json.dumps(new),),
            ):
                counts.update(record_facets(decode_record(reader, record).record))
            segment.file.deleted_facets = (segment.deleted, counts)
        return counts


def _distinct_in_files(session: CorpusSession, category: FacetCategory) -> int:
    """How many values the files have, deleted rows included; only new segments are looked at."""
    known: dict[object, int] = session.version.shared.setdefault("distinct", {})
    names = tuple(segment.name for segment in session.version.segments)
    readers = [reader for _, reader in session.readers()]
    sizes = [_size(reader, category) for reader in readers]
    done = next((size for size in range(len(names), 0, -1) if (category, names[:size]) in known), 0)
    if not done or sum(sizes[done:]) > _FEW_VALUES:
        merged = heapq.merge(*(_sorted_values(reader, category) for reader in readers))
        total = sum(1 for _ in groupby(merged))
    else:
        total = known[category, names[:done]]
        new = {value for reader in readers[done:] for value in _sorted_values(reader, category)}
        total += sum(
            not any(_papers(reader, category, value) for reader in readers[:done]) for value in new
        )
    if len(known) >= _MAX_REMEMBERED:
        known.clear()
    known[category, names] = total
    return total


def _size(reader: SegmentReader, category: FacetCategory) -> int:
    """How many values a segment has; counted once, since it never changes."""
    known = reader.file.facet_sizes
    if category not in known:
        found = reader.one("SELECT count(*) FROM facet WHERE category = ?", (category,))
        known[category] = 0 if found is None else int(found[0])
    return known[category]


def _sorted_values(reader: SegmentReader, category: FacetCategory) -> Iterator[str]:
    rows = reader.each("SELECT value FROM facet WHERE category = ? ORDER BY value", (category,))
    return (value for (value,) in rows)
