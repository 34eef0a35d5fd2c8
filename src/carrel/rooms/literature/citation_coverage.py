"""What became of questions for citations at each service, one entry a service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.rooms.literature.asking import Answered, Failed
from carrel.rooms.literature.coverage import cost_fields, failed_line, sent_out
from carrel.rooms.literature.models import ServiceCoverage
from carrel.rooms.literature.ports import CitationEdges, LookupAnswer

OneWay = Literal["in", "out"]


@dataclass(frozen=True, slots=True)
class AskedCitations:
    """A question to a service about one version in one direction, and what became of it."""

    service: str
    way: OneWay
    of: str
    outcome: Answered[CitationEdges] | Failed


def asked_line(asked: AskedCitations) -> ServiceCoverage:
    if isinstance(asked.outcome, Failed):
        return failed_line(asked.outcome)
    answer = asked.outcome.answer
    words = "works that cite" if asked.way == "in" else "references of"
    no_list = "" if answer.works is not None else f"no list of {words} {asked.of}"
    return ServiceCoverage(
        service=asked.service,
        state="answered",
        returned=0 if answer.works is None else len(answer.works),
        is_complete=answer.is_complete,
        sent=[sent_out(each) for each in answer.sent],
        remarks=[no_list] if no_list else [],
        **cost_fields(answer.cost, answer.sent),
    )


def merge_lines(lines: Sequence[ServiceCoverage]) -> list[ServiceCoverage]:
    """One entry a service: failed if any of its answers is missing."""
    found: dict[str, ServiceCoverage] = {}
    for line in lines:
        before = found.get(line.service)
        if before is None or before.state == "not_asked":
            found[line.service] = line
        elif line.state != "not_asked":
            failed = next((each for each in (before, line) if each.state == "failed"), None)
            found[line.service] = (failed or line).model_copy(
                update={
                    "returned": (before.returned or 0) + (line.returned or 0),
                    "is_complete": before.is_complete and line.is_complete,
                    "sent": [*before.sent, *line.sent],
                    "remarks": list(dict.fromkeys([*before.remarks, *line.remarks])),
                    "cost_usd": _add(before.cost_usd, line.cost_usd),
                }
            )
    return [
        line.model_copy(update={"remarks": ["it has no list for this work"]})
        if line.state == "answered" and line.returned == 0 and len(line.remarks) > 1
        else line
        for line in found.values()
    ]


def _add(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else one + other


def lookup_line(answer: LookupAnswer) -> ServiceCoverage:
    """The entry of a service that was asked for records, which count no citations."""
    return ServiceCoverage(
        service=answer.service,
        state="answered",
        is_complete=True,
        sent=[sent_out(each) for each in answer.sent],
        **cost_fields(answer.cost, answer.sent),
    )
