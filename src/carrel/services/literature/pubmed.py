"""PubMed through NCBI's E-utilities: search, records, citations within PubMed, retractions.

Searches are asked and read as XML, which recordings show. Unproved live: identifiers other than
PubMed numbers, the names of links, and lists of citing works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

from carrel.libraries.identifiers import Doi, Identifier, Pmcid, Pmid
from carrel.libraries.literature.pubmed import iterate_records, read_work
from carrel.libraries.literature.pubmed_answers import (
    PubMedAnswerError,
    PubMedSearch,
    read_links,
    read_record_set,
    read_search,
)
from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.pubmed import translate
from carrel.libraries.literature.records import ServiceRecord
from carrel.rooms.literature.ports import (
    CitationEdges,
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
    list_known,
    skip_preprints,
    split_batches,
    tell_missing_order,
)
from carrel.services.literature.matching import as_cited_work, fits_quotes, match_records
from carrel.services.literature.record_finder import NoticeFinder
from carrel.services.literature.search_listing import SearchListing, as_query
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "pubmed"
# NCBI allows three questions a second, ten with a key.
_LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.34)
_LIMITS_WITH_KEY = ServiceLimits(max_concurrent=5, interval_seconds=0.1)
_RECORDS_AT_ONCE = 200
_IDENTIFIERS_AT_ONCE = 50
# PubMed lists no more of one search, however many it found.
_MOST_LISTED = 9_999
# A longer address is refused with 414, so that a form is sent in its place.
_LONGEST_VALUE = 1_500
_LINKS = {"in": "pubmed_pubmed_citedin", "out": "pubmed_pubmed_refs"}
_ORDERS = {"relevance": "relevance", "newest": "pub_date", "most_cited": "relevance"}
_NO_IDS = "ID list is empty"
_LONGEST_CAUSE = 300
FoundT = TypeVar("FoundT")


class PubMed(NoticeFinder):
    """Adapter of PubMed."""

    name = NAME
    title = "PubMed"

    def __init__(self, client: ServiceClient, base_url: str, *, api_key: str = "") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._limits = _LIMITS_WITH_KEY if api_key else _LIMITS
        self._secrets = {"tool": "carrel"}
        if client.contact:
            self._secrets["email"] = client.contact
        if api_key:
            self._secrets["api_key"] = api_key

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        return as_query(_translate(request))

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        """Numbers first, then their records; how PubMed read the query is among the remarks."""
        asked = _translate(request)
        listing = SearchListing(NAME, request, asked)
        limit = max(1, min(request.limit, _MOST_LISTED))
        params = {**asked.parameters, "sort": _ORDERS[request.order], "retmax": str(limit)}
        listed = await self._list(params, AnswerKind.SEARCH, listing.account)
        records = await self._fetch(listed.pmids[:limit], AnswerKind.RECORD, listing.account)
        by_number = {record.service_id: record for record in records}
        listing.read(
            ({"pmid": pmid} for pmid in listed.pmids[:limit] if pmid in by_number),
            listed.count,
            lambda raw: by_number[raw["pmid"]],
            skip_preprints(request.includes_preprints),
        )
        missing = sum(1 for pmid in listed.pmids[:limit] if pmid not in by_number)
        remarks = [f"PubMed read the query as {listed.translation}"] if listed.translation else []
        remarks += [*listed.warnings, *listing.found.remarks]
        if listed.count > limit == _MOST_LISTED:
            remarks.append(f"PubMed lists no more than {_MOST_LISTED} works of one search")
        if missing:
            remarks.append(f"{missing} of the numbers found have no readable record")
        is_complete = listed.count <= len(listed.pmids) <= limit
        return listing.answer(is_complete=is_complete, remarks=remarks)

    def knows(self, identifier: Identifier) -> bool:
        return isinstance(identifier, Pmid | Doi | Pmcid) and fits_quotes(identifier)

    def knows_citations(self, identifier: Identifier, direction: Literal["in", "out"]) -> bool:
        return self.knows(identifier)

    async def citations(
        self, identifier: Identifier, direction: Literal["in", "out"], limit: int
    ) -> CitationEdges:
        """The reference list of the record where it has one, else works that PubMed links.

        Citing works are those whose texts PubMed Central has.
        """
        account = Account()
        found = await self._find([identifier], AnswerKind.LISTING, account)
        if not found:
            return answer_citations(NAME, None, limit, account)
        record = found[0][1]
        own = record.work.references
        if direction == "out" and own:
            return answer_citations(NAME, own, limit, account)
        params = {"dbfrom": "pubmed", "db": "pubmed", "linkname": _LINKS[direction]}
        answer = await self._ask(
            "elink", {**params, "id": record.service_id}, AnswerKind.LISTING, account
        )
        numbers = _read(answer, lambda body: read_links(body, _LINKS[direction]))
        if numbers is None:
            return answer_citations(NAME, () if direction == "in" else None, limit, account)
        records = await self._fetch(numbers[:limit], AnswerKind.RECORD, account)
        return CitationEdges(
            NAME,
            tuple(as_cited_work(each.work) for each in records),
            total=len(numbers),
            is_complete=len(numbers) == len(records),
            sent=tuple(account.sent),
            cost=account.cost,
        )

    async def _find(
        self, identifiers: Sequence[Identifier], kind: AnswerKind, account: Account
    ) -> list[tuple[Identifier, ServiceRecord]]:
        """PubMed numbers are fetched; others are searched for first, many at once."""
        wanted = list_known(identifiers, self.knows)
        numbers = [each.value for each in wanted if isinstance(each, Pmid)]
        others = [each for each in wanted if not isinstance(each, Pmid)]
        for batch in split_batches(others, _IDENTIFIERS_AT_ONCE):
            term = " OR ".join(_write_identifier(each) for each in batch)
            params = {"term": term, "retmax": str(4 * len(batch))}
            numbers += (await self._list(params, kind, account)).pmids
        records = await self._fetch(list(dict.fromkeys(numbers)), kind, account)
        return match_records(wanted, records)

    async def _list(
        self, params: Mapping[str, str], kind: AnswerKind, account: Account
    ) -> PubMedSearch:
        answer = await self._ask(
            "esearch", {"db": "pubmed", "retmode": "xml", **params}, kind, account
        )
        return _read(answer, read_search)

    async def _fetch(
        self, pmids: Sequence[str], kind: AnswerKind, account: Account
    ) -> list[ServiceRecord]:
        """The records in the order of their numbers; PubMed has none for some numbers."""
        found = FoundRecords()
        for batch in split_batches(pmids, _RECORDS_AT_ONCE):
            params = {"db": "pubmed", "retmode": "xml", "id": ",".join(batch)}
            answer = await self._ask("efetch", params, kind, account)
            if answer.status == 400 and _NO_IDS.encode() in answer.body:
                continue
            root = _read(answer, read_record_set)
            nodes = ({"node": node} for node in iterate_records(root))
            found.read(nodes, lambda raw: read_work(raw["node"]))
        places = {pmid: place for place, pmid in enumerate(pmids)}
        known = [record for record in found.records if record.service_id in places]
        return sorted(known, key=lambda record: places[record.service_id])

    async def _ask(
        self, name: str, params: Mapping[str, str], kind: AnswerKind, account: Account
    ) -> ServiceAnswer:
        is_long = sum(len(value) for value in params.values()) > _LONGEST_VALUE
        answer = await self._client.ask(
            NAME,
            f"{self._base_url}/{name}.fcgi",
            params=None if is_long else params,
            form_body=params if is_long else None,
            accept="application/xml",
            limits=self._limits,
            kind=kind,
            secret_params=self._secrets,
        )
        return account.add(answer)


def _translate(request: ServiceSearchRequest) -> TranslatedParameters:
    found = translate(
        request.query,
        since=request.since,
        until=request.until,
        includes_preprints=request.includes_preprints,
    )
    return tell_missing_order(found, request.order, ("most_cited",))


def _write_identifier(identifier: Identifier) -> str:
    return f'"{identifier.value}"[{"doi" if isinstance(identifier, Doi) else "pmcid"}]'


def _read(answer: ServiceAnswer, read: Callable[[bytes], FoundT]) -> FoundT:
    """What an answer says; raises what NCBI tells of an error, in a 200 or with its status."""
    try:
        found = read(answer.body)
    except PubMedAnswerError as error:
        if error.is_told or answer.status != 200:
            cause = f"it says {str(error)[:_LONGEST_CAUSE]!r}"
            raise ServiceFailedError(NAME, cause, answer.status) from error
        raise UnreadableAnswerError(NAME, str(error)) from error
    if answer.status != 200:
        raise ServiceFailedError(NAME, f"it answered with status {answer.status}", answer.status)
    return found
