"""The operations of the literature room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Job
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.literature.addition_job import WorkAdditions
from carrel.rooms.literature.addition_models import AddWorks, WorksAdded
from carrel.rooms.literature.models import (
    FoundLiterature,
    FoundWork,
    GetWork,
    SearchLiterature,
    WholeWork,
)
from carrel.rooms.literature.service import Literature

READ = frozenset({"literature:read"})


def _quoted_work(work: FoundWork) -> QuotedSource:
    return QuotedSource("work", work.id, work.title)


def _found_works(
    arguments: Mapping[str, Any], answer: FoundLiterature, caller: Caller
) -> Iterable[QuotedSource]:
    return [_quoted_work(work) for work in answer.works]


def _one_work(
    arguments: Mapping[str, Any], answer: WholeWork, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("work", answer.id, answer.title)]


def _kept_works(
    arguments: Mapping[str, Any], answer: WorksAdded, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("work", work.identifier, work.title) for work in answer.works]


class LiteratureOperations:
    """Searching, looking up and keeping works from outside, over the room's service."""

    def __init__(self, literature: Literature, additions: WorkAdditions) -> None:
        self._literature = literature
        self._additions = additions

    @operation(
        title="Search literature",
        description=(
            "Works that services outside know (OpenAlex, PubMed, arXiv …), merged, best first, "
            "marked where corpus or library has them. Query as in search_papers. coverage says "
            "who answered, failed, cost."
        ),
        scopes=READ,
        reaches_outside=True,
        cost=5.0,
        timeout_seconds=120.0,
        quotes=_found_works,
        command="search",
        next_command="carrel literature add ID --into library keeps one.",
        phrases=(
            "find literature that I do not have; search PubMed, arXiv or OpenAlex; search PubMed "
            "for …; trials on … in PubMed; search the literature outside the corpus; look for new "
            "papers on the internet; look on arXiv for new preprints about …; what has been "
            "published elsewhere on …; find papers on the web about …; search online databases; "
            "newer works that the corpus lacks"
        ),
    )
    async def search_literature(self, question: SearchLiterature, call: Call) -> FoundLiterature:
        return await self._literature.search(question, call)

    @operation(
        title="Get a work from outside",
        description=(
            "One work by any identifier, merged over all services that know it: the whole record, "
            "which service gave each field, versions, notices and places of texts."
        ),
        scopes=READ,
        reaches_outside=True,
        cost=3.0,
        timeout_seconds=120.0,
        quotes=_one_work,
        command="show",
        next_command="carrel literature add ID --into library keeps it.",
        name_alone="get",
        is_listed=False,
        phrases=(
            "look up a DOI outside; what do the services say about this DOI; details of a work by "
            "its PubMed number; full record of a paper that I do not have; who cites how often by "
            "OpenAlex; look up this arXiv id; metadata of a DOI from Crossref; is this DOI right; "
            "which work is this identifier; has this preprint been published; look up a work by "
            "ISBN, PMCID or OpenAlex id"
        ),
    )
    async def get_work(self, question: GetWork, call: Call) -> WholeWork:
        return await self._literature.get(question, call)

    @operation(
        title="Keep works from outside",
        description=(
            "Adds works found outside to corpus, library or both, by identifier or by the id of a "
            "found work; with_fulltext fetches open texts. Answers what became of each; long work "
            "goes on as job_id."
        ),
        scopes=READ,
        effect=Effect.WRITES,
        is_idempotent=True,
        reaches_outside=True,
        cost=5.0,
        timeout_seconds=120.0,
        quotes=_kept_works,
        command="add",
        next_command="carrel references list shows the library, carrel papers search the corpus.",
        name_alone="add",
        is_listed=False,
        phrases=(
            "keep these search results; add found works to my library; put the found papers into "
            "the corpus; save what was found outside; import results of a literature search; add "
            "several DOIs to corpus and library at once; download the found papers with their "
            "full texts; keep this paper that search_literature found"
        ),
    )
    async def add_works(self, question: AddWorks, call: Call) -> WorksAdded | Job:
        return await self._additions.add(question, call)
