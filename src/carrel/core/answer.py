"""Answer types of operations, resources and prompts, besides their own models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from carrel.core.errors import CarrelError

JobState = Literal["running", "completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text that is the answer itself, such as a paper's Markdown."""

    body: str
    media_type: str = "text/plain"
    # Characters that were left out after it, because the caller asked for fewer.
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Binary:
    """Bytes with their media type."""

    body: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """A resource shown inside an answer, under its own address."""

    uri: str
    content: Text | Binary


@dataclass(frozen=True, slots=True)
class Link:
    """The address of a resource that an answer points to."""

    uri: str
    name: str
    description: str = ""
    media_type: str = "text/plain"
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Blocks:
    """Several pieces of content in one answer."""

    parts: tuple[Text | Binary | Embedded | Link, ...]


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a prompt."""

    content: Text | Binary | Embedded
    role: Literal["user", "assistant"] = "user"


@dataclass(frozen=True, slots=True)
class PromptText:
    """The expansion of a prompt."""

    messages: tuple[PromptMessage, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument of a prompt; on the wire they are all strings."""

    name: str
    description: str
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class Partial:
    """An incomplete list: its first part, and where to fetch the rest."""

    result: tuple[object, ...]
    pending: int
    job_id: str
    next_step: str = field(default="")


class Explanation(BaseModel):
    """What the reader of an answer should know of it; rooms add fields in models of their own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Whole sentences: why the answer is empty, what was searched, and what comes near.
    message: str


@dataclass(frozen=True, slots=True)
class Explained:
    """An answer and its explanation, which every door shows beside it, never inside it."""

    result: Any
    explanation: Explanation


def split_explanation(answer: Any) -> tuple[Any, Explanation | None]:
    """The answer itself, and its explanation if it has one."""
    if isinstance(answer, Explained):
        return answer.result, answer.explanation
    return answer, None


@dataclass(frozen=True, slots=True)
class Job:
    """A background job and its current state; `result` is its operation's answer, once complete."""

    job_id: str
    operation: str
    state: JobState
    message: str
    started_at: str
    updated_at: str
    done: int = 0
    total: int | None = None
    result: Any = None
    error: CarrelError | None = None
