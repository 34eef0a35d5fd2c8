"""The fixtures of the official conformance suite that a catalogue can express: one more room,
answered by our own dispatcher.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import orjson

from carrel.core.answer import (
    Binary,
    Blocks,
    Embedded,
    PromptArgument,
    PromptMessage,
    PromptText,
    Text,
)
from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.completion import Completion, CompletionRequest, complete_from
from carrel.core.errors import CarrelError
from carrel.core.operation import Operation, Prompt, Question, Resource
from carrel.core.room import RoomDeclaration
from tests.interop.fixture_tasks import TaskFixtures

# One red pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
# A RIFF header and no samples.
WAV = base64.b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=")
NO_SCOPES: frozenset[str] = frozenset()


class IntendedError(CarrelError):
    """What test_error_handling always answers."""

    code = "conflict"


class NoQuestion(Question):
    """Asks nothing."""


async def _simple_text(question: NoQuestion, call: Call) -> Text:
    return Text("This is a simple text response for testing.")


async def _image(question: NoQuestion, call: Call) -> Blocks:
    return Blocks((Binary(PNG, "image/png"),))


async def _audio(question: NoQuestion, call: Call) -> Blocks:
    return Blocks((Binary(WAV, "audio/wav"),))


async def _embedded(question: NoQuestion, call: Call) -> Blocks:
    return Blocks(
        (Embedded("test://embedded-resource", Text("This is an embedded resource content.")),)
    )


async def _several(question: NoQuestion, call: Call) -> Blocks:
    data = Text(orjson.dumps({"test": "data", "value": 123}).decode(), "application/json")
    return Blocks(
        (
            Text("Multiple content types test:"),
            Binary(PNG, "image/png"),
            Embedded("test://mixed-content-resource", data),
        )
    )


async def _error(question: NoQuestion, call: Call) -> Text:
    raise IntendedError("This tool intentionally returns an error for testing")


async def _progress(question: NoQuestion, call: Call) -> Text:
    for done in (0.0, 50.0, 100.0):
        await call.report_progress(done, 100.0, f"{done:g} of 100")
    return Text("Progress was reported three times.")


async def _static_text(variables: Mapping[str, str], call: Call) -> Text:
    return Text("This is the content of the static text resource.")


async def _static_binary(variables: Mapping[str, str], call: Call) -> Binary:
    return Binary(PNG, "image/png")


async def _watched(variables: Mapping[str, str], call: Call) -> Text:
    return Text("This resource can be watched.")


async def _template(variables: Mapping[str, str], call: Call) -> Text:
    wanted = variables["id"]
    facts = {"id": wanted, "templateTest": True, "data": f"Data for ID: {wanted}"}
    return Text(orjson.dumps(facts).decode(), "application/json")


async def _simple_prompt(arguments: Mapping[str, str], call: Call) -> PromptText:
    return PromptText((PromptMessage(Text("This is a simple prompt for testing.")),))


async def _prompt_with_arguments(arguments: Mapping[str, str], call: Call) -> PromptText:
    text = f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"
    return PromptText((PromptMessage(Text(text)),))


async def _complete_argument(request: CompletionRequest, call: Call) -> Completion:
    return complete_from(["test1", "test2", "testing"], request.value)


async def _prompt_with_resource(arguments: Mapping[str, str], call: Call) -> PromptText:
    shown = Embedded(arguments["resourceUri"], Text("Embedded resource content for testing."))
    return PromptText(
        (PromptMessage(shown), PromptMessage(Text("Please process the embedded resource above.")))
    )


async def _prompt_with_image(arguments: Mapping[str, str], call: Call) -> PromptText:
    return PromptText(
        (
            PromptMessage(Binary(PNG, "image/png")),
            PromptMessage(Text("Please analyze the image above.")),
        )
    )


Read = Callable[[Mapping[str, str], Call], Coroutine[Any, Any, Text | Binary]]

_TOOLS = {
    "test_simple_text": (Text, _simple_text),
    "test_image_content": (Blocks, _image),
    "test_audio_content": (Blocks, _audio),
    "test_embedded_resource": (Blocks, _embedded),
    "test_multiple_content_types": (Blocks, _several),
    "test_error_handling": (Text, _error),
    "test_tool_with_progress": (Text, _progress),
}
_RESOURCES: dict[str, tuple[str, Read]] = {
    "test://static-text": ("text/plain", _static_text),
    "test://static-binary": ("image/png", _static_binary),
    "test://watched-resource": ("text/plain", _watched),
    "test://template/{id}/data": ("application/json", _template),
}
_PROMPTS = {
    "test_simple_prompt": ((), _simple_prompt),
    "test_prompt_with_arguments": (("arg1", "arg2"), _prompt_with_arguments),
    "test_prompt_with_embedded_resource": (("resourceUri",), _prompt_with_resource),
    "test_prompt_with_image": ((), _prompt_with_image),
}


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def fixture_room() -> Room:
    """The room, ready for a desk."""
    tasks = TaskFixtures()
    return Room(
        RoomDeclaration(
            "fixtures", "Fixtures", "What the conformance suite asks a server to have."
        ),
        operations=(
            *(
                Operation(
                    name,
                    "fixtures",
                    _title(name),
                    f"Fixture: {_title(name)}.",
                    NoQuestion,
                    answer,
                    run,
                    NO_SCOPES,
                )
                for name, (answer, run) in _TOOLS.items()
            ),
            *tasks.operations(),
        ),
        jobs=tasks,
        resources=tuple(
            Resource(
                uri,
                uri.partition("://")[2],
                "fixtures",
                uri,
                f"Fixture: {uri}.",
                read,
                NO_SCOPES,
                media_type,
            )
            for uri, (media_type, read) in _RESOURCES.items()
        ),
        prompts=tuple(
            Prompt(
                name,
                "fixtures",
                _title(name),
                f"Fixture: {_title(name)}.",
                tuple(
                    PromptArgument(argument, f"The value of {argument}") for argument in arguments
                ),
                expand,
                NO_SCOPES,
                complete=_complete_argument if arguments else None,
            )
            for name, (arguments, expand) in _PROMPTS.items()
        ),
    )
