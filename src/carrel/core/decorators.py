"""`@operation`, `@resource` and `@prompt` describe the methods of a room's classes.

Question and answer types are read from the type hints: `Job` beside the answer says that the work
may outlast the call, `Partial` that a list may be incomplete, `Explained` that an explanation may
stand beside it. Methods are collected in the order of their definition when the catalogue is built.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping
from types import UnionType
from typing import Any, Required, TypedDict, TypeVar, Union, Unpack, get_args, get_origin
from typing import get_type_hints as resolve_type_hints

from carrel.core.answer import (
    Binary,
    Blocks,
    Explained,
    Job,
    Partial,
    PromptArgument,
    PromptText,
    Text,
)
from carrel.core.caller import Call
from carrel.core.completion import Completion, CompletionRequest
from carrel.core.operation import Effect, Operation, Prompt, Question, Resource
from carrel.core.quoting import Quotes

_MARK = "__described_as__"

OperationMethod = TypeVar("OperationMethod", bound=Callable[..., Coroutine[Any, Any, Any]])
ResourceMethod = TypeVar(
    "ResourceMethod",
    bound=Callable[[Any, Mapping[str, str], Call], Coroutine[Any, Any, Text | Binary]],
)
PromptMethod = TypeVar(
    "PromptMethod", bound=Callable[[Any, Mapping[str, str], Call], Coroutine[Any, Any, PromptText]]
)
CompletionMethod = Callable[[Any, CompletionRequest, Call], Coroutine[Any, Any, Completion]]


class OperationDescription(TypedDict, total=False):
    """The arguments of `@operation`; `name` defaults to the method's, `phrases` split at `;`."""

    title: Required[str]
    description: Required[str]
    scopes: Required[frozenset[str]]
    name: str
    effect: Effect
    name_alone: str
    is_idempotent: bool
    reaches_outside: bool
    cost: float
    timeout_seconds: float
    command: str
    next_command: str
    is_listed: bool
    is_local: bool
    is_for_people: bool
    is_whole: bool
    phrases: str
    rooms_used: Mapping[str, str]
    quotes: Quotes


class ResourceDescription(TypedDict, total=False):
    """What `@resource` takes beside the address. `complete` is another method of the same class."""

    title: Required[str]
    description: Required[str]
    scopes: Required[frozenset[str]]
    name: str
    media_type: str
    cost: float
    timeout_seconds: float
    quotes: Quotes
    complete: CompletionMethod


class PromptDescription(TypedDict, total=False):
    """What `@prompt` takes. `complete` is another method of the same class."""

    title: Required[str]
    description: Required[str]
    scopes: Required[frozenset[str]]
    name: str
    arguments: tuple[PromptArgument, ...]
    cost: float
    timeout_seconds: float
    complete: CompletionMethod


def operation(
    **description: Unpack[OperationDescription],
) -> Callable[[OperationMethod], OperationMethod]:
    """Describes `async def name(self, question: SomeQuestion, call: Call) -> SomeAnswer`."""
    return _marker(Operation, description)


def resource(
    uri: str, **description: Unpack[ResourceDescription]
) -> Callable[[ResourceMethod], ResourceMethod]:
    """Describe the resource at `uri`; the method gets the values of its `{names}`."""
    return _marker(Resource, {"uri": uri, **description})


def prompt(**description: Unpack[PromptDescription]) -> Callable[[PromptMethod], PromptMethod]:
    """Describe a prompt; the method gets the values of its arguments."""
    return _marker(Prompt, {"arguments": (), **description})


def collect_operations(room: str, holder: object) -> tuple[Operation[Any], ...]:
    """The described operations of an object, bound to it. Raises TypeError for odd signatures."""
    return tuple(
        Operation(
            room=room,
            run=method.__get__(holder),
            **_question_and_answer(method),
            **_operation_facts(method, description),
        )
        for method, description in _described(holder, Operation)
    )


def collect_resources(room: str, holder: object) -> tuple[Resource, ...]:
    """The described resources of an object, bound to it."""
    return tuple(
        Resource(room=room, read=method.__get__(holder), **_bound(method, description, holder))
        for method, description in _described(holder, Resource)
    )


def collect_prompts(room: str, holder: object) -> tuple[Prompt, ...]:
    """The described prompts of an object, bound to it."""
    return tuple(
        Prompt(room=room, expand=method.__get__(holder), **_bound(method, description, holder))
        for method, description in _described(holder, Prompt)
    )


def _marker(kind: type, description: Mapping[str, Any]) -> Callable[[Any], Any]:
    def mark(method: Any) -> Any:
        setattr(method, _MARK, (kind, description))
        return method

    return mark


def _described(holder: object, kind: type) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    for each in reversed(type(holder).__mro__):
        for method in vars(each).values():
            marked_kind, description = getattr(method, _MARK, (None, None))
            if marked_kind is kind and description is not None:
                yield method, description


def _operation_facts(method: Any, description: Mapping[str, Any]) -> dict[str, Any]:
    phrases = str(description.get("phrases", ""))
    return {
        "name": method.__name__,
        **description,
        "phrases": tuple(phrase.strip() for phrase in phrases.split(";") if phrase.strip()),
    }


def _bound(method: Any, description: Mapping[str, Any], holder: object) -> dict[str, Any]:
    facts = {"name": method.__name__, **description}
    if "complete" in facts:
        facts["complete"] = facts["complete"].__get__(holder)
    return facts


def _question_and_answer(method: Any) -> dict[str, Any]:
    hints = resolve_type_hints(method)
    question = hints.get("question")
    if not (isinstance(question, type) and issubclass(question, Question)):
        raise TypeError(f"{method.__qualname__} needs a parameter `question` of a Question type")
    if hints.get("call") is not Call or "return" not in hints:
        raise TypeError(f"{method.__qualname__} needs a parameter `call: Call` and an answer type")
    answers = _alternatives(hints["return"])
    rest = [each for each in answers if each not in (Job, Partial, Explained)] or [Job]
    if Text in rest and all(each in (Text, Blocks) for each in rest):
        rest = [Text]
    if len(rest) > 1:
        raise TypeError(
            f"{method.__qualname__} needs one answer type beside Job, Partial and Explained"
        )
    return {
        "question": question,
        "answer": rest[0],
        "may_outlast_call": Job in answers and rest != [Job],
        "may_explain": Explained in answers,
    }


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
