"""DataCite: search, works by DOI and what is linked to them.

Unproved live: searches and lists of several DOIs; recordings show single DOIs and a bare list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

from carrel.libraries.identifiers import ArxivId, Doi, Identifier
from carrel.libraries.literature.datacite import read_work
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.queries.datacite import translate
from carrel.libraries.literature.raw_fields import count_of, id_of, map_of, maps_of, text_of
from carrel.libraries.literature.records import (
    CitedWorkRecord,
    ServiceRecord,
    TextLocation,
    WorkIds,
)
from carrel.rooms.literature.ports import (
    CitationEdges,
    LookupAnswer,
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

NAME = "datacite"
# 500 requests in five minutes without an address.
_LIMITS = ServiceLimits(max_concurrent=2, interval_seconds=0.6)
_LARGEST_PAGE = 100
_MAX_BATCH = 20


class DataCite:
    """Adapter of DataCite."""

    name = NAME
    title = "DataCite"

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        return as_query(translate_request(translate, request))

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        """Pages by numbers for the first, then by the cursor of the link to the next."""
        asked = translate_request(translate, request)
        listing = SearchListing(NAME, request, asked)
        size = max(1, min(request.limit, _LARGEST_PAGE))
        cursor = "1"
        while cursor and listing.place < request.limit:
            params = {**asked.parameters, "page[size]": str(size), "page[cursor]": cursor}
            answer = await self._ask("/dois", params, AnswerKind.SEARCH)
            page = read_json_object(NAME, listing.account.add(answer))
            items = read_list(NAME, page, "data")
            total = count_of(map_of(page.get("meta")).get("total"))
            listing.read(items, total, read_work, skip_preprints(request.includes_preprints))
            cursor = _next_cursor(page) if items else ""
        is_complete = listing.place <= request.limit and (not cursor or listing.has_all)
        return listing.answer(is_complete=is_complete)

    def knows(self, identifier: Identifier) -> bool:
        """DOIs, and arXiv's papers, whose DOIs DataCite registers."""
        return isinstance(identifier, Doi | ArxivId)

    async def look_up(self, identifiers: Sequence[Identifier]) -> LookupAnswer:
        account = Account()
        wanted = list_known(identifiers, self.knows)
        raws: dict[str, Mapping[str, Any]] = {}
        for batch in split_batches(wanted, _MAX_BATCH):
            raws |= await self._find([_doi_of(each) for each in batch], account)
        found: list[tuple[Identifier, ServiceRecord]] = [
            (each, read_work(raws[_doi_of(each)])) for each in wanted if _doi_of(each) in raws
        ]
        return LookupAnswer(NAME, tuple(found), tuple(account.sent), account.cost)

    def knows_citations(self, identifier: Identifier, direction: Literal["in", "out"]) -> bool:
        return self.knows(identifier)

    async def citations(
        self, identifier: Identifier, direction: Literal["in", "out"], limit: int
    ) -> CitationEdges:
        """Citations that registrants told DataCite; DOIs alone."""
        account = Account()
        raw = await self._one(_doi_of(identifier), AnswerKind.LISTING, account)
        works: tuple[CitedWorkRecord, ...] | None = None
        if raw is not None:
            linked = map_of(map_of(raw.get("data")).get("relationships"))
            name = "citations" if direction == "in" else "references"
            listed = maps_of(map_of(linked.get(name)).get("data"))
            dois = dict.fromkeys(doi for each in listed if (doi := id_of(Doi, each.get("id"))))
            told = tuple(CitedWorkRecord(WorkIds(doi=doi)) for doi in dois)
            own = read_work(raw).work.references if direction == "out" else None
            works = own or told or None
        return answer_citations(NAME, works, limit, account)

    async def locate(
        self, identifier: Identifier
    ) -> tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]:
        account = Account()
        raw = await self._one(_doi_of(identifier), AnswerKind.RECORD, account)
        return () if raw is None else read_work(raw).work.locations, tuple(account.sent)

    async def _find(self, dois: Sequence[str], account: Account) -> dict[str, Mapping[str, Any]]:
        """Records by DOI: one as itself, several in one list that lacks unknown ones."""
        if len(dois) == 1:
            one = await self._one(dois[0], AnswerKind.RECORD, account)
            return {} if one is None else {dois[0]: one}
        listed = " OR ".join('"' + doi.replace('"', '\\"') + '"' for doi in dois)
        params = {"query": f"doi:({listed})", "page[size]": str(_LARGEST_PAGE)}
        answer = account.add(await self._ask("/dois", params, AnswerKind.RECORD))
        found: dict[str, Mapping[str, Any]] = {}
        for raw in maps_of(read_list(NAME, read_json_object(NAME, answer), "data")):
            try:
                found.setdefault(read_work(raw).service_id, raw)
            except UnreadableRecordError:
                continue
        return found

    async def _one(self, doi: str, kind: AnswerKind, account: Account) -> Mapping[str, Any] | None:
        """One record; None where the DOI is unknown or another agency registers it."""
        answer = account.add(await self._ask(f"/dois/{quote(doi, safe='/:;()')}", {}, kind))
        return None if is_unknown(answer) else read_record(NAME, answer, read_work)

    async def _ask(self, path: str, params: Mapping[str, str], kind: AnswerKind) -> ServiceAnswer:
        return await self._client.ask(
            NAME,
            f"{self._base_url}{path}",
            params=params,
            accept="application/json",
            limits=_LIMITS,
            kind=kind,
        )


def _next_cursor(page: Mapping[str, Any]) -> str:
    """The cursor of the link to the next page; empty on the last."""
    link = text_of(map_of(page.get("links")).get("next"))
    return parse_qs(urlsplit(link).query).get("page[cursor]", [""])[0]


def _doi_of(identifier: Identifier) -> str:
    return identifier.doi if isinstance(identifier, ArxivId) else identifier.value
