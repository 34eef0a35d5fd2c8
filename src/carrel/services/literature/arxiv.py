"""arXiv: search, papers by identifier, and where their texts are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrel.libraries.identifiers import ArxivId, Doi, Identifier
from carrel.libraries.literature.arxiv import TEXTS_URL, read_work
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.arxiv import translate
from carrel.libraries.literature.records import Notice, ServiceRecord, TextLocation
from carrel.rooms.literature.ports import (
    LookupAnswer,
    SearchAnswer,
    SearchRequest,
    SentRequest,
    TranslatedQuery,
)
from carrel.services.literature.arxiv_feed import NAME, ArxivFeed
from carrel.services.literature.listings import (
    Account,
    FoundRecords,
    say_cannot_ask,
    split_batches,
)
from carrel.services.literature.matching import list_notices
from carrel.services.literature.service_client import ServiceClient

_LARGEST_PAGE = 500
_IDENTIFIERS_AT_ONCE = 50
# arXiv gives no more of one search.
_MOST_LISTED = 30_000
_ORDERS = {"relevance": "relevance", "newest": "submittedDate", "most_cited": "relevance"}
_PREPRINTS_ONLY = "arXiv has preprints only, and they were not asked for"


class Arxiv:
    """Adapter of arXiv."""

    name = NAME
    title = "arXiv"

    def __init__(self, client: ServiceClient, base_url: str, *, texts_url: str = TEXTS_URL) -> None:
        self._feed = ArxivFeed(client, base_url)
        self._texts_url = texts_url

    def translate(self, request: SearchRequest) -> TranslatedQuery:
        found = _translate(request)
        return TranslatedQuery(found.text, found.not_expressed)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """Nothing is asked where preprints are not wanted: every paper there is one."""
        asked = _translate(request)
        translated = TranslatedQuery(asked.text, asked.not_expressed)
        if not request.includes_preprints:
            return SearchAnswer(
                NAME, translated, (), total=0, is_complete=True, remarks=(_PREPRINTS_ONLY,)
            )
        if not asked.parameters:
            raise say_cannot_ask(NAME, asked.not_expressed)
        account, found = Account(), FoundRecords()
        params = {
            **asked.parameters,
            "sortBy": _ORDERS[request.order],
            "sortOrder": "descending",
        }
        limit = min(request.limit, _MOST_LISTED)
        total: int | None = None
        while found.place < limit:
            size = min(_LARGEST_PAGE, limit - found.place)
            page = await self._feed.read_page(params, found.place, size, account)
            total = page.total
            found.read(({"entry": entry} for entry in page.entries), self._read)
            if not page.entries or (total is not None and found.place >= total):
                break
        return SearchAnswer(
            NAME,
            translated,
            tuple(found.records[: request.limit]),
            total=total,
            is_complete=total is not None and total <= min(found.place, limit),
            sent=tuple(account.sent),
            cost=account.cost,
            remarks=found.remarks,
        )

    def knows(self, identifier: Identifier) -> bool:
        return _arxiv_id(identifier) is not None

    async def look_up(self, identifiers: Sequence[Identifier]) -> LookupAnswer:
        account = Account()
        found = await self._find(identifiers, account)
        return LookupAnswer(NAME, tuple(found), tuple(account.sent), account.cost)

    async def locate(
        self, identifier: Identifier
    ) -> tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]:
        account = Account()
        found = await self._find([identifier], account)
        places = tuple(place for _, record in found for place in record.work.locations)
        return places, tuple(account.sent)

    async def notices(
        self, identifiers: Sequence[Identifier]
    ) -> tuple[tuple[tuple[Identifier, Notice], ...], tuple[SentRequest, ...]]:
        """Papers that their authors withdrew."""
        account = Account()
        found = await self._find(identifiers, account)
        return list_notices(found), tuple(account.sent)

    async def _find(
        self, identifiers: Sequence[Identifier], account: Account
    ) -> list[tuple[Identifier, ServiceRecord]]:
        named = {each: name for each in identifiers if (name := _arxiv_id(each)) is not None}
        found: list[tuple[Identifier, ServiceRecord]] = []
        for batch in split_batches(list(dict.fromkeys(named.values())), _IDENTIFIERS_AT_ONCE):
            entries = await self._feed.fetch(batch, account)
            for identifier, name in named.items():
                entry = entries.get(name)
                if entry is None:
                    continue
                try:
                    found.append((identifier, read_work(entry, self._texts_url)))
                except UnreadableRecordError:
                    continue
        return found

    def _read(self, raw: Mapping[str, Any]) -> ServiceRecord:
        return read_work(raw["entry"], self._texts_url)


def _translate(request: SearchRequest) -> TranslatedParameters:
    found = translate(request.query, since=request.since, until=request.until)
    if request.order != "most_cited":
        return found
    remarks = (*found.not_expressed, "the order by citations")
    return TranslatedParameters(found.parameters, found.text, remarks)


def _arxiv_id(identifier: Identifier) -> ArxivId | None:
    if isinstance(identifier, ArxivId):
        return identifier
    return identifier.arxiv if isinstance(identifier, Doi) else None
