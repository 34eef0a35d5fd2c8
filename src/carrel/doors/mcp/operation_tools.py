"""Tools that find and run operations outside of the tool list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import orjson
from pydantic import Field

from carrel.core.answer import Blocks, Text, split_explanation
from carrel.core.answer_encoding import quoted_sources
from carrel.core.caller import Call
from carrel.core.catalogue import Catalogue
from carrel.core.decorators import collect_operations, operation
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.name_suggestions import near_names
from carrel.core.operation import Effect, Operation, Question
from carrel.core.operation_search import OperationSearch
from carrel.core.unoffered_tasks import advise_unoffered
from carrel.doors.listed_schemas import listed_input_schema
from carrel.doors.mcp.answer_budget import AnswerBudget, PresentedBlocks
from carrel.doors.mcp.argument_help import add_example, mend_call
from carrel.doors.schemas import input_schema
from carrel.policy.gate import Gate

_MOST_FOUND = 5
# Of these, so many of the best that are in no tool list are shown with their parameters, and those
# whose score is nearly that of the best. Over tests/doors/plain_sentences.tsv answers became half
# as long (2,675 to 1,414 characters), and the right operation is there with all that is needed.
_MOST_WITH_PARAMETERS = 2
_NEARLY_BEST = 0.9
_LONGEST_RUN_SECONDS = 600.0


class FindOperation(Question):
    what: str = Field(
        default="",
        max_length=300,
        description="What you want to do, in a few plain words; empty names all",
    )


class RunOperation(Question):
    name: str = Field(max_length=100, description="Operation, as find_operation names it")
    arguments: dict[str, Any] = Field(default_factory=dict, description="Its arguments")


class CompactQuestion(Question):
    """Either words to find operations by, or an operation to run with its arguments."""

    find: str | None = Field(
        default=None,
        max_length=300,
        description="What you want to do, in plain words; empty names all",
    )
    run: str | None = Field(default=None, max_length=100, description="Operation to run")
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="Arguments of the operation to run"
    )


class OperationTools:
    """Finds and runs operations; each passes the gate under its own name and cost."""

    def __init__(
        self,
        catalogue: Catalogue,
        gate: Gate,
        budget: AnswerBudget,
        is_listed: Callable[[Operation[Any]], bool] = lambda _: False,
    ) -> None:
        self._catalogue = catalogue
        self._is_listed = is_listed
        self._operations = {
            name: each for name, each in catalogue.operations.items() if not each.is_for_people
        }
        self._gate = gate
        self._budget = budget
        self._search: OperationSearch | None = None

    def find_and_run(self) -> tuple[Operation[Any], ...]:
        """The two tools of the doors that serve all rooms."""
        finding, running, _ = collect_operations("desk", self)
        return finding, self._as_wide_as_all(running)

    def one_tool(self) -> Operation[Any]:
        """Finding and running in one tool, for `--compact`."""
        *_, both = collect_operations("desk", self)
        return self._as_wide_as_all(both)

    @operation(
        title="Find an operation",
        description=(
            "Find operations that are not in the tool list: exporting, editing, history, pausing, "
            "statistics and more. Say what you want to do in plain words; answers with names and "
            "parameters, best first, for run_operation."
        ),
        scopes=frozenset(),
        cost=0.0,
    )
    async def find_operation(self, question: FindOperation, call: Call) -> Text:
        return Text(self._found(question.what, call), "application/json")

    @operation(
        title="Run an operation",
        description="Run an operation that find_operation named, with its arguments.",
        scopes=frozenset(),
        cost=0.0,
        timeout_seconds=_LONGEST_RUN_SECONDS,
        is_whole=True,
    )
    async def run_operation(self, question: RunOperation, call: Call) -> Text | Blocks:
        return await self._run(question.name, question.arguments, call)

    @operation(
        title="Research desk",
        description=(
            "Papers, references, notes and hypotheses behind one tool. Call with `find` (what you "
            "want to do, in plain words; empty names all) to get operations with their "
            "parameters, then with `run` and `arguments` to use one."
        ),
        scopes=frozenset(),
        cost=0.0,
        timeout_seconds=_LONGEST_RUN_SECONDS,
        is_whole=True,
    )
    async def carrel(self, question: CompactQuestion, call: Call) -> Text | Blocks:
        if question.run is None:
            return Text(self._found(question.find or "", call), "application/json")
        return await self._run(question.run, question.arguments, call)

    def _as_wide_as_all(self, running: Operation[Any]) -> Operation[Any]:
        """The union of effects of all operations that the tool can run."""
        operations = self._operations.values()
        return replace(
            running,
            effect=_widest(operations),
            reaches_outside=any(each.is_open_world for each in operations),
        )

    def _found(self, sentence: str, call: Call) -> str:
        if not sentence.strip():
            allowed = [
                each for each in self._operations.values() if each.scopes <= call.caller.scopes
            ]
            return orjson.dumps(
                {"operations": [{"name": each.name, "title": each.title} for each in allowed]}
            ).decode()
        found = self._index().find_scored(sentence, call.caller.scopes, _MOST_FOUND)
        advice = advise_unoffered(sentence)
        if advice is not None:
            rows = [{"name": each.name, "title": each.title} for _, each in found]
            return orjson.dumps({"message": advice, "operations": rows}).decode()
        if found:
            return orjson.dumps(self._describe_found(found)).decode()
        hint = (
            "No operation goes by these words. Call with nothing to see the names of all, or "
            "say it in other words."
        )
        return orjson.dumps({"operations": [], "next_step": hint}).decode()

    def _describe_found(self, found: Sequence[tuple[float, Operation[Any]]]) -> dict[str, Any]:
        """The best ones with their parameters, where the caller's tool list has them not."""
        rows: list[dict[str, Any]] = []
        with_parameters = without = 0
        for score, each in found:
            row = {"name": each.name, "description": each.description}
            is_near = score >= _NEARLY_BEST * found[0][0]
            if self._is_listed(each):
                rows.append({**row, "is_listed": True})
            elif with_parameters < _MOST_WITH_PARAMETERS or is_near:
                rows.append({**row, "parameters": listed_input_schema(each)})
                with_parameters += 1
            else:
                rows.append({**row, "description": _first_sentence(each.description)})
                without += 1
        if not without:
            return {"operations": rows}
        return {"operations": rows, "next_step": "Find one by its name for its parameters."}

    def _index(self) -> OperationSearch:
        if self._search is None:
            operations = self._operations.values()
            parameters = {operation.name: _parameter_words(operation) for operation in operations}
            self._search = OperationSearch(operations, parameters)
        return self._search

    def _refuse_for_people(self, name: str, call: Call) -> None:
        kept = self._catalogue.operations.get(name)
        if kept is None:
            return
        refusal = InvalidInputError(
            f"{name} is for people: assistants cannot run it",
            next_step=f"Ask a person to run carrel {kept.room} {kept.command}.",
        )
        self._gate.record_refusal(call.visit, kept.action, kept.address, refusal, call.caller)
        raise refusal

    async def _run(self, name: str, arguments: dict[str, Any], call: Call) -> Text | Blocks:
        operation = self._operations.get(name)
        if operation is None:
            self._refuse_for_people(name, call)
            near = near_names(name, self._operations) or [
                each.name for each in self._index().find(name, call.caller.scopes, _MOST_FOUND)
            ]
            meant = f"Near it: {', '.join(near)}. " if near else ""
            raise InvalidInputError(
                f"There is no operation called {name}",
                next_step=f"{meant}Find the name by saying what you want to do.",
                details={"run": name, "near": near},
            )
        given_arguments = mend_call(operation, arguments).arguments
        try:
            page = self._budget.open(operation, given_arguments, call.caller)
        except CarrelError as error:
            self._gate.record_refusal(
                call.visit, operation.action, operation.address, error, call.caller
            )
            raise
        try:
            given = await self._gate.call(
                page.operation, page.arguments, call.caller, call.visit, call.report_progress
            )
        except CarrelError as error:
            add_example(error, operation, page.arguments)
            raise
        result, explanation = split_explanation(given)
        sources = quoted_sources(page.operation.quotes, page.arguments, result, call.caller)
        shown = self._budget.present(
            page,
            result,
            call.caller,
            sources=sources,
            explanation=explanation,
            takes_links=call.visit.takes_links,
        )
        return PresentedBlocks(shown.parts, shown)


def _parameter_words(operation: Operation[Any]) -> str:
    properties = input_schema(operation).get("properties", {})
    return " ".join(f"{name} {facts.get('description', '')}" for name, facts in properties.items())


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].removesuffix(".") + "."


def _widest(operations: Iterable[Operation[Any]]) -> Effect:
    effects = {operation.effect for operation in operations}
    return next(
        effect
        for effect in (Effect.DESTROYS, Effect.WRITES, Effect.READS)
        if effect in effects or effect is Effect.READS
    )
