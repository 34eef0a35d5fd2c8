"""Adapters that find whole records and take from them whatever is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from carrel.libraries.identifiers import Identifier
from carrel.libraries.literature.records import Notice, ServiceRecord, TextLocation
from carrel.rooms.literature.ports import LookupAnswer, SentRequest
from carrel.services.literature.answers import AnswerKind
from carrel.services.literature.listings import Account
from carrel.services.literature.matching import list_notices


class RecordFinder(ABC):
    """Records by identifier, and the places of texts that they name."""

    name: str

    @abstractmethod
    async def _find(
        self, identifiers: Sequence[Identifier], kind: AnswerKind, account: Account
    ) -> list[tuple[Identifier, ServiceRecord]]:
        """The records of the identifiers that the service knows, each beside its identifier."""

    async def look_up(self, identifiers: Sequence[Identifier]) -> LookupAnswer:
        account = Account()
        found = await self._find(identifiers, AnswerKind.RECORD, account)
        return LookupAnswer(self.name, tuple(found), tuple(account.sent), account.cost)

    async def locate(
        self, identifier: Identifier
    ) -> tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]:
        account = Account()
        found = await self._find([identifier], AnswerKind.RECORD, account)
        places = tuple(place for _, record in found for place in record.work.locations)
        return places, tuple(account.sent)


class NoticeFinder(RecordFinder):
    """The same, for services whose records tell of retractions and withdrawals."""

    async def notices(
        self, identifiers: Sequence[Identifier]
    ) -> tuple[tuple[tuple[Identifier, Notice], ...], tuple[SentRequest, ...]]:
        account = Account()
        found = await self._find(identifiers, AnswerKind.NOTICE, account)
        return list_notices(found), tuple(account.sent)
