"""Works that papers cite and the corpus does not have, told apart by the keys of citations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from carrel.libraries.works.cited_works import CitedWork
from carrel.rooms.papers.citation_models import MissingWork
from carrel.rooms.papers.citations import describe_work
from carrel.stores.corpus.citation_keys import ReferenceKeyRow, agrees, reference_rows
from carrel.stores.corpus.citation_lookups import link_references, list_references
from carrel.stores.corpus.folder import CorpusSession
from carrel.stores.corpus.papers import FoundPaper


def find_missing_works(
    session: CorpusSession, papers: Sequence[FoundPaper], count: int
) -> tuple[list[MissingWork], int]:
    """The works that most of these papers cite, and how many there are. Those without a key are
    told apart by nothing and left out.
    """
    groups = _Groups()
    for paper in papers:
        works = list_references(session, paper) or ()
        for link in link_references(session, paper, works):
            if link.resolution.row is None and not link.resolution.candidates:
                groups.add(paper.row, link.work)
    found = groups.most_cited()
    return [_describe(work, citing) for work, citing in found[:count]], len(found)


class _Groups:
    """Entries of several lists, those of one work together."""

    def __init__(self) -> None:
        self._works: list[CitedWork] = []
        self._citing: list[set[int]] = []
        self._by_hash: dict[int, list[tuple[ReferenceKeyRow, int]]] = defaultdict(list)

    def add(self, row: int, work: CitedWork) -> None:
        keys = reference_rows(1, work)
        if not keys:
            return
        place = self._find(keys)
        if place is None:
            place = len(self._works)
            self._works.append(work)
            self._citing.append(set())
        elif _fullness(work) > _fullness(self._works[place]):
            self._works[place] = work
        self._citing[place].add(row)
        for key in keys:
            known = self._by_hash[key.hash]
            if not any(other == key and at == place for other, at in known):
                known.append((key, place))

    def most_cited(self) -> list[tuple[CitedWork, int]]:
        cited = [(work, len(rows)) for work, rows in zip(self._works, self._citing, strict=True)]
        return sorted(cited, key=lambda each: -each[1])

    def _find(self, keys: Sequence[ReferenceKeyRow]) -> int | None:
        for key in keys:
            for other, place in self._by_hash.get(key.hash, ()):
                if agrees(key, other):
                    return place
        return None


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
