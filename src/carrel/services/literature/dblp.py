"""dblp: search over publications of computer science."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from carrel.libraries.literature.dblp import read_element, read_work
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.dblp import translate
from carrel.libraries.literature.raw_fields import count_of, list_of, map_of, text_of
from carrel.libraries.literature.records import ServiceRecord
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.libraries.text.xml import XmlError, parse_xml_nodes
from carrel.rooms.literature.ports import (
    OwnRecordAnswer,
    ServiceSearchAnswer,
    ServiceSearchRequest,
    TranslatedQuery,
)
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.errors import ServiceFailedError, UnreadableAnswerError
from carrel.services.literature.listings import (
    Account,
    is_unknown,
    read_json_object,
    skip_preprints,
    tell_missing_order,
)
from carrel.services.literature.search_listing import SearchListing, as_query
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "dblp"
_LIMITS = ServiceLimits(max_concurrent=1, interval_seconds=1.0)
_LARGEST_PAGE = 1_000
_KEY = re.compile(r"[\w.+/-]{3,200}", re.ASCII)


class Dblp:
    """Adapter of dblp, which knows works by words and by its own keys."""

    name = NAME
    title = "dblp"

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._address = f"{self._base_url}/search/publ/api"

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        return as_query(_translate(request))

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        asked = _translate(request)
        listing = SearchListing(NAME, request, asked)
        while listing.place < request.limit:
            size = min(_LARGEST_PAGE, request.limit - listing.place)
            hits = await self._page(asked.parameters, listing.place, size, listing.account)
            # The list is missing where nothing was found, and is one object in older answers.
            listed = hits.get("hit")
            entries = [listed] if isinstance(listed, Mapping) else list_of(listed)
            total = count_of(hits.get("@total"))
            listing.read(entries, total, read_work, skip_preprints(request.includes_preprints))
            if not entries or total is None or listing.has_all:
                break
        return listing.answer(is_complete=listing.has_all)

    async def look_up_own(self, kind: str, value: str) -> OwnRecordAnswer:
        """A record by its key, such as `conf/dac/ZhangYY21` (unproved live)."""
        account = Account()
        if kind != NAME or not _KEY.fullmatch(value):
            return OwnRecordAnswer(NAME, None)
        answer = await self._client.ask(
            NAME,
            f"{self._base_url}/rec/{quote(value)}.xml",
            accept="application/xml",
            limits=_LIMITS,
            kind=AnswerKind.RECORD,
        )
        account.add(answer)
        record = None if is_unknown(answer) else _read_record(answer)
        return OwnRecordAnswer(NAME, record, tuple(account.sent), account.cost)

    async def _page(
        self, params: Mapping[str, str], first: int, size: int, account: Account
    ) -> Mapping[str, Any]:
        answer = await self._client.ask(
            NAME,
            self._address,
            params={**params, "format": "json", "h": str(size), "f": str(first)},
            accept="application/json",
            limits=_LIMITS,
            kind=AnswerKind.SEARCH,
        )
        result = map_of(read_json_object(NAME, account.add(answer)).get("result"))
        status = map_of(result.get("status"))
        if status and text_of(status.get("@code")) != "200":
            said = text_of(status.get("text")) or "no reason"
            raise ServiceFailedError(NAME, f"it says {said[:300]!r}")
        if not isinstance(result.get("hits"), Mapping):
            raise UnreadableAnswerError(NAME, "it has no list of hits")
        return map_of(result["hits"])


def _translate(request: ServiceSearchRequest) -> TranslatedParameters:
    found = translate(request.query, since=request.since, until=request.until)
    return tell_missing_order(found, request.order, ("newest", "most_cited"))


def _read_record(answer: ServiceAnswer) -> ServiceRecord:
    if answer.status != 200:
        raise ServiceFailedError(NAME, f"it answered with status {answer.status}", answer.status)
    try:
        element = next(parse_xml_nodes(answer.body).nodes(), None)
        if element is None:
            raise UnreadableAnswerError(NAME, "it has no record")
        return read_element(element)
    except (XmlError, InputTooCostlyError, UnreadableRecordError) as error:
        raise UnreadableAnswerError(NAME, str(error)) from error
