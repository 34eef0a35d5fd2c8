"""A gate with everything in the test's own hands: clock, callers, records."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from carrel.core.caller import Call, Caller, Visit
from carrel.core.errors import AuditUnavailableError, UnauthenticatedError
from carrel.core.operation import Answer, Effect, Operation, Question
from carrel.policy.audit import AuditRecord
from carrel.policy.gate import Gate
from carrel.policy.limits import InProcessLimits, Rate
from carrel.policy.scopes import expand_scopes


class HandClock:
    """Time that moves when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


@dataclass
class Records:
    """An audit log that keeps what it gets, or breaks."""

    kept: list[AuditRecord] = field(default_factory=list)
    is_broken: bool = False

    def write(self, record: AuditRecord) -> None:
        if not self.is_broken:
            self.kept.append(record)

    async def write_durably(self, record: AuditRecord) -> None:
        if self.is_broken:
            raise AuditUnavailableError("no space left on device")
        self.kept.append(record)


class ByName:
    """Recognises callers by the word they carry."""

    def __init__(self, scopes: dict[str, set[str]]) -> None:
        self._scopes = scopes

    async def identify(self, visit: Visit) -> Caller:
        if visit.authorization not in self._scopes:
            raise UnauthenticatedError("Who are you?")
        return Caller(
            str(visit.authorization), expand_scopes(self._scopes[str(visit.authorization)])
        )


class Greeting(Question):
    name: str


class Greeted(Answer):
    text: str


async def greet(question: Greeting, call: Call) -> Greeted:
    if question.name == "bug":
        raise ZeroDivisionError("secret detail")
    return Greeted(text=f"Hello {question.name}")


def operation(
    effect: Effect = Effect.READS, *, scopes: frozenset[str] = frozenset({"papers:read"})
) -> Operation[Greeting]:
    return Operation(
        name="greet",
        room="test",
        title="Greet",
        description="Says hello.",
        question=Greeting,
        answer=Greeted,
        run=greet,
        scopes=scopes,
        effect=effect,
    )


@dataclass
class Scene:
    gate: Gate
    clock: HandClock
    records: Records

    def phases(self) -> list[tuple[str, str | None]]:
        return [(record.phase, record.error_code) for record in self.records.kept]


def scene(rate: Rate | None = None) -> Scene:
    clock, records = HandClock(), Records()
    identity = ByName(
        {
            "reader": {"papers:read"},
            "stranger": set(),
            "writer": {"papers:write"},
            "boss": {"admin"},
        }
    )
    return Scene(
        Gate(identity, InProcessLimits(rate or Rate(), clock), records, clock), clock, records
    )


def visit(who: str | None = "reader") -> Visit:
    return Visit("test", "request-1", "127.0.0.1", "pytest", who)
