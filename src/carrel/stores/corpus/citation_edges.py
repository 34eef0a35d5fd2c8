"""The whole citation graph of a version of a corpus, loaded once and kept with it."""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from carrel.libraries.works.citation_graph import CitationGraph
from carrel.stores.corpus.citation_keys import (
    ANOTHER_WORK,
    BY_UNDATED_TITLE,
    IN_DOUBT,
    VERSION_NUMBER,
)
from carrel.stores.corpus.citation_matches import Matches, match_cache
from carrel.stores.corpus.folder import CorpusSession


class CorpusGraph:
    """Works are numbered from 0; the versions of one work are one node.

    `rows` are all rows in ascending order, `works` the work of each.
    """

    def __init__(
        self, rows: array[int], works: array[int], graph: CitationGraph, ambiguous: int
    ) -> None:
        self.graph = graph
        self.ambiguous = ambiguous
        self._rows = rows
        self._works = works
        self._members = _group_rows(rows, works, graph.node_count)
        self._ranks: array[float] | None = None
        self._lock = threading.Lock()

    def work_of(self, row: int) -> int:
        """The work of a row that counts. KeyError for any other row."""
        place = bisect_left(self._rows, row)
        if place == len(self._rows) or self._rows[place] != row:
            raise KeyError(row)
        return self._works[place]

    def rows_of(self, work: int) -> Sequence[int]:
        """The rows of all versions of a work, in ascending order."""
        starts, members = self._members
        return members[starts[work] : starts[work + 1]]

    def ranks(self) -> array[float]:
        """PageRank of every work."""
        with self._lock:
            if self._ranks is None:
                self._ranks = self.graph.rank_pages()
            return self._ranks


def load_graph(session: CorpusSession) -> CorpusGraph:
    """The graph of the version that is read; several who ask at once wait for one loading."""
    version = session.version
    lock = version.shared.setdefault("citation graph lock", threading.Lock())
    with lock:
        if "citation graph" not in version.answers:
            version.answers["citation graph"] = _load(session)
        graph: CorpusGraph = version.answers["citation graph"]
        return graph


def _load(session: CorpusSession) -> CorpusGraph:
    rows = array("q", sorted(_live_rows(session)))
    places = {row: place for place, row in enumerate(rows)}
    matches = match_cache(session).load(session)
    groups = _Groups(len(rows))
    for found in matches.values():
        for each in found:
            for row, number, _, other in each.each():
                if number == VERSION_NUMBER and row in places and other in places:
                    groups.join(places[row], places[other])
    works, work_count = groups.number_groups()
    citing, cited = array("i"), array("i")
    ambiguous = 0
    for found in matches.values():
        for row, targets in _resolve(found, places, works):
            if len(targets) != 1:
                ambiguous += 1
                continue
            citing.append(works[places[row]])
            cited.append(targets.pop())
    return CorpusGraph(rows, works, CitationGraph(work_count, citing, cited), ambiguous)


def _resolve(
    found: Sequence[Matches], places: dict[int, int], works: array[int]
) -> Iterator[tuple[int, set[int]]]:
    """For each reference that meets any work, the works among which its strongest key decides.

    None where the reference may be one of them, but nothing makes it sure.
    """
    live = sorted(
        match
        for each in found
        for match in each.each()
        if match[1] != VERSION_NUMBER and match[0] in places and match[3] in places
    )
    for (row, _), several in groupby(live, key=itemgetter(0, 1)):
        matched = list(several)
        strongest = matched[0][2]
        if strongest == BY_UNDATED_TITLE:
            yield row, {works[places[match[3]]] for match in matched}
        elif strongest == IN_DOUBT:
            yield row, set()
        elif strongest != ANOTHER_WORK:
            yield row, {works[places[match[3]]] for match in matched if match[2] == strongest}


class _Groups:
    """Union-find over places."""

    def __init__(self, count: int) -> None:
        self._parents = array("i", range(count))

    def join(self, one: int, other: int) -> None:
        first, second = self._root(one), self._root(other)
        if first != second:
            self._parents[max(first, second)] = min(first, second)

    def number_groups(self) -> tuple[array[int], int]:
        """The number of the group of each place, from 0, and how many there are."""
        numbers, count = array("i"), 0
        for place in range(len(self._parents)):
            root = self._root(place)
            if root == place:
                numbers.append(count)
                count += 1
            else:
                numbers.append(numbers[root])
        return numbers, count

    def _root(self, place: int) -> int:
        parents = self._parents
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place


def _live_rows(session: CorpusSession) -> Iterator[int]:
    for segment, reader in session.readers():
        for (row,) in reader.each("SELECT row FROM paper"):
            if row not in segment.deleted:
                yield row


def _group_rows(
    rows: Iterable[int], works: Sequence[int], count: int
) -> tuple[array[int], array[int]]:
    """Rows by work: where those of a work start, and all of them."""
    by_work = sorted(zip(works, rows, strict=True))
    starts, members = array("q", bytes(8 * (count + 1))), array("q")
    for work, row in by_work:
        members.append(row)
        starts[work + 1] += 1
    for work in range(count):
        starts[work + 1] += starts[work]
    return starts, members
