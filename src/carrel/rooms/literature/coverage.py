"""What an answer says of the services: asked, answered, failed and why, cost, and what left."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.rooms.literature.asking import Answered, Failed, NotAsked
from carrel.rooms.literature.errors import FailureKind, LiteratureUnavailableError
from carrel.rooms.literature.models import SentOut, ServiceCoverage
from carrel.rooms.literature.ports import (
    SentRequest,
    ServiceCost,
    ServiceSearchAnswer,
    TranslatedQuery,
)

_NEXT_STEPS: Mapping[FailureKind, str] = {
    "network_off": "Set network = true (CARREL_NETWORK=true), or add what you have as files.",
    "unreachable": "Check the connection to the network and try again; carrel doctor --online "
    "asks each service once.",
    "timed_out": "Try again, with fewer services or a longer literature.timeout_seconds.",
    "rate_limited": "Wait a little and ask again; a contact address (literature.contact) and keys "
    "raise the limits.",
    "budget_spent": "Ask again after the budget was renewed, set a key with a larger one, or name "
    "other services.",
    "paused": "The service failed repeatedly and is left alone for a while; ask again later.",
    "not_recorded": "Set literature.mode = live or record to ask the services themselves.",
    "key_refused": "Check the key of this service in the settings.",
}
_TRY_AGAIN = "Try again later, or name other services."


@dataclass(frozen=True, slots=True)
class SearchCoverage:
    """What became of one search; `names` are services as people write them."""

    outcomes: Sequence[Answered[ServiceSearchAnswer] | Failed | NotAsked]
    names: Mapping[str, str]
    translated: Mapping[str, TranslatedQuery]

    @property
    def failures(self) -> list[Failed]:
        return [outcome for outcome in self.outcomes if isinstance(outcome, Failed)]

    @property
    def answers(self) -> list[ServiceSearchAnswer]:
        return [each.answer for each in self.outcomes if isinstance(each, Answered)]

    @property
    def expressing(self) -> set[str]:
        """The services that answered and could express the whole query."""
        return {each.service for each in self.answers if not each.translated.not_expressed}

    def lines(self, new: Mapping[str, int]) -> list[ServiceCoverage]:
        """One entry a service; `new` counts what each alone found."""
        return [self._line(outcome, new) for outcome in self.outcomes]

    def _line(
        self, outcome: Answered[ServiceSearchAnswer] | Failed | NotAsked, new: Mapping[str, int]
    ) -> ServiceCoverage:
        match outcome:
            case NotAsked(service, reason):
                return ServiceCoverage(service=service, state="not_asked", reason=reason)
            case Failed(service):
                translated = self.translated.get(service, TranslatedQuery(""))
                return failed_line(outcome).model_copy(
                    update={
                        "query": translated.text,
                        "not_expressed": list(translated.not_expressed),
                    }
                )
            case Answered(service, answer):
                return ServiceCoverage(
                    service=service,
                    state="answered",
                    query=answer.translated.text,
                    not_expressed=list(answer.translated.not_expressed),
                    total=answer.total,
                    returned=len(answer.records),
                    new=new.get(service, 0),
                    is_complete=answer.is_complete,
                    sent=[sent_out(each) for each in answer.sent],
                    remarks=list(answer.remarks),
                    **cost_fields(answer.cost, answer.sent),
                )

    def describe(self, total: int) -> str:
        """What was found and who did not answer, in one or two sentences."""
        asked = [each for each in self.outcomes if not isinstance(each, NotAsked)]
        answered = len(asked) - len(self.failures)
        who = f"{answered} of {len(asked)} services answered"
        if not self.failures:
            found = f"{total:,} works" if total != 1 else "1 work"
            said = f"{found} found" if total else "Nothing found"
            return f"{said}; all {len(asked)} services answered." if len(asked) > 1 else f"{said}."
        missing = join_names([self.names[each.service] for each in self.failures])
        if not total:
            return f"Not known: {missing} did not answer; the others found nothing."
        found = f"{total:,} works" if total != 1 else "1 work"
        return f"{found} found; {who}. Not known what {missing} would have found."

    def raise_if_silent(self) -> None:
        """Raises LiteratureUnavailableError where no service answered, or none was asked."""
        if self.answers:
            return
        lines = self.lines({})
        if self.failures:
            raise_unavailable("No literature service answered", self.failures, lines, self.names)
        unasked = [each for each in self.outcomes if isinstance(each, NotAsked) and each.is_wanted]
        told = "; ".join(f"{self.names[each.service]}: {each.reason}" for each in unasked)
        raise_unavailable(f"No literature service could be asked ({told})", (), lines, self.names)


def raise_unavailable(
    message: str,
    failures: Sequence[Failed],
    lines: Sequence[ServiceCoverage],
    names: Mapping[str, str],
) -> None:
    """Raises with every failure, and what to do where they have one cause."""
    told = "; ".join(_tell(each, names) for each in failures)
    kinds = {each.failure for each in failures}
    step = _NEXT_STEPS.get(next(iter(kinds)), _TRY_AGAIN) if len(kinds) == 1 else _TRY_AGAIN
    raise LiteratureUnavailableError(
        f"{message} ({told})" if told else message,
        next_step=step,
        details={"coverage": [line.model_dump(mode="json") for line in lines]},
    )


def _tell(failure: Failed, names: Mapping[str, str]) -> str:
    """The reason, with the service's name before it where the reason does not say it."""
    name = names.get(failure.service, failure.service)
    return failure.reason if name in failure.reason else f"{name}: {failure.reason}"


def failed_line(outcome: Failed) -> ServiceCoverage:
    """The entry of a service that did not answer."""
    return ServiceCoverage(
        service=outcome.service,
        state="failed",
        failure=outcome.failure,
        reason=outcome.reason,
        retry_after_seconds=outcome.retry_after_seconds,
    )


def lookup_line(
    service: str, count: int, is_new: bool, sent: Sequence[SentRequest], cost: ServiceCost
) -> ServiceCoverage:
    """The entry of a service that was asked for a work by identifier."""
    return ServiceCoverage(
        service=service,
        state="answered",
        returned=count,
        new=int(is_new),
        is_complete=True,
        sent=[sent_out(each) for each in sent],
        **cost_fields(cost, sent),
    )


def cost_fields(cost: ServiceCost, sent: Sequence[SentRequest]) -> dict[str, float | int | None]:
    """What the answer cost; nothing where it came from the cache or a recording."""
    if sent and all(each.is_from_cache for each in sent):
        return {"cost_usd": None if cost.cost_usd is None else 0.0}
    return {
        "cost_usd": cost.cost_usd,
        "budget_left_usd": cost.budget_left_usd,
        "requests_left": cost.requests_left,
        "resets_in_seconds": cost.resets_in_seconds,
    }


def sent_out(sent: SentRequest) -> SentOut:
    kept: Literal["cache", "recording"] = "recording" if sent.is_recorded else "cache"
    return SentOut(
        method=sent.method,
        url=sent.url,
        answered_by=kept if sent.is_from_cache else "service",
        answered_at=sent.answered_at,
    )


def join_names(names: Collection[str]) -> str:
    """`OpenAlex, PubMed and arXiv`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
