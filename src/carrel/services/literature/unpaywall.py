"""Unpaywall: open copies of a work by its DOI. It is asked with a contact address alone.

Unproved live: what it answers to a placeholder address (422).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from carrel.libraries.identifiers import Doi, Identifier
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.records import ServiceRecord, TextLocation
from carrel.libraries.literature.unpaywall import read_locations, read_work
from carrel.rooms.literature.ports import LookupAnswer, SentRequest
from carrel.services.literature.answers import AnswerKind
from carrel.services.literature.errors import KeyRefusedError, UnreadableAnswerError
from carrel.services.literature.listings import Account, is_unknown, list_known, read_json_object
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "unpaywall"
_LIMITS = ServiceLimits(max_concurrent=2, interval_seconds=0.1)


class Unpaywall:
    """Adapter of Unpaywall, which wants the address of whoever asks."""

    name = NAME
    title = "Unpaywall"

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    def knows(self, identifier: Identifier) -> bool:
        return isinstance(identifier, Doi)

    async def look_up(self, identifiers: Sequence[Identifier]) -> LookupAnswer:
        """One request for each DOI: there are no batches."""
        account = Account()
        found: list[tuple[Identifier, ServiceRecord]] = []
        for identifier in list_known(identifiers, self.knows):
            raw = await self._one(identifier, account)
            if raw is not None:
                found.append((identifier, _read(raw)))
        return LookupAnswer(NAME, tuple(found), tuple(account.sent), account.cost)

    async def locate(
        self, identifier: Identifier
    ) -> tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]:
        account = Account()
        raw = await self._one(identifier, account)
        return () if raw is None else read_locations(raw), tuple(account.sent)

    async def _one(self, identifier: Identifier, account: Account) -> Mapping[str, Any] | None:
        """The answer for a DOI, or None where Unpaywall does not have it."""
        contact = self._client.contact
        if not contact:
            raise KeyRefusedError(
                NAME, "it is asked with a contact address alone (set literature.contact)"
            )
        answer = account.add(
            await self._client.ask(
                NAME,
                f"{self._base_url}/v2/{quote(identifier.value, safe='/:;()')}",
                accept="application/json",
                limits=_LIMITS,
                kind=AnswerKind.RECORD,
                secret_params={"email": contact},
            )
        )
        if answer.status == 422:
            raise KeyRefusedError(NAME, "it does not accept the contact address", answer.status)
        return None if is_unknown(answer) else read_json_object(NAME, answer)


def _read(raw: Mapping[str, Any]) -> ServiceRecord:
    try:
        return read_work(raw)
    except UnreadableRecordError as error:
        raise UnreadableAnswerError(NAME, error.reason) from error
