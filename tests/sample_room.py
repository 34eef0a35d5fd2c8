"""A small room for tests of gate and doors: one operation for each way a call can go."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import Field

from carrel.core.answer import (
    Binary,
    Blocks,
    Embedded,
    Explained,
    Explanation,
    Partial,
    PromptArgument,
    PromptMessage,
    PromptText,
    Text,
)
from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.completion import Completion, CompletionRequest, complete_from
from carrel.core.decorators import operation, prompt, resource
from carrel.core.errors import NotFoundError, UnavailableError
from carrel.core.operation import Answer, Effect, Question
from carrel.core.room import RoomDeclaration

READ = frozenset({"papers:read"})
WRITE = frozenset({"knowledge:write"})
ROOM = RoomDeclaration("sample", "Sample", "Everything a door must be able to carry.")
SECRET = "the cupboard key is under the mat"


class NoQuestion(Question):
    """Asks nothing."""


class Addition(Question):
    """Two numbers."""

    a: int = Field(ge=-1000, le=1000, description="One number")
    b: int = Field(ge=-1000, le=1000, description="Another number")


class Total(Answer):
    """Their sum."""

    total: int


class Saying(Question):
    """Some words."""

    text: str = Field(min_length=1, max_length=200, description="What to say")
    times: int = Field(default=1, ge=1, le=3, description="How often")


class Counting(Question):
    """How far to count."""

    limit: int = Field(default=3, ge=0, le=100, description="The last number")


class Step(Answer):
    """One number and its square."""

    number: int
    square: int


class Finding(Question):
    """What to look for."""

    name: str = Field(min_length=1, max_length=200, description="The name of a thing")


class Note(Question):
    """What to write down."""

    text: str = Field(min_length=1, max_length=200, description="The note")


class Broken(Answer):
    """An answer that cannot be written as JSON."""

    thing: object


class NothingCounted(Explanation):
    """Why nothing was counted."""

    nearest: tuple[int, ...]


NOTHING_COUNTED = NothingCounted(message="There is nothing below one; 1 is near.", nearest=(1,))


@dataclass(slots=True)
class Held:
    """Calls of `hold` that wait, and the switch that lets them go."""

    release: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    notes: list[str] = field(default_factory=list)
    was_cancelled: bool = False


class SampleOperations:
    """One operation for each way a call can go."""

    def __init__(self, held: Held) -> None:
        self._held = held

    @operation(
        name_alone="add", title="Add numbers", description="Add numbers, for tests.", scopes=READ
    )
    async def add_numbers(self, question: Addition, call: Call) -> Total:
        return Total(total=question.a + question.b)

    @operation(title="Say", description="Say, for tests.", scopes=READ)
    async def say(self, question: Saying, call: Call) -> Text:
        return Text(" ".join([question.text] * question.times), "text/markdown")

    @operation(title="Count", description="Count, for tests.", scopes=READ)
    async def count(self, question: Counting, call: Call) -> list[Step]:
        return [
            Step(number=number, square=number * number) for number in range(1, question.limit + 1)
        ]

    @operation(title="Count in part", description="Count in part, for tests.", scopes=READ)
    async def count_in_part(self, question: NoQuestion, call: Call) -> list[Step] | Partial:
        return Partial(
            (Step(number=1, square=1),), pending=2, job_id="job-7", next_step="Ask again later."
        )

    @operation(title="Count or explain", description="Count or say why not.", scopes=READ)
    async def count_or_explain(self, question: Counting, call: Call) -> list[Step] | Explained:
        steps = await self.count(question, call)
        return steps or Explained(steps, NOTHING_COUNTED)

    @operation(title="Total or explain", description="Add or say why not.", scopes=READ)
    async def total_or_explain(self, question: NoQuestion, call: Call) -> Total | Explained:
        return Explained(Total(total=0), NOTHING_COUNTED)

    @operation(title="Say nothing", description="Say nothing, and why.", scopes=READ)
    async def say_nothing(self, question: NoQuestion, call: Call) -> Text | Explained:
        return Explained(Text(""), NOTHING_COUNTED)

    @operation(title="Show", description="Show, for tests.", scopes=READ)
    async def show(self, question: NoQuestion, call: Call) -> Blocks:
        return Blocks(
            (
                Text("A picture:"),
                Binary(b"\x89PNG", "image/png"),
                Embedded("sample://greeting", Text("Hello.")),
            )
        )

    @operation(title="Find thing", description="Find thing, for tests.", scopes=READ)
    async def find_thing(self, question: Finding, call: Call) -> Total:
        raise NotFoundError("thing", question.name, next_step="Look elsewhere.")

    @operation(title="Fail", description="Fail, for tests.", scopes=READ)
    async def fail(self, question: NoQuestion, call: Call) -> Total:
        raise RuntimeError(SECRET)

    @operation(title="Answer nonsense", description="Answer nonsense, for tests.", scopes=READ)
    async def answer_nonsense(self, question: NoQuestion, call: Call) -> Broken:
        return Broken(thing=object())

    @operation(title="Reach", description="Reach, for tests.", scopes=READ, reaches_outside=True)
    async def reach(self, question: NoQuestion, call: Call) -> Total:
        raise UnavailableError(
            "The far store cannot be reached", next_step="Try again in a minute."
        )

    @operation(title="Dawdle", description="Dawdle, for tests.", scopes=READ, timeout_seconds=0.02)
    async def dawdle(self, question: NoQuestion, call: Call) -> Total:
        await asyncio.Event().wait()
        return Total(total=0)

    @operation(title="Hold", description="Hold, for tests.", scopes=READ)
    async def hold(self, question: NoQuestion, call: Call) -> Text:
        await call.report_progress(0.0, 1.0, "holding")
        self._held.started.set()
        try:
            await self._held.release.wait()
        except asyncio.CancelledError:
            self._held.was_cancelled = True
            raise
        return Text("released")

    @operation(title="Wait until held", description="Wait until held, for tests.", scopes=READ)
    async def wait_until_held(self, question: NoQuestion, call: Call) -> Text:
        await self._held.started.wait()
        return Text("somebody is holding")

    @operation(title="Release", description="Release, for tests.", scopes=READ)
    async def release(self, question: NoQuestion, call: Call) -> Text:
        self._held.release.set()
        return Text("was it cancelled: " + str(self._held.was_cancelled))

    @operation(
        title="Write note",
        description="Write note, for tests.",
        scopes=WRITE,
        effect=Effect.WRITES,
    )
    async def write_note(self, question: Note, call: Call) -> Text:
        self._held.notes.append(question.text)
        return Text(f"written down for {call.caller.user_id}")

    @operation(title="Make noise", description="Make noise, for tests.", scopes=READ)
    async def make_noise(self, question: NoQuestion, call: Call) -> Text:
        print("noise by print", flush=True)
        os.write(1, b"noise by descriptor\n")
        return Text("done")

    @operation(title="Report", description="Report, for tests.", scopes=READ)
    async def report(self, question: NoQuestion, call: Call) -> Text:
        for done in (1.0, 2.0, 3.0):
            await call.report_progress(done, 3.0, f"step {done:g}")
        return Text("three steps")


class SampleLocalOperations:
    """What only the operator of the tests may do."""

    def __init__(self, held: Held) -> None:
        self._held = held

    @operation(
        title="Sweep",
        description="Sweep, for the operator of the tests.",
        scopes=WRITE,
        effect=Effect.WRITES,
        is_local=True,
        command="sweep",
        phrases="sweep the floor; clean up the sample room",
    )
    async def sweep_floor(self, question: NoQuestion, call: Call) -> Text:
        self._held.notes.append("swept")
        return Text("swept")


class SampleResources:
    """A static and a binary resource, a template with completions, and one for writers only."""

    async def complete_thing(self, request: CompletionRequest, call: Call) -> Completion:
        if request.value == "broken":
            raise RuntimeError(SECRET)
        if request.value == "far":
            raise UnavailableError(
                "The far store cannot be reached", next_step="Try again in a minute."
            )
        return complete_from([f"thing-{number:03d}" for number in range(250)], request.value)

    @resource("sample://greeting", title="Greeting", description="A greeting.", scopes=READ)
    async def greeting(self, variables: Mapping[str, str], call: Call) -> Text:
        return Text("Hello.")

    @resource(
        "sample://picture",
        title="Picture",
        description="A picture.",
        scopes=READ,
        media_type="image/png",
    )
    async def picture(self, variables: Mapping[str, str], call: Call) -> Binary:
        return Binary(b"\x89PNG", "image/png")

    @resource(
        "sample://things/{name}",
        title="Thing",
        description="A thing by name.",
        scopes=READ,
        complete=complete_thing,
    )
    async def thing(self, variables: Mapping[str, str], call: Call) -> Text:
        if variables["name"] == "missing":
            raise NotFoundError("thing", "missing")
        if variables["name"] == "broken":
            raise RuntimeError(SECRET)
        return Text(f"The thing called {variables['name']}")

    @resource(
        "sample://drawer",
        title="Drawer",
        description="Only for those who may write.",
        scopes=WRITE,
    )
    async def drawer(self, variables: Mapping[str, str], call: Call) -> Text:
        return Text(SECRET)


class SamplePrompts:
    """A prompt for everybody with completions, and one for writers only."""

    async def complete_topic(self, request: CompletionRequest, call: Call) -> Completion:
        return complete_from(
            ["batteries", "Bacteria", f"{request.given.get('mood', 'any')} mood"], request.value
        )

    @prompt(
        title="Plan",
        description="Plans work on a topic.",
        scopes=READ,
        arguments=(
            PromptArgument("topic", "What about"),
            PromptArgument("mood", "How", is_required=False),
        ),
        complete=complete_topic,
    )
    async def plan(self, arguments: Mapping[str, str], call: Call) -> PromptText:
        return PromptText((PromptMessage(Text(f"Plan work on {arguments['topic']}.")),), "A plan")

    @prompt(title="Secret plan", description="For writers.", scopes=WRITE)
    async def secret_plan(self, arguments: Mapping[str, str], call: Call) -> PromptText:
        return PromptText((PromptMessage(Text(SECRET)),), "A plan")


def sample_room(held: Held | None = None) -> Room:
    """The room; `held` lets a test wait for a call that is running and release it."""
    return Room.collect(ROOM, SampleOperations(held or Held()), SampleResources(), SamplePrompts())
