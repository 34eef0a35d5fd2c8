"""arXiv: search, papers by identifier, and where their texts are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrel.libraries.identifiers import ArxivId, Doi, Identifier
from carrel.libraries.literature.arxiv import TEXTS_URL, read_work
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.arxiv import translate
from carrel.libraries.literature.records import ServiceRecord
from carrel.rooms.literature.ports import ServiceSearchAnswer, ServiceSearchRequest, TranslatedQuery
from carrel.services.literature.answers import AnswerKind
from carrel.services.literature.arxiv_feed import NAME, ArxivFeed
from carrel.services.literature.listings import Account, split_batches, tell_missing_order
from carrel.services.literature.record_finder import NoticeFinder
from carrel.services.literature.search_listing import SearchListing, as_query
from carrel.services.literature.service_client import ServiceClient

_LARGEST_PAGE = 500
_IDENTIFIERS_AT_ONCE = 50
# arXiv gives no more of one search.
_MOST_LISTED = 30_000
_ORDERS = {"relevance": "relevance", "newest": "submittedDate", "most_cited": "relevance"}
_PREPRINTS_ONLY = "arXiv has preprints only, and they were not asked for"


class Arxiv(NoticeFinder):
    """Adapter of arXiv; its notices are of papers that their authors withdrew."""

    name = NAME
    title = "arXiv"

    def __init__(self, client: ServiceClient, base_url: str, *, texts_url: str = TEXTS_URL) -> None:
        self._feed = ArxivFeed(client, base_url)
        self._texts_url = texts_url

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        return as_query(_translate(request))

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        """Nothing is asked where preprints are not wanted: every paper there is one."""
        asked = _translate(request)
        if not request.includes_preprints:
            remarks = (_PREPRINTS_ONLY,)
            return ServiceSearchAnswer(
                NAME, as_query(asked), (), total=0, is_complete=True, remarks=remarks
            )
        listing = SearchListing(NAME, request, asked)
        params = {
            **asked.parameters,
            "sortBy": _ORDERS[request.order],
            "sortOrder": "descending",
        }
        limit = min(request.limit, _MOST_LISTED)
        while listing.place < limit:
            size = min(_LARGEST_PAGE, limit - listing.place)
            page = await self._feed.read_page(params, listing.place, size, listing.account)
            listing.read(({"entry": entry} for entry in page.entries), page.total, self._read)
            if not page.entries or listing.has_all:
                break
        is_complete = listing.total is not None and listing.total <= min(listing.place, limit)
        return listing.answer(is_complete=is_complete)

    def knows(self, identifier: Identifier) -> bool:
        return _arxiv_id(identifier) is not None

    async def _find(
        self, identifiers: Sequence[Identifier], kind: AnswerKind, account: Account
    ) -> list[tuple[Identifier, ServiceRecord]]:
        """Entries are kept as records whatever is asked for."""
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


def _translate(request: ServiceSearchRequest) -> TranslatedParameters:
    found = translate(request.query, since=request.since, until=request.until)
    return tell_missing_order(found, request.order, ("most_cited",))


def _arxiv_id(identifier: Identifier) -> ArxivId | None:
    if isinstance(identifier, ArxivId):
        return identifier
    return identifier.arxiv if isinstance(identifier, Doi) else None
