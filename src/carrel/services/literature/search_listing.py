"""One search of a service: what it may ask, what its pages gave so far, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.records import ServiceRecord
from carrel.rooms.literature.ports import ServiceSearchAnswer, ServiceSearchRequest, TranslatedQuery
from carrel.services.literature.errors import ServiceFailedError
from carrel.services.literature.listings import Account, FoundRecords


@dataclass(slots=True)
class SearchListing:
    """The pages of one search; how the next page is asked for is the adapter's.

    Raises ServiceFailedError for a query of which nothing can be put to the service.
    """

    service: str
    request: ServiceSearchRequest
    asked: TranslatedParameters
    account: Account = field(default_factory=Account)
    found: FoundRecords = field(default_factory=FoundRecords)
    # As the last page says it.
    total: int | None = None

    def __post_init__(self) -> None:
        if not self.asked.parameters:
            what = "; ".join(self.asked.not_expressed) or "it has no words"
            cause = f"the query cannot be put to it ({what})"
            raise ServiceFailedError(self.service, cause)

    @property
    def place(self) -> int:
        """How many entries came so far, with those that were passed over."""
        return self.found.place

    @property
    def has_all(self) -> bool:
        """Whether as many entries came as the service says that there are."""
        return self.total is not None and self.place >= self.total

    def read(
        self,
        entries: Iterable[object],
        total: int | None,
        read_work: Callable[[Mapping[str, Any]], ServiceRecord],
        reason_to_skip: Callable[[Mapping[str, Any], ServiceRecord], str] | None = None,
    ) -> None:
        """Take a page and the number of works that it tells."""
        self.total = total
        self.found.read(entries, read_work, reason_to_skip)

    def answer(
        self, *, is_complete: bool, remarks: Iterable[str] | None = None
    ) -> ServiceSearchAnswer:
        """What was found; `remarks` are told in place of what was passed over."""
        return ServiceSearchAnswer(
            self.service,
            as_query(self.asked),
            tuple(self.found.records[: self.request.limit]),
            total=self.total,
            is_complete=is_complete,
            sent=tuple(self.account.sent),
            cost=self.account.cost,
            remarks=self.found.remarks if remarks is None else tuple(remarks),
        )


def as_query(asked: TranslatedParameters) -> TranslatedQuery:
    """A translated query as people see it."""
    return TranslatedQuery(asked.text, asked.not_expressed)
