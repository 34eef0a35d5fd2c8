"""Which found works the desk already has: by identifiers, else by likeness."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from carrel.core.caller import Call
from carrel.core.errors import CarrelError
from carrel.libraries.identifiers import ArxivId, Doi, Pmcid, Pmid, identifier_keys, parse_or_none
from carrel.libraries.literature.csl_items import work_as_csl
from carrel.libraries.literature.records import MergedWork, WorkIds, WorkRecord
from carrel.libraries.works.comparison import LinkVerdict, compare
from carrel.libraries.works.work import Work, first_page_of
from carrel.rooms.literature.desk_ports import DeskCorpus, DeskLibraries
from carrel.rooms.literature.work_views import Kept, author_name

READ_PAPERS = "papers:read"
READ_REFERENCES = "references:read"


class DeskWorks:
    """Marks works that corpus or library have, for callers who may read them."""

    def __init__(self, corpus: DeskCorpus, libraries: DeskLibraries) -> None:
        self._corpus = corpus
        self._libraries = libraries

    async def mark(self, works: Sequence[MergedWork], call: Call) -> tuple[list[Kept], list[str]]:
        """Where the desk has each work, and sentences on what could not be looked at."""
        remarks: list[str] = []
        papers: list[tuple[str | None, tuple[str | None, ...]]]
        references: list[tuple[str | None, tuple[str | None, ...]]]
        papers = references = [(None, (None,) * len(each.versions)) for each in works]
        if READ_PAPERS in call.caller.scopes:
            try:
                papers = await self._find_papers(works)
            except CarrelError as error:
                remarks.append(f"Not looked at what the corpus has: {error.message}")
        else:
            remarks.append("Not looked at what the corpus has: papers:read is missing")
        if READ_REFERENCES in call.caller.scopes:
            try:
                references = await self._find_references(works, call)
            except CarrelError as error:
                remarks.append(f"Not looked at what the library has: {error.message}")
        else:
            remarks.append("Not looked at what the library has: references:read is missing")
        kept = [
            Kept(paper, reference, tuple(zip(paper_versions, reference_versions, strict=True)))
            for (paper, paper_versions), (reference, reference_versions) in zip(
                papers, references, strict=True
            )
        ]
        return kept, remarks

    async def _find_papers(
        self, works: Sequence[MergedWork]
    ) -> list[tuple[str | None, tuple[str | None, ...]]]:
        keys = {
            ids: list_keys(ids)
            for found in works
            for ids in (found.work.ids, *(version.ids for version in found.versions))
        }
        wanted = list(dict.fromkeys(key for several in keys.values() for key in several))
        known = await self._corpus.find_by_keys(wanted) if wanted else {}
        own = await asyncio.gather(
            *(self._find_paper(found.work, keys[found.work.ids], known) for found in works)
        )
        return [
            (paper_id, tuple(_first(keys[version.ids], known) for version in found.versions))
            for paper_id, found in zip(own, works, strict=True)
        ]

    async def _find_paper(
        self, work: WorkRecord, keys: Sequence[str], known: Mapping[str, str]
    ) -> str | None:
        return _first(keys, known) or await self._find_alike(work)

    async def _find_alike(self, work: WorkRecord) -> str | None:
        """The paper that linkage takes for the same work."""
        if not work.title:
            return None
        own = linkage_work(work)
        for candidate in await self._corpus.find_like(work.title):
            if compare(own, candidate.work).verdict is LinkVerdict.SAME:
                return candidate.paper_id
        return None

    async def _find_references(
        self, works: Sequence[MergedWork], call: Call
    ) -> list[tuple[str | None, tuple[str | None, ...]]]:
        items = [
            item
            for found in works
            for item in (
                work_as_csl(found.work),
                *(work_as_csl(WorkRecord(ids=version.ids)) for version in found.versions),
            )
        ]
        known = iter(await self._libraries.find_known(items, call.caller) if items else ())
        return [(next(known), tuple(next(known) for _ in found.versions)) for found in works]


def list_keys(ids: WorkIds) -> tuple[str, ...]:
    """The keys under which the corpus may know a work."""
    found = (
        parse_or_none(Doi, ids.doi),
        parse_or_none(ArxivId, ids.arxiv),
        parse_or_none(Pmid, ids.pmid),
        parse_or_none(Pmcid, ids.pmcid),
    )
    return tuple(key for each in found if each is not None for key in identifier_keys(each))


def linkage_work(work: WorkRecord) -> Work:
    """A record as linkage compares it."""
    return Work(
        title=work.title,
        people=tuple(author_name(author) for author in work.authors),
        year=work.year,
        doi=work.ids.doi,
        arxiv_id=work.ids.arxiv,
        pmid=work.ids.pmid,
        isbn=work.ids.isbn,
        venue=work.venue.name or None,
        volume=work.volume or None,
        first_page=first_page_of(work.pages),
        kind=work.kind,
    )


def _first(keys: Sequence[str], known: Mapping[str, str]) -> str | None:
    return next((known[key] for key in keys if key in known), None)
