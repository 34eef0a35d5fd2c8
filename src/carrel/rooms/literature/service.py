"""The service of the literature room: one question, many services, one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.core.caller import Call
from carrel.core.errors import InvalidInputError
from carrel.core.work_notices import NoNotices, NoticesAbout
from carrel.libraries.literature.records import MergedWork
from carrel.libraries.literature.work_names import list_identifiers
from carrel.libraries.query.papers import PaperQuery, parse_paper_query
from carrel.libraries.text.snippets import Marker
from carrel.rooms.literature.asking import Failed
from carrel.rooms.literature.coverage import join_names, raise_unavailable
from carrel.rooms.literature.desk_works import DeskWorks
from carrel.rooms.literature.errors import WorkNotKnownError
from carrel.rooms.literature.lookup import LiteratureLookup, read_name
from carrel.rooms.literature.models import (
    MAX_DEPTH,
    FoundLiterature,
    GetWork,
    SearchLiterature,
    ServiceCoverage,
    WholeWork,
)
from carrel.rooms.literature.ports import ServiceSearchRequest
from carrel.rooms.literature.search import FoundWorks, LiteratureSearch
from carrel.rooms.literature.work_notices import add_stored_notices
from carrel.rooms.literature.work_views import found_work, name_work, whole_work

# Records asked of each service, by how deep the page lies. Pages of one depth are cut from one
# ranking, so that no work appears on two of them; services charge by the question, not the record.
_DEPTHS = (50, 100, MAX_DEPTH)
_MOST_SEEN = 1_000
# Longer lists go without snippets: an answer has room for about so many.
_MOST_SNIPPETS = 25


@dataclass(frozen=True, slots=True)
class MergedLookup:
    """A work that at least one service has."""

    work: MergedWork
    coverage: Sequence[ServiceCoverage]
    failures: Sequence[Failed]
    # Services as people write them.
    titles: Mapping[str, str]


class Literature:
    """Answers searches of callers, with marks for what the desk already has."""

    def __init__(
        self,
        search: LiteratureSearch,
        lookup: LiteratureLookup,
        desk: DeskWorks,
        notices: NoticesAbout | None = None,
    ) -> None:
        self._notices = notices or NoNotices()
        self._search = search
        self._lookup = lookup
        self._desk = desk
        self._seen: dict[str, MergedWork] = {}

    async def search(self, question: SearchLiterature, call: Call) -> FoundLiterature:
        """What the services have; raises as LiteratureSearch.find does."""
        query = _parse_query(question.query)
        request = ServiceSearchRequest(
            query,
            limit=_depth(question.page, question.limit),
            order=question.order,
            includes_preprints=question.include_preprints,
        )
        found = await self._search.find(request, question.services)
        first = (question.page - 1) * question.limit
        page = found.works[first : first + question.limit]
        works = await add_stored_notices(page, self._notices)
        unchecked = found.unchecked[first : first + question.limit]
        self._remember(works)
        kept, remarks = await self._desk.mark(works, call)
        marker = Marker(query.phrases)
        total = len(found.works)
        return FoundLiterature(
            message=_describe(found, question, total),
            outcome=_outcome(found),
            total=total,
            page=question.page,
            limit=question.limit,
            works=[
                found_work(
                    work,
                    marker,
                    kept[at],
                    unchecked[at],
                    has_snippet=len(works) <= _MOST_SNIPPETS,
                    has_origins=question.origins,
                )
                for at, work in enumerate(works)
            ],
            coverage=found.coverage.lines(found.new),
            notices=[*query.notices, *remarks],
        )

    def _remember(self, works: Sequence[MergedWork]) -> None:
        """Keep found works for a while that only their service's own name leads back to."""
        for work in works:
            name = name_work(work.work.ids, work.records)
            if not list_identifiers(work.work.ids):
                self._seen[name] = work
        for name in list(self._seen)[:-_MOST_SEEN]:
            del self._seen[name]

    async def get(self, question: GetWork, call: Call) -> WholeWork:
        """One work with all that is known of it.

        Raises WorkNotKnownError where every service answered that it has none, and
        LiteratureUnavailableError where it is not known because some did not answer.
        """
        found = await self.look_up(question.identifier)
        (work,) = await add_stored_notices([found.work], self._notices)
        kept, remarks = await self._desk.mark([work], call)
        coverage = list(found.coverage)
        return whole_work(work, kept[0], _describe_lookup(found, remarks), coverage)

    async def look_up(self, text: str) -> MergedLookup:
        """The work of any identifier, or of the id of a work that was found here a while ago.

        Raises as get does, and InvalidInputError for what is neither.
        """
        try:
            name = read_name(text)
            found = await self._lookup.find(name)
        except InvalidInputError:
            # Some services have no way from their own names to a record.
            if (seen := self._seen.get(text.strip())) is None:
                raise
            return MergedLookup(seen, (), (), self._lookup.titles())
        if found.work is not None:
            return MergedLookup(found.work, found.coverage, found.failures, found.titles)
        if found.failures:
            raise_unavailable(
                f"Not known whether {name} exists: not every service answered",
                found.failures,
                found.coverage,
                found.titles,
            )
        lines = [line.model_dump(mode="json") for line in found.coverage]
        raise WorkNotKnownError(str(name), {"coverage": lines})


def _describe_lookup(found: MergedLookup, remarks: Sequence[str]) -> str:
    who = join_names([found.titles[record.service] for record in found.work.records])
    said = [f"Merged from {who}."]
    if found.failures:
        missing = join_names([found.titles[each.service] for each in found.failures])
        said.append(f"Not known what {missing} would have added.")
    return " ".join([*said, *(f"{remark}." for remark in remarks)])


def _parse_query(text: str) -> PaperQuery:
    query = parse_paper_query(text)
    if query.is_empty and not query.identifiers:
        raise InvalidInputError(
            "The query has no words to search for", next_step="Send words, a title or a DOI."
        )
    return query


def _depth(page: int, limit: int) -> int:
    needed = page * limit
    for depth in _DEPTHS:
        if needed <= depth:
            return depth
    raise InvalidInputError(
        f"page × limit is {needed:,}; {MAX_DEPTH} works can be paged through",
        next_step="Make the query narrower, for instance by years, instead of paging on.",
        details={"max_depth": MAX_DEPTH},
    )


def _outcome(found: FoundWorks) -> Literal["found", "nothing_found", "not_known"]:
    if found.works:
        return "found"
    return "not_known" if found.coverage.failures else "nothing_found"


def _describe(found: FoundWorks, question: SearchLiterature, total: int) -> str:
    said = found.coverage.describe(total)
    if total and (question.page - 1) * question.limit >= total:
        return f"{said} Page {question.page} is past the end."
    return said
