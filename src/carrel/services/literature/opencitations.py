"""OpenCitations: citations between works, and records of its Meta.

Unproved live: version 2 of the index, and several works in one question to Meta; recordings show
version 1 and one record of Meta.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import quote

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmid
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.opencitations import read_edge, read_work
from carrel.libraries.literature.raw_fields import maps_of
from carrel.libraries.literature.records import ServiceRecord, WorkIds
from carrel.rooms.literature.ports import CitationEdges, LookupAnswer
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.errors import UnreadableAnswerError
from carrel.services.literature.listings import (
    Account,
    answer_citations,
    is_unknown,
    list_known,
    read_json,
    split_batches,
)
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "opencitations"
# 180 requests a minute.
_LIMITS = ServiceLimits(max_concurrent=2, interval_seconds=0.34)
_MAX_BATCH = 10
_BETWEEN_IDS = "__"


class OpenCitations:
    """Adapter of OpenCitations; the key is its token, which is optional."""

    name = NAME
    title = "OpenCitations"

    def __init__(self, client: ServiceClient, base_url: str, *, api_key: str = "") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._headers = {"authorization": api_key} if api_key else {}

    def knows(self, identifier: Identifier) -> bool:
        return isinstance(identifier, Doi | Pmid | ArxivId)

    async def look_up(self, identifiers: Sequence[Identifier]) -> LookupAnswer:
        account = Account()
        wanted = list_known(identifiers, self.knows)
        found: list[tuple[Identifier, ServiceRecord]] = []
        for batch in split_batches(wanted, _MAX_BATCH):
            names = _BETWEEN_IDS.join(_id_of(each) for each in batch)
            rows = await self._rows(f"/meta/v1/metadata/{names}", AnswerKind.RECORD, account)
            records = [record for row in maps_of(rows) if (record := _read_or_none(row))]
            for each in batch:
                own = [record for record in records if _names(record.work.ids, each)]
                found.extend((each, record) for record in own[:1])
        return LookupAnswer(NAME, tuple(found), tuple(account.sent), account.cost)

    def knows_citations(self, identifier: Identifier, direction: Literal["in", "out"]) -> bool:
        return self.knows(identifier)

    async def citations(
        self, identifier: Identifier, direction: Literal["in", "out"], limit: int
    ) -> CitationEdges:
        """The whole list comes at once; an empty one is the same for works it does not know."""
        account = Account()
        name = "citations" if direction == "in" else "references"
        path = f"/index/v2/{name}/{_id_of(identifier)}"
        rows = await self._rows(path, AnswerKind.LISTING, account)
        end: Literal["citing", "cited"] = "citing" if direction == "in" else "cited"
        works = tuple(dict.fromkeys(found for row in rows if (found := read_edge(row, end))))
        return answer_citations(NAME, works or None, limit, account)

    async def _rows(self, path: str, kind: AnswerKind, account: Account) -> list[Any]:
        answer: ServiceAnswer = account.add(
            await self._client.ask(
                NAME,
                f"{self._base_url}{quote(path, safe='/:;()_.-')}",
                accept="application/json",
                limits=_LIMITS,
                kind=kind,
                secret_headers=self._headers,
            )
        )
        if is_unknown(answer):
            return []
        rows = read_json(NAME, answer)
        if not isinstance(rows, list):
            raise UnreadableAnswerError(NAME, "it is not a list")
        return rows


def _read_or_none(row: Any) -> ServiceRecord | None:
    try:
        return read_work(row)
    except UnreadableRecordError:
        return None


def _names(ids: WorkIds, identifier: Identifier) -> bool:
    return _id_of(identifier) in (f"doi:{ids.doi}", f"pmid:{ids.pmid}")


def _id_of(identifier: Identifier) -> str:
    match identifier:
        case Pmid(value=value):
            return f"pmid:{value}"
        case ArxivId():
            return f"doi:{identifier.doi}"
        case _:
            return f"doi:{identifier.value}"
