"""One tool that finds and calls all the others, for clients that pay for every tool they list."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import Field, TypeAdapter

from carrel.core.answer import Blocks, Partial, Text
from carrel.core.caller import Call
from carrel.core.catalogue import Catalogue
from carrel.core.errors import InvalidInputError
from carrel.core.operation import Effect, Operation, Question
from carrel.doors.schemas import input_schema
from carrel.policy.gate import Gate


class CompactQuestion(Question):
    """Either words to find operations by, or an operation to run with its arguments."""

    find: str | None = Field(default=None, max_length=200, description="Words to find operations by; empty lists all")
    run: str | None = Field(default=None, max_length=100, description="Operation to run")
    arguments: dict[str, Any] = Field(default_factory=dict, description="Arguments of the operation to run")


def compact_operation(catalogue: Catalogue, gate: Gate) -> Operation[CompactQuestion]:
    """The one tool. What it runs passes the gate as itself, so it costs and needs nothing of its own."""

    async def answer(question: CompactQuestion, call: Call) -> Text | Blocks:
        if question.run is None:
            return Text(_found(catalogue, question.find or "", call), "application/json")
        operation = catalogue.operations.get(question.run)
        if operation is None:
            raise InvalidInputError(
                f"There is no operation called {question.run}",
                next_step="Call with find to see what there is.",
                details={"run": question.run},
            )
        result = await gate.call(operation, question.arguments, call.caller, call.visit, call.report_progress)
        return _as_text(operation, result)

    return Operation(
        name="carrel",
        room="desk",
        title="Research desk",
        description=(
            "Papers, references, notes and hypotheses behind one tool. Call with `find` (a few words, or empty for all) to get "
            "operations with their parameters, then with `run` and `arguments` to use one."
        ),
        question=CompactQuestion,
        answer=Text,
        run=answer,
        scopes=frozenset(),
        effect=_widest(catalogue),
        cost=0.0,
        timeout_seconds=600.0,
    )


def _widest(catalogue: Catalogue) -> Effect:
    effects = {operation.effect for operation in catalogue.operations.values()}
    return next(
        effect for effect in (Effect.DESTROYS, Effect.WRITES, Effect.READS) if effect in effects or effect is Effect.READS
    )


def _found(catalogue: Catalogue, words: str, call: Call) -> str:
    wanted = words.lower().split()
    allowed = [operation for operation in catalogue.operations.values() if operation.scopes <= call.caller.scopes]

    def score(operation: Operation[Any]) -> int:
        name = f"{operation.name} {operation.title}".lower()
        text = operation.description.lower()
        return sum(3 * (word in name) + (word in text) for word in wanted)

    ranked = sorted(allowed, key=score, reverse=True)
    shown = [operation for operation in ranked if not wanted or score(operation) > 0] or allowed
    rows = [
        {"name": operation.name, "description": operation.description, "parameters": input_schema(operation)}
        for operation in shown
    ]
    return orjson.dumps({"operations": rows}).decode()


def _as_text(operation: Operation[Any], answer: Any) -> Text | Blocks:
    if isinstance(answer, (Text, Blocks)):
        return answer
    adapter = TypeAdapter(operation.answer)
    if isinstance(answer, Partial):
        rows = adapter.dump_python(list(answer.result), mode="json", by_alias=True)
        whole = {"result": rows, "pending": answer.pending, "job_id": answer.job_id, "next_step": answer.next_step}
        return Text(orjson.dumps(whole).decode(), "application/json")
    return Text(adapter.dump_json(answer, by_alias=True).decode(), "application/json")
