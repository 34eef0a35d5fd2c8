"""DOAJ: search and look-up of open-access articles, and where their texts are.

The address is that of version 4, which answers as version 2 of the recordings by its documentation
(unproved live).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from carrel.libraries.identifiers import Doi, Identifier
from carrel.libraries.literature.doaj import read_work
from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.doaj import translate
from carrel.libraries.literature.raw_fields import count_of, text_of
from carrel.libraries.literature.records import ServiceRecord
from carrel.rooms.literature.ports import ServiceSearchAnswer, ServiceSearchRequest, TranslatedQuery
from carrel.services.literature.answers import AnswerKind
from carrel.services.literature.errors import ServiceFailedError
from carrel.services.literature.listings import (
    Account,
    FoundRecords,
    list_known,
    read_json_object,
    read_list,
    split_batches,
    tell_missing_order,
)
from carrel.services.literature.matching import fits_quotes, match_records
from carrel.services.literature.record_finder import RecordFinder
from carrel.services.literature.search_listing import SearchListing, as_query
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "doaj"
_LIMITS = ServiceLimits(max_concurrent=1, interval_seconds=0.5)
_LARGEST_PAGE = 100
# The query stands in the path, so that few identifiers fit.
_IDENTIFIERS_AT_ONCE = 15


class Doaj(RecordFinder):
    """Adapter of DOAJ."""

    name = NAME
    title = "DOAJ"

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._address = f"{base_url.rstrip('/')}/api/search/articles"

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        return as_query(_translate(request))

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        asked = _translate(request)
        listing = SearchListing(NAME, request, asked)
        order = {"sort": "bibjson.year:desc"} if request.order == "newest" else {}
        size = min(_LARGEST_PAGE, max(1, request.limit))
        query = asked.parameters["query"]
        total: int | None = None
        number = 1
        while listing.place < request.limit:
            params = {"page": str(number), "pageSize": str(size), **order}
            page = await self._page(query, params, AnswerKind.SEARCH, listing.account)
            results, total = read_list(NAME, page, "results"), count_of(page.get("total"))
            listing.read(results, total, read_work)
            if len(results) < size or total is None or listing.has_all:
                break
            number += 1
        is_complete = total is not None and total <= min(listing.place, request.limit)
        return listing.answer(is_complete=is_complete)

    def knows(self, identifier: Identifier) -> bool:
        return isinstance(identifier, Doi) and fits_quotes(identifier)

    async def _find(
        self, identifiers: Sequence[Identifier], kind: AnswerKind, account: Account
    ) -> list[tuple[Identifier, ServiceRecord]]:
        wanted = list_known(identifiers, self.knows)
        found: list[tuple[Identifier, ServiceRecord]] = []
        for batch in split_batches(wanted, _IDENTIFIERS_AT_ONCE):
            query = " OR ".join(f'doi:"{each.value}"' for each in batch)
            params = {"page": "1", "pageSize": str(2 * len(batch))}
            page = await self._page(query, params, kind, account)
            records = FoundRecords()
            records.read(read_list(NAME, page, "results"), read_work)
            found += match_records(batch, records.records)
        return found

    async def _page(
        self, query: str, params: Mapping[str, str], kind: AnswerKind, account: Account
    ) -> Mapping[str, Any]:
        answer = await self._client.ask(
            NAME,
            f"{self._address}/{quote(query, safe='')}",
            params=params,
            accept="application/json",
            limits=_LIMITS,
            kind=kind,
        )
        page = read_json_object(NAME, account.add(answer))
        if told := text_of(page.get("error")):
            raise ServiceFailedError(NAME, f"it says {told[:300]!r}", answer.status)
        return page


def _translate(request: ServiceSearchRequest) -> TranslatedParameters:
    found = translate(request.query, since=request.since, until=request.until)
    return tell_missing_order(found, request.order, ("most_cited",))
