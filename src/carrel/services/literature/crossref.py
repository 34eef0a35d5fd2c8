"""Crossref: search, works by DOI, reference lists, open texts and notices.

Unproved live: `from-created-date`, several types in one filter, and `updates:` for notices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from carrel.libraries.identifiers import Doi, Identifier
from carrel.libraries.literature.crossref import is_part, read_work
from carrel.libraries.literature.crossref_links import read_updates_of
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.false_twins import is_known_false_twin
from carrel.libraries.literature.queries.crossref import translate
from carrel.libraries.literature.raw_fields import count_of, id_of, map_of, maps_of, text_of
from carrel.libraries.literature.records import Notice, ServiceRecord, TextLocation
from carrel.rooms.literature.ports import (
    CitationEdges,
    LookupAnswer,
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
    read_json_object,
    read_list,
    split_batches,
    translate_request,
)
from carrel.services.literature.search_listing import SearchListing, as_query
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "crossref"
# The public pool for lists, which is the slowest; answers announce what holds.
_LIMITS = ServiceLimits(max_concurrent=1, interval_seconds=1.0)
_LARGEST_PAGE = 100
_LAST_PLACE = 10_000
# Addresses stay short enough for every server between.
_MAX_BATCH = 20


class Crossref:
    """Adapter of Crossref, in its polite pool where the client has a contact address."""

    name = NAME
    title = "Crossref"

    def __init__(self, client: ServiceClient, base_url: str, *, api_key: str = "") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._headers = {"Crossref-Plus-API-Token": f"Bearer {api_key}"} if api_key else {}

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        return as_query(translate_request(translate, request))

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        """Pages by offset: a cursor is good for five minutes, and a cached page for a day."""
        asked = translate_request(translate, request)
        listing = SearchListing(NAME, request, asked)
        size = max(1, min(request.limit, _LARGEST_PAGE))
        is_last = False
        while not is_last and len(listing.found.records) < request.limit:
            paging = {"rows": str(size)}
            if listing.place:
                paging["offset"] = str(listing.place)
            answer = await self._ask({**asked.parameters, **paging}, AnswerKind.SEARCH)
            message = _message(listing.account.add(answer))
            items = read_list(NAME, message, "items")
            total = count_of(message.get("total-results"))
            listing.read(items, total, read_work, _make_skip(request.includes_preprints))
            is_last = not items or listing.place >= min(total or 0, _LAST_PLACE)
        return listing.answer(is_complete=listing.has_all)

    def knows(self, identifier: Identifier) -> bool:
        """DOIs but those of arXiv, which another agency registers."""
        return isinstance(identifier, Doi) and identifier.arxiv is None

    async def look_up(self, identifiers: Sequence[Identifier]) -> LookupAnswer:
        """What is not found may be registered by another agency: that says nothing of the DOI."""
        account = Account()
        wanted = self._wanted(identifiers)
        raws = await self._find(wanted, AnswerKind.RECORD, account)
        found: list[tuple[Identifier, ServiceRecord]] = [
            (doi, read_work(raws[doi.value])) for doi in wanted if doi.value in raws
        ]
        return LookupAnswer(NAME, tuple(found), tuple(account.sent), account.cost)

    def knows_citations(self, identifier: Identifier, direction: Literal["in", "out"]) -> bool:
        """Who cites a work is only counted in the public interface."""
        return direction == "out" and self.knows(identifier)

    async def citations(
        self, identifier: Identifier, direction: Literal["in", "out"], limit: int
    ) -> CitationEdges:
        account = Account()
        raws = await self._find(self._wanted([identifier]), AnswerKind.LISTING, account)
        raw = next(iter(raws.values()), None)
        works = None if raw is None or direction == "in" else read_work(raw).work.references
        return answer_citations(NAME, works, limit, account)

    async def locate(
        self, identifier: Identifier
    ) -> tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]:
        """Links of the publisher to texts under an open licence."""
        account = Account()
        raws = await self._find(self._wanted([identifier]), AnswerKind.RECORD, account)
        places = [place for raw in raws.values() for place in read_work(raw).work.locations]
        return tuple(places), tuple(account.sent)

    async def notices(
        self, identifiers: Sequence[Identifier]
    ) -> tuple[tuple[tuple[Identifier, Notice], ...], tuple[SentRequest, ...]]:
        """Notices in the works' own records, and those that name the works."""
        account = Account()
        wanted = self._wanted(identifiers)
        raws = await self._find(wanted, AnswerKind.NOTICE, account)
        found: dict[tuple[Identifier, Notice], None] = {}
        for doi in wanted:
            if doi.value in raws:
                found.update(
                    ((doi, each), None) for each in read_work(raws[doi.value]).work.notices
                )
        for batch in split_batches([doi for doi in wanted if "," not in doi.value], _MAX_BATCH):
            for doi, notice in await self._find_updates(batch, account):
                is_told = any(
                    known == doi and each.kind == notice.kind and each.doi == notice.doi
                    for known, each in found
                )
                if not is_told:
                    found[doi, notice] = None
        return tuple(found), tuple(account.sent)

    async def _find_updates(
        self, dois: Sequence[Doi], account: Account
    ) -> list[tuple[Doi, Notice]]:
        params = {
            "filter": ",".join(f"updates:{doi.value}" for doi in dois),
            "rows": str(_LARGEST_PAGE),
        }
        answer = account.add(await self._ask(params, AnswerKind.NOTICE))
        items = read_list(NAME, _message(answer), "items")
        return [
            (doi, notice)
            for doi in dois
            for raw in maps_of(items)
            for notice in read_updates_of(raw, doi.value)
        ]

    def _wanted(self, identifiers: Sequence[Identifier]) -> list[Doi]:
        return list(
            dict.fromkeys(
                each for each in identifiers if isinstance(each, Doi) and self.knows(each)
            )
        )

    async def _find(
        self, dois: Sequence[Doi], kind: AnswerKind, account: Account
    ) -> dict[str, Mapping[str, Any]]:
        """Records by DOI: one as itself, several in one list that lacks unknown ones."""
        listed = [doi for doi in dois if "," not in doi.value]
        single = [doi for doi in dois if "," in doi.value]
        if len(listed) == 1:
            single, listed = list(dois), []
        found: dict[str, Mapping[str, Any]] = {}
        for doi in single:
            path = f"/works/{quote(doi.value, safe='')}"
            answer = account.add(await self._ask({}, kind, path))
            if not is_unknown(answer):
                message = _message(answer)
                _put(found, message)
                if id_of(Doi, message.get("DOI")) is None:
                    raise UnreadableAnswerError(NAME, "it has no record of a work")
        for batch in split_batches(listed, _MAX_BATCH):
            params = {
                "filter": ",".join(f"doi:{doi.value}" for doi in batch),
                "rows": str(_MAX_BATCH),
            }
            answer = account.add(await self._ask(params, kind))
            for raw in maps_of(read_list(NAME, _message(answer), "items")):
                _put(found, raw)
        return found

    async def _ask(
        self, params: Mapping[str, str], kind: AnswerKind, path: str = "/works"
    ) -> ServiceAnswer:
        contact = self._client.contact
        return await self._client.ask(
            NAME,
            f"{self._base_url}{path}",
            params=params,
            accept="application/json",
            limits=_LIMITS,
            kind=kind,
            secret_params={"mailto": contact} if contact else None,
            secret_headers=self._headers,
        )


def _message(answer: ServiceAnswer) -> Mapping[str, Any]:
    message = read_json_object(NAME, answer).get("message")
    if not isinstance(message, Mapping):
        raise UnreadableAnswerError(NAME, "it has no message")
    return message


def _put(found: dict[str, Mapping[str, Any]], raw: Mapping[str, Any]) -> None:
    doi = id_of(Doi, map_of(raw).get("DOI"))
    try:
        read_work(raw)
    except UnreadableRecordError:
        return
    if doi is not None:
        found.setdefault(doi, raw)


def _make_skip(includes_preprints: bool) -> Callable[[Mapping[str, Any], ServiceRecord], str]:
    def reason_to_skip(raw: Mapping[str, Any], record: ServiceRecord) -> str:
        if is_known_false_twin(record.work):
            return "known as false copies of other works"
        if is_part(raw) and text_of(raw.get("type")) != "dataset":
            return "that are parts of works, or reviews or grants"
        if not includes_preprints and record.work.kind == "preprint":
            return "that are preprints"
        return ""

    return reason_to_skip
