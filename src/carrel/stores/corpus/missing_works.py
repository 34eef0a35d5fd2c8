"""Works that papers cite and the corpus does not have, told apart by the keys of citations."""

from __future__ import annotations

from collections.abc import Sequence, Set

from carrel.libraries.works.cited_works import CitedWork
from carrel.rooms.papers.citation_models import MissingWork
from carrel.rooms.papers.citation_ports import MissingWorks
from carrel.rooms.papers.citations import describe_work
from carrel.stores.corpus.citation_keys import (
    HAS_FINAL_DOI,
    YEARS_APART,
    ReferenceKeyRow,
    is_title,
    reference_rows,
)
from carrel.stores.corpus.citation_lookups import list_references, resolve_works
from carrel.stores.corpus.folder import CorpusSession
from carrel.stores.corpus.papers import FoundPaper


def find_missing_works(
    session: CorpusSession, papers: Sequence[FoundPaper], count: int
) -> MissingWorks:
    """The works that most of these papers cite, and how many there are.

    Entries without any key cannot be told apart and are left out.
    """
    # The pages of one answer ask for the same papers one after the other.
    answers, rows = session.version.answers, tuple(paper.row for paper in papers)
    known = answers.get("missing works")
    if known is None or known[0] != rows:
        known = answers["missing works"] = (rows, _count_missing(session, papers))
    found, doubtful = known[1]
    works = tuple(_describe(work, citing) for work, citing in found[:count])
    return MissingWorks(works, len(found), doubtful)


def _count_missing(
    session: CorpusSession, papers: Sequence[FoundPaper]
) -> tuple[list[tuple[CitedWork, int]], int]:
    """Works with how many of the papers cite them, the most cited first; and works in doubt.

    A work that any of its entries leads to or may lead to in the corpus is not missing.
    """
    groups = _Groups()
    for paper in papers:
        for work in list_references(session, paper) or ():
            groups.add(paper.row, work)
    entries = groups.entries()
    resolved = resolve_works(session, [work for _, work in entries], set())
    met = list(zip((place for place, _ in entries), resolved, strict=True))
    here = {place for place, found in met if found.row is not None}
    doubtful = {place for place, found in met if found.candidates} - here
    return groups.most_cited(here | doubtful), len(doubtful)


class _Groups:
    """Entries of several lists, those of one work together."""

    def __init__(self) -> None:
        self._works: list[CitedWork] = []
        self._citing: list[set[int]] = []
        self._places: dict[tuple[int, int, int, int], int] = {}
        self._entries: list[tuple[int, CitedWork]] = []

    def add(self, row: int, work: CitedWork) -> None:
        keys = reference_rows(1, work)
        if not keys:
            return
        place = next((at for key in keys if (at := self._find(key)) is not None), None)
        if place is None:
            place = len(self._works)
            self._works.append(work)
            self._citing.append(set())
        elif _fullness(work) > _fullness(self._works[place]):
            self._works[place] = work
        self._citing[place].add(row)
        signatures = [_signature(key) for key in keys]
        if any(each not in self._places for each in signatures):
            self._entries.append((place, work))
        for each in signatures:
            self._places.setdefault(each, place)

    def entries(self) -> list[tuple[int, CitedWork]]:
        """Entries that differ in their keys, each with the place of its work."""
        return self._entries

    def most_cited(self, without: Set[int]) -> list[tuple[CitedWork, int]]:
        """Works with how many papers cite them, but for those at some places."""
        cited = [
            (work, len(rows))
            for place, (work, rows) in enumerate(zip(self._works, self._citing, strict=True))
            if place not in without
        ]
        return sorted(cited, key=lambda each: -each[1])

    def _find(self, key: ReferenceKeyRow) -> int | None:
        """The group of an entry whose key agrees, as `agrees` says."""
        if not is_title(key.hash):
            return self._places.get(_signature(key))
        finals = (0,) if key.flags & HAS_FINAL_DOI else (0, HAS_FINAL_DOI)
        years = range(key.year - YEARS_APART, key.year + YEARS_APART + 1) if key.year else (0,)
        near = ((key.hash, year, key.person, final) for year in years for final in finals)
        return next((self._places[each] for each in near if each in self._places), None)


def _signature(key: ReferenceKeyRow) -> tuple[int, int, int, int]:
    final = key.flags & HAS_FINAL_DOI if is_title(key.hash) else 0
    return key.hash, key.year, key.person, final


def _fullness(work: CitedWork) -> int:
    """How much an entry says, identifiers first."""
    return 4 * bool(work.doi) + 2 * bool(work.title) + bool(work.year)


def _describe(work: CitedWork, citing: int) -> MissingWork:
    return MissingWork(
        cited_by=citing,
        text=describe_work(work),
        title=work.title,
        year=work.year,
        doi=work.doi,
        arxiv_id=work.arxiv_id,
        pmid=work.pmid,
    )
