"""An answer of a literature service: how long it may be kept, what was sent, what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from carrel.rooms.literature.ports import SentRequest, ServiceCost
from carrel.services.fetching import HttpAnswer

_DAY = 86_400.0


class AnswerKind(Enum):
    """What was asked for, which says how long the answer stays good."""

    RECORD = "record"
    SEARCH = "search"
    NEGATIVE = "negative"
    NOTICE = "notice"
    LISTING = "listing"
    PROBE = "probe"

    @property
    def max_age_seconds(self) -> float:
        return _MAX_AGES[self]


_MAX_AGES = {
    AnswerKind.RECORD: 30 * _DAY,
    AnswerKind.SEARCH: _DAY,
    AnswerKind.NEGATIVE: _DAY,
    AnswerKind.NOTICE: 7 * _DAY,
    AnswerKind.LISTING: 7 * _DAY,
    # Never kept.
    AnswerKind.PROBE: 0.0,
}


@dataclass(frozen=True, slots=True)
class ServiceAnswer(HttpAnswer):
    """A service's final answer: 200, or a status that the caller tells apart, such as 404."""

    sent: SentRequest
    cost: ServiceCost = field(default_factory=ServiceCost)
