"""The gate: refusals first, then what is let through, and what is written down of both."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from carrel.core.caller import Call
from carrel.core.errors import (
    AuditUnavailableError,
    CarrelError,
    CostlyInputError,
    InsufficientPermissionsError,
    InternalError,
    InvalidInputError,
    NotFoundError,
    RateLimitExceededError,
    TimedOutError,
    UnauthenticatedError,
    UnavailableError,
)
from carrel.core.operation import Effect, Operation
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.policy.limits import Rate
from tests.policy.desk import Greeted, Greeting, Scene, operation, scene, visit


def ask(
    stage: Scene, who: str = "reader", arguments: dict[str, object] | None = None, **options: Any
) -> Greeted:
    async def asking() -> Greeted:
        caller = await stage.gate.identify(visit(who))
        answer = await stage.gate.call(
            options.get("entry") or operation(), arguments or {"name": "Ada"}, caller, visit(who)
        )
        assert isinstance(answer, Greeted)
        return answer

    return asyncio.run(asking())


def test_a_stranger_is_refused_and_it_is_written_down() -> None:
    stage = scene()
    with pytest.raises(UnauthenticatedError):
        ask(stage, "nobody")
    assert stage.phases() == [("refused", "unauthenticated")]


def test_a_caller_without_the_scope_is_told_which_one_is_missing() -> None:
    stage = scene()
    with pytest.raises(InsufficientPermissionsError, match="papers:read scope required") as refused:
        ask(stage, "stranger")
    assert refused.value.details == {"required": ["papers:read"], "user_has": []}
    assert stage.phases() == [("refused", "insufficient_permissions")]


def test_too_many_calls_are_refused_with_the_time_to_wait() -> None:
    stage = scene(Rate(per_minute=60, burst=2))
    ask(stage)
    ask(stage)
    with pytest.raises(RateLimitExceededError) as refused:
        ask(stage)
    assert refused.value.details == {"retry_after": 1}
    assert stage.phases()[-1] == ("refused", "rate_limit_exceeded")
    stage.clock.seconds += 1
    assert ask(stage).text == "Hello Ada"


@pytest.mark.promise("Q3")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "name is required"),
        ({"name": 3}, "name: input should be a valid string"),
        ({"name": "Ada", "colour": "red"}, "colour is not a parameter of this operation"),
    ],
)
def test_what_does_not_fit_the_question_is_said_by_field(
    arguments: dict[str, object], message: str
) -> None:
    stage = scene()

    async def asking() -> None:
        caller = await stage.gate.identify(visit())
        await stage.gate.call(operation(), arguments, caller, visit())

    with pytest.raises(InvalidInputError, match=message):
        asyncio.run(asking())
    assert stage.phases() == [("started", None), ("ended", "invalid_input")]


def test_a_bug_says_nothing_of_the_inside() -> None:
    stage = scene()
    with pytest.raises(InternalError) as failed:
        ask(stage, arguments={"name": "bug"})
    assert failed.value.message == "An unexpected error occurred"
    assert "secret" not in str(failed.value.to_facts())
    assert stage.phases() == [("started", None), ("ended", "internal_error")]


def test_a_parser_that_exceeds_its_budget_is_answered_with_what_was_exceeded() -> None:
    stage = scene()

    async def run(question: Any, call: Call) -> Any:
        message = "Reading token=ghp_0123456789abcdefghijABCDEFGHIJ0123456789 takes too long"
        raise InputTooCostlyError(message, exceeded="cpu", limit=2.5)

    async def asking() -> None:
        caller = await stage.gate.identify(visit())
        await stage.gate.call(replace(operation(), run=run), {"name": "x"}, caller, visit())

    with pytest.raises(CostlyInputError) as refusal:
        asyncio.run(asking())
    facts = refusal.value.to_facts()
    assert facts["code"] == "input_too_costly"
    assert facts["details"] == {"exceeded": "cpu", "limit": 2.5}
    assert "smaller parts" in str(facts["next_step"])
    assert "ghp_0123456789" not in str(facts)
    assert stage.phases() == [("started", None), ("ended", "input_too_costly")]


def test_an_operation_that_takes_too_long_is_stopped() -> None:
    async def slow(question: Greeting, call: Call) -> Greeted:
        await asyncio.Event().wait()
        raise AssertionError

    entry: Operation[Greeting] = Operation(
        name="slow",
        room="test",
        title="Slow",
        description="",
        question=Greeting,
        answer=Greeted,
        run=slow,
        scopes=frozenset(),
        timeout_seconds=0.001,
    )
    stage = scene()
    with pytest.raises(TimedOutError):
        ask(stage, entry=entry)
    assert stage.phases() == [("started", None), ("ended", "timed_out")]


@pytest.mark.parametrize(
    ("raised", "is_logged"),
    [(UnavailableError("The store is away"), True), (NotFoundError("note", "n1"), False)],
)
def test_only_what_is_unavailable_gets_an_error_id_and_a_line_in_the_log(
    raised: CarrelError, is_logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(question: Greeting, call: Call) -> Greeted:
        raise raised

    stage = scene()
    with pytest.raises(type(raised)) as refused:
        ask(stage, entry=replace(operation(), run=fail))
    assert ("error_id" in refused.value.details) is is_logged
    logged = [record for record in caplog.records if record.message == "call not answered"]
    assert [record.error_id for record in logged] == (  # type: ignore[attr-defined]
        [refused.value.details["error_id"]] if is_logged else []
    )
    assert stage.phases() == [("started", None), ("ended", raised.code)]


def test_nothing_is_changed_when_it_cannot_be_written_down_but_reading_goes_on() -> None:
    stage = scene()
    stage.records.is_broken = True
    assert ask(stage, entry=operation(Effect.READS)).text == "Hello Ada"
    with pytest.raises(AuditUnavailableError):
        ask(stage, entry=operation(Effect.WRITES))


def test_a_call_is_written_down_when_it_starts_and_when_it_ends() -> None:
    stage = scene()
    assert ask(stage).text == "Hello Ada"
    started, ended = stage.records.kept
    assert (started.phase, started.result, started.parameters) == (
        "started",
        "started",
        {"name": "Ada"},
    )
    assert (ended.phase, ended.result, ended.duration_ms) == ("ended", "success", 0.0)
    assert {started.action, ended.action} == {"tool:greet"}
    assert started.resource == "mcp://tools/greet"
    assert (started.user_id, started.ip_address, started.user_agent) == (
        "reader",
        "127.0.0.1",
        "pytest",
    )


@pytest.mark.parametrize("who", ["reader", "writer", "boss"])
def test_a_scope_that_implies_the_needed_one_is_enough(who: str) -> None:
    assert ask(scene(), who).text == "Hello Ada"
