"""Literature services as the research room asks them; what they find joins the corpus."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.core.caller import Call
from carrel.core.errors import CarrelError, InsufficientPermissionsError, NotConfiguredError
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.rooms.literature.ports import ServiceSearchRequest
from carrel.rooms.research.outside_models import AskedService
from carrel.rooms.research.ports import AddedPapers, FoundOutside, OutsideAnswer
from carrel.wiring.desk_works import AdditionsAtHand, CorpusAtHand

if TYPE_CHECKING:
    from carrel.libraries.literature.records import MergedWork
    from carrel.wiring.papers import OpenCorpus

_SCOPES = frozenset({"literature:read", "papers:write"})
# Works of the last searches, until they are added or not.
_MOST_REMEMBERED = 2_000


@dataclass(slots=True)
class LiteratureForResearch:
    """The literature room's search for runs, and the papers room's additions."""

    corpus: OpenCorpus
    _found: OrderedDict[str, MergedWork] = field(default_factory=OrderedDict)

    def require_allowed(self, call: Call) -> None:
        search = self.corpus.links.literature.search
        if search is None:
            raise NotConfiguredError(
                "The literature room is not open, so nothing outside can be asked.",
                next_step="Open it with --rooms or the setting rooms.",
            )
        if not search.is_network_allowed:
            raise NetworkForbiddenError
        if not call.caller.scopes >= _SCOPES:
            raise InsufficientPermissionsError(_SCOPES, call.caller.scopes)

    async def search(self, query: str, owner: str, limit: int) -> OutsideAnswer:
        search = self.corpus.links.literature.search
        if search is None:
            raise NotConfiguredError("The literature room is not open any more.")
        found = await search.find(ServiceSearchRequest(parse_paper_query(query), limit=limit))
        works = [work for work in found.works if work.copy_of is None][:limit]
        for work in works:
            self._found[_key(work)] = work
        while len(self._found) > _MOST_REMEMBERED:
            self._found.popitem(last=False)
        return OutsideAnswer(
            tuple(
                FoundOutside(
                    _key(work),
                    work.work.title,
                    work.work.abstract,
                    work.work.year,
                    work.work.ids.doi,
                    work.work.is_retracted,
                )
                for work in works
            ),
            tuple(
                AskedService(
                    service=line.service,
                    outcome=line.state,
                    reason=line.reason,
                    returned=line.returned or 0,
                    asked_as=line.query,
                )
                for line in found.coverage.lines(found.new)
            ),
        )

    async def add_to_corpus(self, keys: Sequence[str], owner: str) -> AddedPapers:
        # Imported here: most runs never look outside.
        from carrel.libraries.literature.csl_items import work_as_csl
        from carrel.rooms.literature.additions import csl_document

        works = [self._found[key] for key in keys if key in self._found]
        if not works:
            return AddedPapers({})
        known = await self._find_papers(works)
        missing = [work for work in works if _key(work) not in known]
        problem = ""
        if missing:
            items = [{**work_as_csl(work), "id": f"found-{at}"} for at, work in enumerate(missing)]
            content = csl_document(*items)
            try:
                await AdditionsAtHand(self.corpus).add_content(content, ".json", owner)
            except CarrelError as error:
                problem = f"What was found could not be added to the corpus: {error.message}"
        papers = await self._find_papers(works)
        added = [paper for key, paper in papers.items() if key not in known]
        return AddedPapers(papers, tuple(dict.fromkeys(added)), problem)

    async def _find_papers(self, works: Sequence[MergedWork]) -> dict[str, str]:
        """The papers of the corpus by the keys of works; a work without identifiers has none."""
        from carrel.rooms.literature.desk_works import list_keys

        keys = {_key(work): list_keys(work.work.ids) for work in works}
        wanted = [key for several in keys.values() for key in several]
        papers = await CorpusAtHand(self.corpus).find_by_keys(wanted) if wanted else {}
        return {
            name: papers[first]
            for name, several in keys.items()
            if (first := next((key for key in several if key in papers), None)) is not None
        }


def _key(work: MergedWork) -> str:
    keys = work.work.ids.keys()
    return keys[0] if keys else f"title:{work.work.title}"
