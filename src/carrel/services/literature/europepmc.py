"""Europe PMC: search with preprints, records, citations both ways, open texts, retractions.

Unproved live: the parameters of lists of citations (recordings show an older form of address),
lists of references, and links between preprints and articles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid
from carrel.libraries.literature.europepmc import read_cited_work, read_work
from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.europepmc import translate
from carrel.libraries.literature.raw_fields import count_of, map_of, maps_of, text_of
from carrel.libraries.literature.records import CitedWorkRecord, ServiceRecord
from carrel.rooms.literature.ports import (
    CitationEdges,
    OwnRecordAnswer,
    ServiceSearchAnswer,
    ServiceSearchRequest,
    TranslatedQuery,
)
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.errors import ServiceFailedError, UnreadableAnswerError
from carrel.services.literature.listings import (
    Account,
    FoundRecords,
    answer_citations,
    is_unknown,
    list_known,
    read_json_object,
    skip_preprints,
    split_batches,
)
from carrel.services.literature.matching import fits_quotes, match_records
from carrel.services.literature.record_finder import NoticeFinder
from carrel.services.literature.search_listing import SearchListing, as_query
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "europepmc"
# It asks for no more than five a second.
_LIMITS = ServiceLimits(max_concurrent=2, interval_seconds=0.2)
_LARGEST_PAGE = 250
_LARGEST_LIST_PAGE = 1_000
_IDENTIFIERS_AT_ONCE = 50
# A longer query is sent as a form.
_LONGEST_QUERY = 1_500
_ORDERS = {"relevance": "", "newest": "P_PDATE_D desc", "most_cited": "CITED desc"}
# Of several records of one work the article is taken before its copy and its preprint.
_SOURCES = ("MED", "PMC", "PPR")
_LISTS = {
    "in": ("citations", "citationList", "citation"),
    "out": ("references", "referenceList", "reference"),
}


class EuropePmc(NoticeFinder):
    """Adapter of Europe PMC."""

    name = NAME
    title = "Europe PMC"

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        return as_query(_translate(request))

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        asked = _translate(request)
        listing = SearchListing(NAME, request, asked)
        params = dict(asked.parameters)
        if order := _ORDERS[request.order]:
            params["sort"] = order
        skip = skip_preprints(request.includes_preprints)
        cursor, seen, is_last = "*", {"*"}, False
        while listing.place < request.limit and not is_last:
            size = min(_LARGEST_PAGE, max(1, request.limit - listing.place))
            page = await self._search_page(params, cursor, size, AnswerKind.SEARCH, listing.account)
            results, total = _results(page), count_of(page.get("hitCount"))
            listing.read(results, total, self._read, skip)
            cursor = text_of(page.get("nextCursorMark"))
            # The cursor repeats at the end.
            is_last = not results or not cursor or cursor in seen or listing.place >= (total or 0)
            seen.add(cursor)
        return listing.answer(is_complete=listing.has_all)

    def knows(self, identifier: Identifier) -> bool:
        return isinstance(identifier, Doi | Pmid | Pmcid | ArxivId) and fits_quotes(identifier)

    async def look_up_own(self, kind: str, value: str) -> OwnRecordAnswer:
        """A record by its source and name there, such as `PPR/PPR123`."""
        account = Account()
        source, _, name = value.partition("/")
        if kind != NAME or not (source.isalnum() and name.isalnum()):
            return OwnRecordAnswer(NAME, None)
        query = f"EXT_ID:{name} AND SRC:{source}"
        records = await self._list(query, 1, AnswerKind.RECORD, account)
        own = next((each for each in records if each.service_id == value), None)
        return OwnRecordAnswer(NAME, own, tuple(account.sent), account.cost)

    def knows_citations(self, identifier: Identifier, direction: Literal["in", "out"]) -> bool:
        return self.knows(identifier)

    async def citations(
        self, identifier: Identifier, direction: Literal["in", "out"], limit: int
    ) -> CitationEdges:
        """Works that cite, or the reference list; None where Europe PMC has no such list."""
        account = Account()
        source, name = await self._own_name(identifier, account)
        if not name:
            return answer_citations(NAME, None, limit, account)
        works: list[CitedWorkRecord] = []
        total: int | None = None
        page, size = 1, min(_LARGEST_LIST_PAGE, max(1, limit))
        while len(works) < limit:
            found = await self._list_page(source, name, direction, page, size, account)
            total = count_of(found.get("hitCount"))
            _, outer, inner = _LISTS[direction]
            entries = list(maps_of(map_of(found.get(outer)).get(inner)))
            works.extend(read_cited_work(entry) for entry in entries)
            if len(entries) < size or total is None or page * size >= total:
                break
            page += 1
        # A list of references is missing for many works; that nobody cites a work is an answer.
        is_unknown_list = not works and (direction == "out" or total is None)
        return CitationEdges(
            NAME,
            None if is_unknown_list else tuple(works[:limit]),
            total=None if is_unknown_list else total,
            is_complete=total is not None and not is_unknown_list and total <= len(works[:limit]),
            sent=tuple(account.sent),
            cost=account.cost,
        )

    async def _find(
        self, identifiers: Sequence[Identifier], kind: AnswerKind, account: Account
    ) -> list[tuple[Identifier, ServiceRecord]]:
        """Records of many identifiers, joined by OR."""
        wanted = list_known(identifiers, self.knows)
        found: list[tuple[Identifier, ServiceRecord]] = []
        for batch in split_batches(wanted, _IDENTIFIERS_AT_ONCE):
            query = " OR ".join(_write_identifier(each) for each in batch)
            records = await self._list(query, len(batch), kind, account)
            found += match_records(batch, records)
        return found

    async def _list(
        self, query: str, count: int, kind: AnswerKind, account: Account
    ) -> list[ServiceRecord]:
        """One work may have a record in each source, so that more are asked for than wanted."""
        size = min(_LARGEST_LIST_PAGE, len(_SOURCES) * count)
        page = await self._search_page({"query": query}, "*", size, kind, account)
        found = FoundRecords()
        found.read(_results(page), self._read)
        return sorted(found.records, key=_source_rank)

    async def _own_name(self, identifier: Identifier, account: Account) -> tuple[str, str]:
        """Source and name there, which a PubMed number says by itself."""
        if isinstance(identifier, Pmid):
            return "MED", identifier.value
        found = await self._find([identifier], AnswerKind.RECORD, account)
        source, _, name = found[0][1].service_id.partition("/") if found else ("", "", "")
        return source, name

    async def _search_page(
        self,
        params: Mapping[str, str],
        cursor: str,
        size: int,
        kind: AnswerKind,
        account: Account,
    ) -> Mapping[str, Any]:
        asked = {
            **params,
            "resultType": "core",
            "format": "json",
            "pageSize": str(size),
            "cursorMark": cursor,
        }
        is_long = len(asked["query"]) > _LONGEST_QUERY
        answer = await self._client.ask(
            NAME,
            f"{self._base_url}/{'searchPOST' if is_long else 'search'}",
            params=None if is_long else asked,
            form_body=asked if is_long else None,
            accept="application/json",
            limits=_LIMITS,
            kind=kind,
        )
        return _read_answer(account.add(answer))

    async def _list_page(
        self,
        source: str,
        name: str,
        direction: Literal["in", "out"],
        page: int,
        size: int,
        account: Account,
    ) -> Mapping[str, Any]:
        """A page of a list; an empty object where Europe PMC knows no such work."""
        answer = await self._client.ask(
            NAME,
            f"{self._base_url}/{source}/{name}/{_LISTS[direction][0]}",
            params={"page": str(page), "pageSize": str(size), "format": "json"},
            accept="application/json",
            limits=_LIMITS,
            kind=AnswerKind.LISTING,
        )
        account.add(answer)
        return {} if is_unknown(answer) else _read_answer(answer)

    def _read(self, raw: Mapping[str, Any]) -> ServiceRecord:
        return read_work(raw, self._base_url)


def _translate(request: ServiceSearchRequest) -> TranslatedParameters:
    return translate(
        request.query,
        since=request.since,
        until=request.until,
        includes_preprints=request.includes_preprints,
    )


def _write_identifier(identifier: Identifier) -> str:
    match identifier:
        case Pmid(value=value):
            return f"(EXT_ID:{value} AND SRC:MED)"
        case Pmcid(value=value):
            return f"PMCID:{value}"
        case ArxivId():
            return f'DOI:"{identifier.doi}"'
        case _:
            return f'DOI:"{identifier.value}"'


def _source_rank(record: ServiceRecord) -> int:
    source = record.service_id.partition("/")[0]
    return _SOURCES.index(source) if source in _SOURCES else len(_SOURCES)


def _read_answer(answer: ServiceAnswer) -> Mapping[str, Any]:
    """The answer; raises for the errors that Europe PMC sends with status 200."""
    found = read_json_object(NAME, answer)
    if found.get("errCode") is not None:
        said = text_of(found.get("errMsg"))[:300] or "no reason"
        code = text_of(found.get("errCode"))
        raise ServiceFailedError(NAME, f"it says {said!r} (error {code})", answer.status)
    if "hitCount" not in found:
        raise UnreadableAnswerError(NAME, "it does not say how many it found")
    return found


def _results(page: Mapping[str, Any]) -> list[Any]:
    return list(maps_of(map_of(page.get("resultList")).get("result")))
