"""OpenAlex: search, works by identifier, citations, open copies and retractions.

It charges by the request and says the price in each answer; a work by its id is free. Unproved
live: identifiers other than DOIs in batches, and paging beyond the first page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import quote

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.openalex import read_cited_work, read_work, read_work_id
from carrel.libraries.literature.queries.openalex import translate
from carrel.libraries.literature.raw_fields import count_of, map_of, maps_of, text_of
from carrel.libraries.literature.records import (
    CitedWorkRecord,
    Notice,
    ServiceRecord,
    TextLocation,
    VersionPointer,
    WorkIds,
)
from carrel.rooms.literature.ports import (
    CitationEdges,
    LookupAnswer,
    OwnRecordAnswer,
    SentRequest,
    ServiceSearchAnswer,
    ServiceSearchRequest,
    TranslatedQuery,
)
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.listings import (
    Account,
    answer_citations,
    is_unknown,
    list_known,
    read_json_object,
    read_list,
    read_record,
    skip_preprints,
    split_batches,
    translate_request,
)
from carrel.services.literature.search_listing import SearchListing, as_query
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "openalex"
_LIMITS = ServiceLimits(max_concurrent=2, interval_seconds=0.1)
_LARGEST_PAGE = 100
_MAX_BATCH = 50
# What an answer could say that it costs; anything else is no price.
_MAX_PRICE = 1_000_000
# Single works are free, so a few are not worth a list.
_FEW = 3
_FIELDS = (
    "id,doi,title,display_name,publication_year,publication_date,ids,language,primary_location,"
    "type,type_crossref,open_access,authorships,is_authors_truncated,cited_by_count,biblio,"
    "is_retracted,topics,keywords,best_oa_location,locations,abstract_inverted_index"
)
_FIELDS_OF_CITED = "id,doi,ids,title,publication_year,publication_date,authorships,primary_location"


class OpenAlex:
    """Adapter of OpenAlex."""

    name = NAME
    title = "OpenAlex"

    def __init__(self, client: ServiceClient, base_url: str, *, api_key: str = "") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._secrets = {"api_key": api_key} if api_key else {}

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        return as_query(translate_request(translate, request))

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        asked = translate_request(translate, request)
        listing = SearchListing(NAME, request, asked)
        params = {**asked.parameters, "select": _FIELDS}
        skip = skip_preprints(request.includes_preprints)
        is_last = False
        async for page in self._pages(params, request.limit, AnswerKind.SEARCH, listing.account):
            is_last = page.is_last
            listing.read(page.results, page.total, read_work, skip)
        return listing.answer(is_complete=is_last and listing.place <= request.limit)

    def knows(self, identifier: Identifier) -> bool:
        return isinstance(identifier, Doi | Pmid | Pmcid | ArxivId)

    async def look_up(self, identifiers: Sequence[Identifier]) -> LookupAnswer:
        account = Account()
        wanted = list_known(identifiers, self.knows)
        raws = await self._find(wanted, _FIELDS, AnswerKind.RECORD, account)
        found: list[tuple[Identifier, ServiceRecord]] = []
        for identifier, raw in raws:
            record = read_work(raw)
            if record.work.is_authors_cut:
                # Lists are cut after a hundred authors; the work by its id is whole, and free.
                whole = await self._one(record.service_id, "", AnswerKind.RECORD, account)
                record = record if whole is None else read_work(whole)
            found.append((identifier, record))
        return LookupAnswer(NAME, tuple(found), tuple(account.sent), account.cost)

    async def look_up_own(self, kind: str, value: str) -> OwnRecordAnswer:
        """A work by OpenAlex's own id, such as `W2741809807`.

        An id that was merged into another is followed, and kept beside it as a version.
        """
        account = Account()
        if kind != NAME or read_work_id(value) is None:
            return OwnRecordAnswer(NAME, None)
        work = await self._one(value, "", AnswerKind.RECORD, account)
        record = None if work is None else _keep_id(read_work(work), value.upper())
        return OwnRecordAnswer(NAME, record, tuple(account.sent), account.cost)

    def knows_citations(self, identifier: Identifier, direction: Literal["in", "out"]) -> bool:
        return self.knows(identifier)

    async def citations(
        self, identifier: Identifier, direction: Literal["in", "out"], limit: int
    ) -> CitationEdges:
        """`cites:` finds the works that cite one, `cited_by:` those that it cites."""
        account = Account()
        fields = "id,referenced_works_count,cited_by_count"
        work = await self._one(_path_of(identifier), fields, AnswerKind.LISTING, account)
        own = read_work_id(work.get("id")) if work is not None else None
        if work is None or own is None:
            return answer_citations(NAME, None, limit, account)
        if direction == "out" and not count_of(work.get("referenced_works_count")):
            # Famous papers have an empty list, so that it says nothing.
            return answer_citations(NAME, None, limit, account)
        name = "cites" if direction == "in" else "cited_by"
        params = {"filter": f"{name}:{own}", "select": _FIELDS_OF_CITED}
        works: list[CitedWorkRecord] = []
        total: int | None = None
        is_complete = False
        async for page in self._pages(params, limit, AnswerKind.LISTING, account):
            total = page.total
            is_complete = page.is_last
            works.extend(_read_cited(page.results))
        return CitationEdges(
            NAME,
            tuple(works[:limit]),
            total=total,
            is_complete=is_complete and len(works) <= limit,
            sent=tuple(account.sent),
            cost=account.cost,
        )

    async def locate(
        self, identifier: Identifier
    ) -> tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]:
        account = Account()
        work = await self._one(_path_of(identifier), _FIELDS, AnswerKind.RECORD, account)
        locations = () if work is None else read_work(work).work.locations
        return locations, tuple(account.sent)

    async def notices(
        self, identifiers: Sequence[Identifier]
    ) -> tuple[tuple[tuple[Identifier, Notice], ...], tuple[SentRequest, ...]]:
        """Retractions alone, without a date: OpenAlex has a flag and no more."""
        account = Account()
        wanted = list_known(identifiers, self.knows)
        raws = await self._find(wanted, "id,doi,ids,title,is_retracted", AnswerKind.NOTICE, account)
        found = [
            (identifier, notice)
            for identifier, raw in raws
            for notice in read_work(raw).work.notices
        ]
        return tuple(found), tuple(account.sent)

    async def _find(
        self,
        identifiers: Sequence[Identifier],
        fields: str,
        kind: AnswerKind,
        account: Account,
    ) -> list[tuple[Identifier, Mapping[str, Any]]]:
        """The works there are: single ones where they are few, else in lists."""
        listed = [each for each in identifiers if _fits_filter(each)]
        single = [each for each in identifiers if not _fits_filter(each)]
        if len(listed) <= _FEW:
            single, listed = list(identifiers), []
        found: list[tuple[Identifier, Mapping[str, Any]]] = []
        for identifier in single:
            work = await self._one(_path_of(identifier), fields, kind, account)
            if work is not None:
                found.append((identifier, work))
        for name in dict.fromkeys(_filter_of(each)[0] for each in listed):
            same = [each for each in listed if _filter_of(each)[0] == name]
            for batch in split_batches(same, _MAX_BATCH):
                found.extend(await self._batch(name, batch, fields, kind, account))
        return found

    async def _batch(
        self,
        name: str,
        identifiers: Sequence[Identifier],
        fields: str,
        kind: AnswerKind,
        account: Account,
    ) -> list[tuple[Identifier, Mapping[str, Any]]]:
        values = "|".join(_filter_of(each)[1] for each in identifiers)
        params = {"filter": f"{name}:{values}", "select": fields, "per_page": str(_LARGEST_PAGE)}
        answer = await self._ask("/works", params, kind)
        page = _Page.read(answer, account)
        known: dict[str, Mapping[str, Any]] = {}
        for raw in maps_of(page.results):
            for key in _keys_of(raw):
                known.setdefault(key, raw)
        return [(each, known[key]) for each in identifiers if (key := _key_of(each)) in known]

    async def _one(
        self, path: str, fields: str, kind: AnswerKind, account: Account
    ) -> Mapping[str, Any] | None:
        """One work by its id; None where OpenAlex has none. Merged ids are followed (301)."""
        params = {"select": fields} if fields else {}
        answer = account.add(await self._ask(f"/works/{path}", params, kind))
        return None if is_unknown(answer) else read_record(NAME, answer, read_work)

    async def _pages(
        self, params: Mapping[str, str], limit: int, kind: AnswerKind, account: Account
    ) -> AsyncIterator[_Page]:
        """Pages of a list until there are enough results or no more."""
        size = max(1, min(limit, _LARGEST_PAGE))
        cursor, count = "*", 0
        while cursor and count < limit:
            page_params = {**params, "per_page": str(size), "cursor": cursor}
            page = _Page.read(await self._ask("/works", page_params, kind), account)
            count += len(page.results)
            # The last page has no cursor; an empty one ends the list whatever its cursor.
            cursor = page.next_cursor if page.results else ""
            yield page

    async def _ask(self, path: str, params: Mapping[str, str], kind: AnswerKind) -> ServiceAnswer:
        return await self._client.ask(
            NAME,
            f"{self._base_url}{path}",
            params=params,
            accept="application/json",
            limits=_LIMITS,
            kind=kind,
            secret_params=self._secrets,
        )


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of works."""

    results: list[Any]
    total: int | None
    next_cursor: str
    # Whether the service says that nothing follows; a page without a cursor does not.
    is_last: bool

    @classmethod
    def read(cls, answer: ServiceAnswer, account: Account) -> _Page:
        found = read_json_object(NAME, answer)
        meta = map_of(found.get("meta"))
        match meta.get("cost_usd"):
            case int() | float() as price if 0 <= price <= _MAX_PRICE:
                account.add(answer, float(price))
            case _:
                account.add(answer)
        results = read_list(NAME, found, "results")
        total, cursor = count_of(meta.get("count")), text_of(meta.get("next_cursor"))
        is_last = not results or ("next_cursor" in meta and not cursor) or total == len(results)
        return cls(results, total, cursor, is_last)


def _keep_id(record: ServiceRecord, asked: str) -> ServiceRecord:
    if record.service_id == asked:
        return record
    former = VersionPointer("version_of", WorkIds(openalex=asked), NAME)
    work = replace(record.work, versions=(*record.work.versions, former))
    return replace(record, work=work)


def _read_cited(raws: Sequence[object]) -> Iterator[CitedWorkRecord]:
    for raw in maps_of(list(raws)):
        try:
            yield read_cited_work(raw)
        except UnreadableRecordError:
            continue


def _filter_of(identifier: Identifier) -> tuple[str, str]:
    """The name and value of the filter for an identifier."""
    match identifier:
        case Pmid(value=value):
            return "ids.pmid", value
        case Pmcid(value=value):
            return "ids.pmcid", value
        case ArxivId():
            return "doi", identifier.doi
        case _:
            return "doi", identifier.value


def _fits_filter(identifier: Identifier) -> bool:
    """Commas and bars part values in filters, and some DOIs have them."""
    return not set(_filter_of(identifier)[1]) & set(",|")


def _path_of(identifier: Identifier) -> str:
    name, value = _filter_of(identifier)
    return f"{name.removeprefix('ids.')}:{quote(value, safe='/:;()')}"


def _key_of(identifier: Identifier) -> str:
    name, value = _filter_of(identifier)
    return f"{name.removeprefix('ids.')}:{value.lower()}"


def _keys_of(raw: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        ids = read_work(raw).work.ids
    except UnreadableRecordError:
        return ()
    named = {"doi": ids.doi, "pmid": ids.pmid, "pmcid": ids.pmcid}
    return tuple(f"{name}:{value.lower()}" for name, value in named.items() if value)
