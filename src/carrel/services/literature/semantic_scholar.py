"""Semantic Scholar: search, papers by identifier, citations and open copies.

Without a key it answers hardly anybody (429), so callers should not count on it then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import quote

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.queries.semantic_scholar import (
    BULK_SEARCH,
    RELEVANCE_SEARCH,
    find_identifier,
    translate,
)
from carrel.libraries.literature.raw_fields import count_of, map_of, text_of
from carrel.libraries.literature.records import CitedWorkRecord, ServiceRecord, TextLocation
from carrel.libraries.literature.semantic_scholar import read_cited_work, read_work
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
from carrel.services.literature.errors import UnreadableAnswerError
from carrel.services.literature.listings import (
    Account,
    answer_citations,
    is_unknown,
    list_known,
    read_json,
    read_json_object,
    read_record,
    read_refusal,
    skip_preprints,
    split_batches,
    translate_request,
)
from carrel.services.literature.search_listing import SearchListing, as_query
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "semantic_scholar"
_LIMITS = ServiceLimits(max_concurrent=1, interval_seconds=1.0)
_MAX_BATCH = 500
_LARGEST_PAGE = 100
# Beyond this place the search by relevance gives nothing.
_LAST_PLACE = 1000
_LARGEST_CITATION_PAGE = 1000
_FIELDS = (
    "title,abstract,authors,externalIds,year,publicationDate,venue,publicationVenue,journal,"
    "publicationTypes,citationCount,openAccessPdf,fieldsOfStudy,s2FieldsOfStudy"
)
_FIELDS_OF_CITED = "title,authors,externalIds,year,venue"
_NONE_KNOWN = "no valid paper ids"


# What stands before a name of each kind.
_OWN_NAMES = {NAME: "", "corpus_id": "CorpusId:", "mag": "MAG:", "acl": "ACL:"}


class SemanticScholar:
    """Adapter of Semantic Scholar's graph."""

    name = NAME
    title = "Semantic Scholar"

    def __init__(self, client: ServiceClient, base_url: str, *, api_key: str = "") -> None:
        self._client = client
        self._base_url = f"{base_url.rstrip('/')}/graph/v1"
        self._headers = {"x-api-key": api_key} if api_key else {}

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        named = find_identifier(request.query)
        if named is not None:
            return TranslatedQuery(named.identifiers[0].value)
        _, found = translate_request(translate, request)
        return as_query(found)

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        named = find_identifier(request.query)
        if named is not None:
            return await self._search_identifier(request)
        search, asked = translate_request(translate, request)
        listing = SearchListing(NAME, request, asked)
        pages = self._relevant_page if search == RELEVANCE_SEARCH else self._bulk_page
        skip = skip_preprints(request.includes_preprints)
        mark: str | None = ""
        while mark is not None and listing.place < request.limit and _is_given(mark, search):
            page = await pages(asked.parameters, request.limit, mark, listing.account)
            # An answer without hits has no list at all.
            items = page.get("data") or []
            if not isinstance(items, list):
                raise UnreadableAnswerError(NAME, "it has no list of papers")
            listing.read(items, count_of(page.get("total")), read_work, skip)
            mark = _next_mark(page, search) if items else None
        # The total is an estimate there; the missing token is the end.
        return listing.answer(is_complete=mark is None and listing.place <= request.limit)

    async def _search_identifier(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        """No search takes identifiers, so the paper is asked for by it."""
        named = (_parse(each.kind, each.value) for each in request.query.identifiers)
        answer = await self.look_up([each for each in named if each is not None])
        unique = {record.service_id: record for _, record in answer.found}
        records = tuple(replace(record, rank=at) for at, record in enumerate(unique.values(), 1))
        return ServiceSearchAnswer(
            NAME,
            self.translate(request),
            records,
            total=len(records),
            is_complete=True,
            sent=answer.sent,
            cost=answer.cost,
        )

    async def _relevant_page(
        self, parameters: Mapping[str, str], limit: int, mark: str, account: Account
    ) -> Mapping[str, Any]:
        offset = int(mark or 0)
        size = max(1, min(limit, _LARGEST_PAGE, _LAST_PLACE - offset))
        params = {**parameters, "fields": _FIELDS, "offset": str(offset), "limit": str(size)}
        answer = await self._ask(f"/paper/{RELEVANCE_SEARCH}", params, AnswerKind.SEARCH)
        return read_json_object(NAME, account.add(answer))

    async def _bulk_page(
        self, parameters: Mapping[str, str], limit: int, mark: str, account: Account
    ) -> Mapping[str, Any]:
        params = {**parameters, "fields": _FIELDS, **({"token": mark} if mark else {})}
        answer = account.add(await self._ask(f"/paper/{BULK_SEARCH}", params, AnswerKind.SEARCH))
        return read_json_object(NAME, answer)

    def knows(self, identifier: Identifier) -> bool:
        return isinstance(identifier, Doi | Pmid | Pmcid | ArxivId)

    async def look_up(self, identifiers: Sequence[Identifier]) -> LookupAnswer:
        account = Account()
        wanted = list_known(identifiers, self.knows)
        found: list[tuple[Identifier, ServiceRecord]] = []
        for batch in split_batches(wanted, _MAX_BATCH):
            for identifier, raw in zip(batch, await self._batch(batch, account), strict=False):
                # Unknown papers are null in their place.
                record = _read_or_none(raw)
                if record is not None:
                    found.append((identifier, record))
        return LookupAnswer(NAME, tuple(found), tuple(account.sent), account.cost)

    async def _batch(self, identifiers: Sequence[Identifier], account: Account) -> list[Any]:
        if len(identifiers) == 1:
            return [await self._one(_id_of(identifiers[0]), _FIELDS, account)]
        body = {"ids": [_id_of(each) for each in identifiers]}
        answer = account.add(
            await self._ask("/paper/batch", {"fields": _FIELDS}, AnswerKind.RECORD, body)
        )
        if answer.status == 400 and _NONE_KNOWN in read_refusal(answer.body).lower():
            return []
        papers = read_json(NAME, answer)
        if not isinstance(papers, list) or len(papers) != len(identifiers):
            raise UnreadableAnswerError(NAME, "it does not hold as many papers as were asked for")
        return papers

    async def _one(self, name: str, fields: str, account: Account) -> Mapping[str, Any] | None:
        """A paper by any name that the service takes; None where it has none."""
        path = f"/paper/{quote(name, safe='/:')}"
        answer = account.add(await self._ask(path, {"fields": fields}, AnswerKind.RECORD))
        return None if is_unknown(answer) else read_record(NAME, answer, read_work)

    async def look_up_own(self, kind: str, value: str) -> OwnRecordAnswer:
        """A paper by its id there, its number in the corpus, or a name that it keeps of others."""
        account = Account()
        if kind not in _OWN_NAMES:
            return OwnRecordAnswer(NAME, None)
        raw = await self._one(f"{_OWN_NAMES[kind]}{value}", _FIELDS, account)
        return OwnRecordAnswer(NAME, _read_or_none(raw), tuple(account.sent), account.cost)

    def knows_citations(self, identifier: Identifier, direction: Literal["in", "out"]) -> bool:
        return self.knows(identifier)

    async def citations(
        self, identifier: Identifier, direction: Literal["in", "out"], limit: int
    ) -> CitationEdges:
        """Entries may be null; a list that its publisher withholds is null as a whole."""
        account = Account()
        name = "citations" if direction == "in" else "references"
        path = f"/paper/{quote(_id_of(identifier), safe='/:')}/{name}"
        works: list[CitedWorkRecord] = []
        offset: int | None = 0
        while offset is not None and len(works) < limit:
            size = max(1, min(limit - len(works), _LARGEST_CITATION_PAGE))
            params = {"fields": _FIELDS_OF_CITED, "offset": str(offset), "limit": str(size)}
            answer = account.add(await self._ask(path, params, AnswerKind.LISTING))
            page = {} if is_unknown(answer) else read_json_object(NAME, answer)
            entries = page.get("data")
            if not isinstance(entries, list):
                return answer_citations(NAME, None, limit, account)
            end: Literal["citingPaper", "citedPaper"]
            end = "citingPaper" if direction == "in" else "citedPaper"
            works.extend(found for each in entries if (found := read_cited_work(each, end)))
            offset = count_of(page.get("next")) if entries else None
        return CitationEdges(
            NAME,
            tuple(works),
            total=len(works) if offset is None else None,
            is_complete=offset is None,
            sent=tuple(account.sent),
            cost=account.cost,
        )

    async def locate(
        self, identifier: Identifier
    ) -> tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]:
        account = Account()
        raw = await self._one(_id_of(identifier), "title,externalIds,openAccessPdf", account)
        record = _read_or_none(raw)
        return record.work.locations if record else (), tuple(account.sent)

    async def _ask(
        self, path: str, params: Mapping[str, str], kind: AnswerKind, body: object = None
    ) -> ServiceAnswer:
        return await self._client.ask(
            NAME,
            f"{self._base_url}{path}",
            params=params,
            accept="application/json",
            limits=_LIMITS,
            json_body=body,
            kind=kind,
            secret_headers=self._headers,
        )


def _next_mark(page: Mapping[str, Any], search: str) -> str | None:
    """Where the next page begins; None after the last."""
    if search == BULK_SEARCH:
        return text_of(page.get("token")) or None
    offset = count_of(page.get("next"))
    return None if offset is None else str(offset)


def _is_given(mark: str, search: str) -> bool:
    """Whether the service has a page there: its search by relevance ends early."""
    return search == BULK_SEARCH or int(mark or 0) < _LAST_PLACE


def _read_or_none(raw: object) -> ServiceRecord | None:
    if not isinstance(raw, Mapping):
        return None
    try:
        return read_work(map_of(raw))
    except UnreadableRecordError:
        return None


def _id_of(identifier: Identifier) -> str:
    match identifier:
        case Pmid(value=value):
            return f"PMID:{value}"
        case Pmcid(value=value):
            # The service knows PMCIDs without their PMC.
            return f"PMCID:{value.removeprefix('PMC')}"
        case ArxivId(value=value):
            return f"ARXIV:{value}"
        case Doi() if identifier.arxiv is not None:
            return f"ARXIV:{identifier.arxiv.value}"
        case _:
            return f"DOI:{identifier.value}"


def _parse(kind: str, value: str) -> Identifier | None:
    match kind:
        case "doi":
            return Doi(value)
        case "arxiv":
            return ArxivId(value)
        case "pmid":
            return Pmid(value)
        case "pmcid":
            return Pmcid(value.upper())
        case _:
            return None
