"""A small room for tests of gate and doors: one operation for each way a call can go."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from carrel.core.answer import (
    Binary,
    Blocks,
    Embedded,
    Partial,
    PromptArgument,
    PromptMessage,
    PromptText,
    Text,
)
from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.completion import Completion, CompletionRequest, complete_from
from carrel.core.errors import NotFoundError, UnavailableError
from carrel.core.operation import Answer, Effect, Operation, Prompt, Question, Resource

READ = frozenset({"papers:read"})
WRITE = frozenset({"knowledge:write"})
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


@dataclass(slots=True)
class Held:
    """Calls of `hold` that wait, and the switch that lets them go."""

    release: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    notes: list[str] = field(default_factory=list)
    was_cancelled: bool = False


def sample_room(held: Held | None = None) -> Room:
    """The room; `held` lets a test wait for a call that is running and release it."""
    state = held or Held()

    async def add(question: Addition, call: Call) -> Total:
        return Total(total=question.a + question.b)

    async def say(question: Saying, call: Call) -> Text:
        return Text(" ".join([question.text] * question.times), "text/markdown")

    async def count(question: Counting, call: Call) -> list[Step]:
        return [
            Step(number=number, square=number * number) for number in range(1, question.limit + 1)
        ]

    async def count_in_part(question: NoQuestion, call: Call) -> Partial:
        return Partial(
            (Step(number=1, square=1),), pending=2, job_id="job-7", next_step="Ask again later."
        )

    async def show(question: NoQuestion, call: Call) -> Blocks:
        return Blocks(
            (
                Text("A picture:"),
                Binary(b"\x89PNG", "image/png"),
                Embedded("sample://greeting", Text("Hello.")),
            )
        )

    async def find(question: Finding, call: Call) -> Total:
        raise NotFoundError("thing", question.name, next_step="Look elsewhere.")

    async def fail(question: NoQuestion, call: Call) -> Total:
        raise RuntimeError(SECRET)

    async def answer_nonsense(question: NoQuestion, call: Call) -> Broken:
        return Broken(thing=object())

    async def reach(question: NoQuestion, call: Call) -> Total:
        raise UnavailableError(
            "The far store cannot be reached", next_step="Try again in a minute."
        )

    async def dawdle(question: NoQuestion, call: Call) -> Total:
        await asyncio.Event().wait()
        return Total(total=0)

    async def hold(question: NoQuestion, call: Call) -> Text:
        await call.report_progress(0.0, 1.0, "holding")
        state.started.set()
        try:
            await state.release.wait()
        except asyncio.CancelledError:
            state.was_cancelled = True
            raise
        return Text("released")

    async def wait_until_held(question: NoQuestion, call: Call) -> Text:
        await state.started.wait()
        return Text("somebody is holding")

    async def release(question: NoQuestion, call: Call) -> Text:
        state.release.set()
        return Text("was it cancelled: " + str(state.was_cancelled))

    async def note(question: Note, call: Call) -> Text:
        state.notes.append(question.text)
        return Text(f"written down for {call.caller.user_id}")

    async def make_noise(question: NoQuestion, call: Call) -> Text:
        print("noise by print", flush=True)
        os.write(1, b"noise by descriptor\n")
        return Text("done")

    async def report(question: NoQuestion, call: Call) -> Text:
        for done in (1.0, 2.0, 3.0):
            await call.report_progress(done, 3.0, f"step {done:g}")
        return Text("three steps")

    async def greeting(variables: Mapping[str, str], call: Call) -> Text:
        return Text("Hello.")

    async def picture(variables: Mapping[str, str], call: Call) -> Binary:
        return Binary(b"\x89PNG", "image/png")

    async def thing(variables: Mapping[str, str], call: Call) -> Text:
        if variables["name"] == "missing":
            raise NotFoundError("thing", "missing")
        if variables["name"] == "broken":
            raise RuntimeError(SECRET)
        return Text(f"The thing called {variables['name']}")

    async def drawer(variables: Mapping[str, str], call: Call) -> Text:
        return Text(SECRET)

    async def plan(arguments: Mapping[str, str], call: Call) -> PromptText:
        return PromptText((PromptMessage(Text(f"Plan work on {arguments['topic']}.")),), "A plan")

    async def complete_thing(request: CompletionRequest, call: Call) -> Completion:
        if request.value == "broken":
            raise RuntimeError(SECRET)
        if request.value == "far":
            raise UnavailableError(
                "The far store cannot be reached", next_step="Try again in a minute."
            )
        return complete_from([f"thing-{number:03d}" for number in range(250)], request.value)

    async def complete_topic(request: CompletionRequest, call: Call) -> Completion:
        return complete_from(
            ["batteries", "Bacteria", f"{request.given.get('mood', 'any')} mood"], request.value
        )

    def operation(
        name: str, question: type[Question], answer: object, run: Any, **more: object
    ) -> Operation[Question]:
        title = name.replace("_", " ").capitalize()
        facts: dict[str, Any] = {
            "scopes": READ,
            "description": f"{title}, for tests.",
            "command": None,
            **more,
        }
        return Operation(
            name=name,
            room="sample",
            title=title,
            question=question,
            answer=answer,
            run=run,
            **facts,
        )

    return Room(
        name="sample",
        title="Sample",
        purpose="Everything a door must be able to carry.",
        operations=(
            operation("add_numbers", Addition, Total, add, name_alone="add"),
            operation("say", Saying, Text, say),
            operation("count", Counting, list[Step], count),
            operation("count_in_part", NoQuestion, list[Step], count_in_part),
            operation("show", NoQuestion, Blocks, show),
            operation("find_thing", Finding, Total, find),
            operation("fail", NoQuestion, Total, fail),
            operation("answer_nonsense", NoQuestion, Broken, answer_nonsense),
            operation("reach", NoQuestion, Total, reach, reaches_outside=True),
            operation("dawdle", NoQuestion, Total, dawdle, timeout_seconds=0.02),
            operation("hold", NoQuestion, Text, hold),
            operation("wait_until_held", NoQuestion, Text, wait_until_held),
            operation("release", NoQuestion, Text, release),
            operation("write_note", Note, Text, note, scopes=WRITE, effect=Effect.WRITES),
            operation("make_noise", NoQuestion, Text, make_noise),
            operation("report", NoQuestion, Text, report),
        ),
        resources=(
            Resource(
                "sample://greeting", "greeting", "sample", "Greeting", "A greeting.", greeting, READ
            ),
            Resource(
                "sample://picture",
                "picture",
                "sample",
                "Picture",
                "A picture.",
                picture,
                READ,
                "image/png",
            ),
            Resource(
                "sample://things/{name}",
                "thing",
                "sample",
                "Thing",
                "A thing by name.",
                thing,
                READ,
                complete=complete_thing,
            ),
            Resource(
                "sample://drawer",
                "drawer",
                "sample",
                "Drawer",
                "Only for those who may write.",
                drawer,
                WRITE,
            ),
        ),
        prompts=(
            Prompt(
                "plan",
                "sample",
                "Plan",
                "Plans work on a topic.",
                (
                    PromptArgument("topic", "What about"),
                    PromptArgument("mood", "How", is_required=False),
                ),
                plan,
                READ,
                complete=complete_topic,
            ),
            Prompt("secret_plan", "sample", "Secret plan", "For writers.", (), plan, WRITE),
        ),
    )
