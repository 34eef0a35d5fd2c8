"""Described methods become operations, resources and prompts of their room."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from carrel.core.answer import Blocks, Job, Partial, Text
from carrel.core.caller import LOCAL_USER, Call, Caller, Visit
from carrel.core.catalogue import Catalogue, Room
from carrel.core.completion import Completion, CompletionRequest, complete_from
from carrel.core.decorators import collect_operations, operation, resource
from carrel.core.operation import Answer, Effect, Question
from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration("shed", "Shed", "Keeps tools.")
CALL = Call(Caller(LOCAL_USER, frozenset({"papers:read"})), Visit("test", "1"))
READ = frozenset({"papers:read"})


class Lend(Question):
    tool: str


class Lent(Answer):
    tool: str
    lender: str


class Shed:
    def __init__(self, lender: str) -> None:
        self._lender = lender

    @operation(
        title="Lend a tool",
        description="Lends one tool.",
        scopes=READ,
        effect=Effect.WRITES,
        phrases="lend me a hammer; may I borrow a saw",
    )
    async def lend_tool(self, question: Lend, call: Call) -> Lent | Job:
        return Lent(tool=question.tool, lender=self._lender)

    @operation(title="List tools", description="All tools.", scopes=READ, name="all_tools")
    async def everything(self, question: Lend, call: Call) -> list[Lent] | Partial:
        return []

    @operation(title="Print", description="A list for the wall.", scopes=READ)
    async def print_list(self, question: Lend, call: Call) -> Text | Blocks:
        return Text("hammer")

    async def complete_tool(self, request: CompletionRequest, call: Call) -> Completion:
        return complete_from([f"{self._lender}'s hammer"], request.value)

    @resource(
        "shed://{tool}", title="Tool", description="One tool.", scopes=READ, complete=complete_tool
    )
    async def tool(self, variables: Mapping[str, str], call: Call) -> Text:
        return Text(f"{variables['tool']} of {self._lender}")


def test_question_and_answer_are_read_from_the_signature_in_the_order_of_definition() -> None:
    lend, everything, print_list = collect_operations("shed", Shed("Ada"))
    assert (lend.name, lend.room, lend.question, lend.answer) == ("lend_tool", "shed", Lend, Lent)
    assert lend.phrases == ("lend me a hammer", "may I borrow a saw")
    assert lend.may_outlast_call
    assert (everything.name, everything.answer) == ("all_tools", list[Lent])
    assert not everything.may_outlast_call
    assert print_list.answer is Text


def test_methods_are_bound_to_the_object_they_were_collected_from() -> None:
    catalogue = Catalogue([Room.collect(ROOM, Shed("Ada"))])
    lend = catalogue.operations["lend_tool"]
    assert asyncio.run(lend.run(Lend(tool="saw"), CALL)) == Lent(tool="saw", lender="Ada")
    tool = catalogue.resources["shed://{tool}"]
    assert asyncio.run(tool.read({"tool": "saw"}, CALL)) == Text("saw of Ada")
    assert tool.complete is not None
    found = asyncio.run(tool.complete(CompletionRequest("tool", "ada", {}), CALL))
    assert found.values == ("Ada's hammer",)


class WithoutQuestion:
    @operation(title="", description="", scopes=READ)
    async def odd(self, question: str, call: Call) -> Text:
        return Text("")


class WithoutAnswer:
    @operation(title="", description="", scopes=READ)
    async def odd(self, question: Lend, call: Call):  # type: ignore[no-untyped-def]
        return Text("")


class WithTwoAnswers:
    @operation(title="", description="", scopes=READ)
    async def odd(self, question: Lend, call: Call) -> Lent | Text:
        return Text("")


@pytest.mark.parametrize("holder", [WithoutQuestion(), WithoutAnswer(), WithTwoAnswers()])
def test_a_signature_that_says_too_little_is_refused_by_name(holder: object) -> None:
    with pytest.raises(TypeError, match=rf"{type(holder).__name__}\.odd"):
        collect_operations("shed", holder)


def test_two_operations_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two entries of the catalogue are called lend_tool"):
        Catalogue([Room.collect(ROOM, Shed("Ada"), Shed("Grace"))])
