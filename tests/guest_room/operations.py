"""The operations, the resource and the prompt of the greenhouse, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from carrel.core.answer import PromptArgument, PromptMessage, PromptText, Text
from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.completion import Completion, CompletionRequest, complete_from
from carrel.core.decorators import operation, prompt, resource
from carrel.core.errors import NotFoundError
from carrel.core.operation import POSITIONAL, Answer, Effect, Question
from carrel.settings import Settings
from carrel.wiring.desk import OpenRoom
from carrel.wiring.papers import OpenCorpus
from tests.guest_room import ROOM

READ = frozenset({"knowledge:read"})
WRITE = frozenset({"knowledge:write"})


class AllPlants(Question):
    pass


class OnePlant(Question):
    name: str = Field(min_length=1, max_length=50, description="The plant's name")


class Paint(Question):
    colour: str | None = Field(default=None, json_schema_extra=POSITIONAL)


class Plant(Answer):
    name: str
    waterings: int


class Greenhouse:
    """Plants, each with the number of times it was watered."""

    def __init__(self) -> None:
        self._waterings = {"fern": 0, "ficus": 0}

    @operation(title="List plants", description="All plants.", scopes=READ, command="list")
    async def list_plants(self, question: AllPlants, call: Call) -> list[Plant]:
        return [Plant(name=name, waterings=count) for name, count in self._waterings.items()]

    @operation(
        title="Water a plant",
        description="Waters one plant.",
        scopes=WRITE,
        effect=Effect.WRITES,
        command="water",
        phrases="give a plant some water; the fern is dry",
    )
    async def water_plant(self, question: OnePlant, call: Call) -> Plant:
        if question.name not in self._waterings:
            raise NotFoundError("plant", question.name)
        self._waterings[question.name] += 1
        return Plant(name=question.name, waterings=self._waterings[question.name])

    async def complete_name(self, request: CompletionRequest, call: Call) -> Completion:
        return complete_from(self._waterings, request.value)

    @resource(
        "plant://{name}",
        title="Plant",
        description="How a plant is.",
        scopes=READ,
        complete=complete_name,
    )
    async def plant(self, variables: Mapping[str, str], call: Call) -> Text:
        return Text(f"{variables['name']}: watered {self._waterings[variables['name']]} times")

    @prompt(
        title="Repot",
        description="Moves a plant to a larger pot.",
        scopes=READ,
        arguments=(PromptArgument("name", "Which plant"),),
        complete=complete_name,
    )
    async def repot(self, arguments: Mapping[str, str], call: Call) -> PromptText:
        return PromptText((PromptMessage(Text(f"Repot the {arguments['name']}.")),))


class GreenhouseKeeper:
    """What only the operator of the server may do."""

    @operation(
        title="Paint the greenhouse",
        description="Paints it.",
        scopes=WRITE,
        effect=Effect.WRITES,
        is_local=True,
        command="paint",
        next_command="carrel greenhouse list shows the plants in it.",
    )
    async def paint_greenhouse(self, question: Paint, call: Call) -> Text:
        return Text(f"painted {question.colour or 'white'}")


def local_greenhouse(settings: Settings) -> GreenhouseKeeper:
    return GreenhouseKeeper()


def open_greenhouse(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    return OpenRoom(Room.collect(ROOM, Greenhouse()))
