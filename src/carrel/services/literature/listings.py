"""Lists in answers of literature services: their JSON, their records, and what they cost in all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from carrel.libraries.identifiers import Identifier
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.raw_fields import map_of, text_of
from carrel.libraries.literature.records import CitedWorkRecord, ServiceRecord
from carrel.rooms.literature.ports import (
    CitationEdges,
    SearchOrder,
    SentRequest,
    ServiceCost,
    ServiceSearchRequest,
)
from carrel.services.literature.answers import ServiceAnswer
from carrel.services.literature.errors import (
    ServiceFailedError,
    UnreadableAnswerError,
)
from carrel.services.literature.lenient_json import decode_json

_NOT_FOUND = frozenset({404, 410})
_MAX_MESSAGE = 300
_ORDER_NAMES = {"newest": "the order by date", "most_cited": "the order by citations"}
ItemT = TypeVar("ItemT")


def is_unknown(answer: ServiceAnswer) -> bool:
    """Whether the service says that it has no such record."""
    return answer.status in _NOT_FOUND


def read_json(service: str, answer: ServiceAnswer) -> Any:
    """The JSON of a good answer; raises what the service says where it refuses the question."""
    if answer.status != 200:
        cause = f"it answered with status {answer.status}"
        said = read_refusal(answer.body)
        raise ServiceFailedError(service, f"{cause}: {said}" if said else cause, answer.status)
    try:
        return decode_json(answer.body)
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswerError(service, "it is not JSON") from error


def read_json_object(service: str, answer: ServiceAnswer) -> Mapping[str, Any]:
    """The same, for an answer that must be an object."""
    found = read_json(service, answer)
    if not isinstance(found, Mapping):
        raise UnreadableAnswerError(service, "it is not an object")
    return found


def read_list(service: str, found: Mapping[str, Any], name: str) -> list[Any]:
    """A list that an answer must have."""
    items = found.get(name)
    if not isinstance(items, list):
        raise UnreadableAnswerError(service, f"it has no list of {name}")
    return items


def read_refusal(body: bytes) -> str:
    """What a service says about a question that it does not take, in a few words."""
    try:
        found = decode_json(body)
    except (ValueError, RecursionError):
        return ""
    message = map_of(found).get("message") or map_of(found).get("error")
    if isinstance(message, list) and message:
        message = map_of(message[0]).get("message")
    return text_of(message)[:_MAX_MESSAGE]


def read_record(
    service: str,
    answer: ServiceAnswer,
    read_work: Callable[[Mapping[str, Any]], ServiceRecord],
) -> Mapping[str, Any]:
    """The object of an answer that must hold a record which can be read."""
    raw = read_json_object(service, answer)
    try:
        read_work(raw)
    except UnreadableRecordError as error:
        raise UnreadableAnswerError(service, error.reason) from error
    return raw


@dataclass(slots=True)
class Account:
    """The requests that one question took, and what they cost."""

    sent: list[SentRequest] = field(default_factory=list)
    cost: ServiceCost = field(default_factory=ServiceCost)

    def add(self, answer: ServiceAnswer, cost_usd: float | None = None) -> ServiceAnswer:
        """Count an answer; `cost_usd` is the price in its body, for where no header has it."""
        self.sent.append(answer.sent)
        if answer.sent.is_from_cache or answer.sent.is_recorded:
            return answer
        new, known = answer.cost, self.cost
        price = new.cost_usd if new.cost_usd is not None else cost_usd
        total = known.cost_usd if price is None else (known.cost_usd or 0.0) + price
        latest = {
            name: value
            for name in ("budget_left_usd", "requests_left", "resets_in_seconds")
            if (value := getattr(new, name)) is not None
        }
        self.cost = replace(known, cost_usd=total, **latest)
        return answer


@dataclass(slots=True)
class FoundRecords:
    """Records in the order of a service's list; what was passed over is counted."""

    records: list[ServiceRecord] = field(default_factory=list)
    place: int = 0
    passed_over: dict[str, int] = field(default_factory=dict)

    def read(
        self,
        raws: Iterable[object],
        read_work: Callable[[Mapping[str, Any]], ServiceRecord],
        reason_to_skip: Callable[[Mapping[str, Any], ServiceRecord], str] | None = None,
    ) -> None:
        """Take a page; each record keeps its place in the whole list as its rank."""
        for raw in raws:
            self.place += 1
            try:
                record = read_work(map_of(raw))
            except UnreadableRecordError:
                self._pass_over("without title and identifier")
                continue
            reason = "" if record.work.title else "without a title"
            if not reason and reason_to_skip is not None:
                reason = reason_to_skip(map_of(raw), record)
            if reason:
                self._pass_over(reason)
            else:
                self.records.append(replace(record, rank=self.place))

    def _pass_over(self, reason: str) -> None:
        self.passed_over[reason] = self.passed_over.get(reason, 0) + 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was passed over and why, in plain words."""
        return tuple(
            f"{count} {'entry' if count == 1 else 'entries'} {reason}"
            for reason, count in self.passed_over.items()
        )


def skip_preprints(includes_preprints: bool) -> Callable[[Mapping[str, Any], ServiceRecord], str]:
    """Why a record is passed over where preprints are not wanted."""

    def reason_to_skip(_: Mapping[str, Any], record: ServiceRecord) -> str:
        is_unwanted = not includes_preprints and record.work.kind == "preprint"
        return "that are preprints" if is_unwanted else ""

    return reason_to_skip


def translate_request(translate: Callable[..., ItemT], request: ServiceSearchRequest) -> ItemT:
    """A request in a service's language, by the translation of that service."""
    return translate(
        request.query,
        order=request.order,
        since=request.since,
        until=request.until,
        includes_preprints=request.includes_preprints,
    )


def tell_missing_order(
    asked: TranslatedParameters, order: SearchOrder, missing: Sequence[SearchOrder]
) -> TranslatedParameters:
    """The query with a remark where the service lacks the order that is wanted."""
    if order not in missing:
        return asked
    return replace(asked, not_expressed=(*asked.not_expressed, _ORDER_NAMES[order]))


def list_known(
    identifiers: Iterable[Identifier], knows: Callable[[Identifier], bool]
) -> list[Identifier]:
    """The identifiers that a service knows, each once."""
    return list(dict.fromkeys(each for each in identifiers if knows(each)))


def answer_citations(
    service: str, works: tuple[CitedWorkRecord, ...] | None, limit: int, account: Account
) -> CitationEdges:
    """A list that came as a whole, up to the limit; None where the service has none."""
    return CitationEdges(
        service,
        None if works is None else works[:limit],
        total=None if works is None else len(works),
        is_complete=works is not None and len(works) <= limit,
        sent=tuple(account.sent),
        cost=account.cost,
    )


def split_batches(items: Sequence[ItemT], size: int) -> Iterator[Sequence[ItemT]]:
    """The items in order, at most so many at once."""
    for at in range(0, len(items), size):
        yield items[at : at + size]
