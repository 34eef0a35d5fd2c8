"""References and papers of whole segments that have a key in common, joined by SQLite.

What two segments have in common never changes, so it is kept by their names: a new manifest joins
only its new segments with the others.
"""

from __future__ import annotations

import sqlite3
import threading
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from carrel.stores.corpus.citation_keys import (
    ANOTHER_WORK,
    BY_TITLE,
    BY_UNDATED_TITLE,
    HAS_FINAL_DOI,
    IN_DOUBT,
    IS_OPENALEX,
    IS_OTHER_VERSION,
    IS_SHORT_TITLE,
    LINK_KINDS,
    YEARS_APART,
    hash_key,
)
from carrel.stores.corpus.citation_lookups import has_citations
from carrel.stores.corpus.folder import CorpusSession, LiveSegment
from carrel.stores.corpus.schema import RECORDS_NAME

# `meet` of citation_keys.py, in SQL: only what is joined comes to Python.
_IS_OTHER = f"""((r.flags & w.flags & {HAS_FINAL_DOI})
    OR (r.year AND w.year AND abs(r.year - w.year) > {YEARS_APART}))"""
_AGREES = f"""((r.hash & 3) <> 3 OR (r.person = w.person AND r.person <> 0)
    OR ((r.person = 0 OR w.person = 0) AND NOT (r.flags & {IS_SHORT_TITLE}) AND NOT {_IS_OTHER}))"""
_KIND = f"""CASE WHEN w.flags & {IS_OTHER_VERSION} THEN {LINK_KINDS.index("version")}
    WHEN (r.hash & 3) = 0 THEN {LINK_KINDS.index("doi")}
    WHEN w.flags & {IS_OPENALEX} THEN {LINK_KINDS.index("openalex")}
    WHEN (r.hash & 3) <> 3 THEN (r.hash & 3) + 1
    WHEN r.person = 0 OR w.person = 0 THEN {IN_DOUBT}
    WHEN {_IS_OTHER} THEN {ANOTHER_WORK}
    WHEN r.year AND w.year THEN {BY_TITLE}
    WHEN (r.year OR w.year) AND NOT (r.flags & {IS_SHORT_TITLE}) THEN {BY_UNDATED_TITLE}
    ELSE {IN_DOUBT} END"""
_JOIN = "SELECT r.row, r.number, {kind}, w.row FROM {tables} WHERE {agrees} AND r.row <> w.row"
_FROM_WORKS = "{works} w CROSS JOIN refs.reference_key r ON r.hash = w.hash"
_FROM_REFERENCES = "refs.reference_key r CROSS JOIN {works} w ON w.hash = r.hash"
# A reference list is about so much longer than the list of a paper's own keys.
_REFERENCES_PER_KEY = 20


@dataclass(frozen=True, slots=True)
class Matches:
    """Columns: the citing row, the number in its list, the kind of link, and the cited row.

    The number 0 is no reference: the two rows are versions of one work.
    """

    rows: array[int]
    numbers: array[int]
    kinds: array[int]
    cited: array[int]

    def __len__(self) -> int:
        return len(self.rows)

    def each(self) -> Iterator[tuple[int, int, int, int]]:
        return zip(self.rows, self.numbers, self.kinds, self.cited, strict=True)


class MatchCache:
    """Matches of pairs of segments, by the names of the citing and the cited one."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Matches] = {}
        self._lock = threading.Lock()

    def load(self, session: CorpusSession) -> dict[str, list[Matches]]:
        """All matches of a version of the corpus, by the name of the citing segment."""
        segments = session.version.segments
        citing = [segment for segment in segments if has_citations(segment)]
        with self._lock, closing(sqlite3.connect(":memory:", uri=True)) as connection:
            known = {
                (one.name, other.name): self._known[one.name, other.name]
                for one in citing
                for other in segments
                if (one.name, other.name) in self._known
            }
            for one in citing:
                missing = [other for other in segments if (one.name, other.name) not in known]
                with _attached(connection, one, "refs"):
                    for other in missing:
                        known[one.name, other.name] = _join(connection, one, other)
            self._known = known
        return {one.name: [known[one.name, each.name] for each in segments] for one in citing}


def match_cache(session: CorpusSession) -> MatchCache:
    """The cache of the corpus folder that a session reads."""
    found: MatchCache = session.version.shared.setdefault("citation matches", MatchCache())
    return found


@contextmanager
def _attached(connection: sqlite3.Connection, segment: LiveSegment, name: str) -> Iterator[None]:
    """The records of a segment under a name. SegmentGoneError where they are not there any more."""
    segment.file.check_present()
    file = (segment.file.folder / RECORDS_NAME).absolute().as_uri()
    with _translated(segment):
        connection.execute(f"ATTACH ? AS {name}", (f"{file}?mode=ro&immutable=1",))
    try:
        yield
    finally:
        # After a failure SQLite may still hold it; the connection is closed then.
        with suppress(sqlite3.Error):
            connection.execute(f"DETACH {name}")


@contextmanager
def _translated(segment: LiveSegment) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        segment.file.check_present()
        raise segment.file.damaged() from error


def _join(connection: sqlite3.Connection, one: LiveSegment, other: LiveSegment) -> Matches:
    if not has_citations(other):
        with _keys_of_first_format(connection, other) as works:
            return _query(connection, one, other, works)
    with _attached(connection, other, "works"):
        return _query(connection, one, other, "works.work_key")


def _query(
    connection: sqlite3.Connection, one: LiveSegment, other: LiveSegment, works: str
) -> Matches:
    has_few_references = one.papers * _REFERENCES_PER_KEY < other.papers
    tables = (_FROM_REFERENCES if has_few_references else _FROM_WORKS).format(works=works)
    found = Matches(array("q"), array("i"), array("b"), array("q"))
    with _translated(one):
        for row, number, kind, cited in connection.execute(
            _JOIN.format(kind=_KIND, tables=tables, agrees=_AGREES)
        ):
            found.rows.append(row)
            found.numbers.append(number)
            found.kinds.append(kind)
            found.cited.append(cited)
    return found


@contextmanager
def _keys_of_first_format(connection: sqlite3.Connection, segment: LiveSegment) -> Iterator[str]:
    """Works of a segment without tables of citations: their DOIs and arXiv ids alone."""
    connection.execute(
        "CREATE TEMP TABLE older (hash, row, year, person, flags, PRIMARY KEY (hash, row))"
    )
    try:
        with segment.file.reading() as reader:
            rows: Sequence[Any] = reader.all(
                "SELECT key, row FROM paper_key WHERE kind IN ('doi', 'arxiv')"
            )
        connection.executemany(
            "INSERT OR IGNORE INTO older VALUES (?, ?, 0, 0, 0)",
            ((hash_key(key), row) for key, row in rows),
        )
        yield "temp.older"
    finally:
        connection.execute("DROP TABLE older")
