"""Operations, resources and prompts; every door is generated from these descriptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, JsonValue

from carrel.core.answer import Binary, PromptArgument, PromptText, Text
from carrel.core.caller import Call
from carrel.core.completion import Complete
from carrel.core.quoting import Quotes


class Question(BaseModel):
    """Base of every question: exact types, no unknown fields, never changed after parsing."""

    # Built at the first question, not at start-up: a session uses few of the operations there are.
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, populate_by_name=True, defer_build=True
    )


class Answer(BaseModel):
    """Base of every structured answer.

    The text in the field `text_field` is what MCP clients show: it is a block of its own, as it is.
    """

    text_field: ClassVar[str] = ""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


# Marks an optional field of a local operation that the command line takes by its place.
POSITIONAL: dict[str, JsonValue] = {"positional": True}

QuestionT = TypeVar("QuestionT", bound=Question)


class Effect(Enum):
    """What running an operation does to the world."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"


@dataclass(frozen=True, slots=True)
class Operation(Generic[QuestionT]):
    """One thing callers can do. `answer` is a model, `list[Model]`, or `Text`.

    Operations that are not `is_listed` are left out of the tool list of doors that serve all rooms,
    and found there by `find_operation` through their `phrases`. An `is_local` operation works on
    the server's own files: it is a command only, may block, and may answer with any object. One
    that `is_for_people` is served at the command line and as REST, never to assistants over MCP.
    """

    name: str
    room: str
    title: str
    description: str
    question: type[QuestionT]
    answer: Any
    run: Callable[[QuestionT, Call], Coroutine[Any, Any, Any]]
    scopes: frozenset[str]
    effect: Effect = Effect.READS
    name_alone: str | None = None
    is_idempotent: bool = False
    reaches_outside: bool = False
    cost: float = 1.0
    timeout_seconds: float = 30.0
    command: str | None = None
    # What a person may do after the command, who is told so at its end.
    next_command: str = ""
    may_outlast_call: bool = False
    may_explain: bool = False
    is_listed: bool = True
    is_local: bool = False
    is_for_people: bool = False
    phrases: tuple[str, ...] = ()
    # Whether the answer is given whole at every door, however long; else MCP doors cut it in pages.
    is_whole: bool = False
    # Another room that the operation uses where this argument is set: `{"outside": "literature"}`.
    rooms_used: Mapping[str, str] = field(default_factory=dict)
    # What of the answer others wrote; None where all of it is ours or the caller's.
    quotes: Quotes | None = None

    @property
    def is_open_world(self) -> bool:
        """Whether others influence the answer, over the network or by quoted text."""
        return self.reaches_outside or self.quotes is not None

    @property
    def action(self) -> str:
        return f"{self.room}:{self.command}" if self.is_local else f"tool:{self.name}"

    @property
    def address(self) -> str:
        return f"carrel://{self.room}" if self.is_local else f"mcp://tools/{self.name}"


_VARIABLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Resource:
    """A readable resource; `read` gets the decoded `{names}` of `uri`, `complete` suggests them."""

    uri: str
    name: str
    room: str
    title: str
    description: str
    read: Callable[[Mapping[str, str], Call], Coroutine[Any, Any, Text | Binary]]
    scopes: frozenset[str]
    media_type: str = "text/plain"
    cost: float = 1.0
    timeout_seconds: float = 30.0
    quotes: Quotes | None = None
    complete: Complete | None = None

    @property
    def is_template(self) -> bool:
        return _VARIABLE.search(self.uri) is not None

    @property
    def argument_names(self) -> tuple[str, ...]:
        return tuple(_VARIABLE.findall(self.uri))

    @property
    def effect(self) -> Effect:
        return Effect.READS

    @property
    def action(self) -> str:
        return f"resource:{self.name}"

    @property
    def address(self) -> str:
        return self.uri

    def matcher(self) -> Callable[[str], dict[str, str] | None]:
        """A function from an address to the values of its variables; None without a match."""
        pieces = _VARIABLE.split(self.uri)
        pattern = "".join(
            f"(?P<{piece}>[^/?#]+)" if at % 2 else re.escape(piece)
            for at, piece in enumerate(pieces)
        )
        compiled = re.compile(pattern)

        def match(uri: str) -> dict[str, str] | None:
            found = compiled.fullmatch(uri)
            return (
                None
                if found is None
                else {name: unquote(value) for name, value in found.groupdict().items()}
            )

        return match


@dataclass(frozen=True, slots=True)
class Prompt:
    """A guided piece of work that a person starts; `complete` suggests values of its arguments."""

    name: str
    room: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]
    expand: Callable[[Mapping[str, str], Call], Coroutine[Any, Any, PromptText]]
    scopes: frozenset[str]
    cost: float = 1.0
    timeout_seconds: float = 30.0
    complete: Complete | None = None

    @property
    def argument_names(self) -> tuple[str, ...]:
        return tuple(argument.name for argument in self.arguments)

    @property
    def effect(self) -> Effect:
        return Effect.READS

    @property
    def action(self) -> str:
        return f"prompt:{self.name}"

    @property
    def address(self) -> str:
        return f"mcp://prompts/{self.name}"


# Asked at every key that a person presses.
_COMPLETION_COST = 0.1
_COMPLETION_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ArgumentCompletion:
    """Completion of arguments of a resource or prompt, for callers who may use it."""

    subject: Resource | Prompt
    cost: float = _COMPLETION_COST
    timeout_seconds: float = _COMPLETION_TIMEOUT_SECONDS

    @property
    def name(self) -> str:
        return self.subject.name

    @property
    def scopes(self) -> frozenset[str]:
        return self.subject.scopes

    @property
    def effect(self) -> Effect:
        return Effect.READS

    @property
    def action(self) -> str:
        return f"complete:{self.subject.name}"

    @property
    def address(self) -> str:
        return self.subject.address


Entry = Operation[Any] | Resource | Prompt | ArgumentCompletion
