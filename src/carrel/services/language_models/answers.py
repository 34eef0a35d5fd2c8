"""Parses language model answers: the object or text asked for, or why it is unusable."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from carrel.services.language_models.formats import ModelReply

# What databases refuse: lone surrogates, and control characters except tab and line breaks.
_UNKEPT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The object, and the tokens it took."""

    answer: dict[str, Any]
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class UnusableAnswer:
    """An answer that cost tokens but cannot be used; `reason` says why."""

    text: str
    reason: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """Plain text, and the tokens it took."""

    text: str
    input_tokens: int
    output_tokens: int


def read_text(reply: ModelReply) -> TextAnswer | UnusableAnswer:
    """The text of an answer to a question without a schema."""
    text = _clean(str(reply.content or ""))
    if reply.problem is None and text.strip():
        return TextAnswer(text, reply.input_tokens, reply.output_tokens)
    reason = reply.problem or "is empty"
    return UnusableAnswer(text, reason, reply.input_tokens, reply.output_tokens)


def read_answer(reply: ModelReply) -> ModelAnswer | UnusableAnswer:
    """The object in an answer; a fence around it or thoughts before it do no harm."""
    reason = reply.problem
    if reason is None:
        found = (
            reply.content
            if isinstance(reply.content, dict)
            else _object_in(str(reply.content or ""))
        )
        if found is not None:
            return ModelAnswer(_clean(found), reply.input_tokens, reply.output_tokens)
        reason = "is not a JSON object" if reply.content else "is empty"
    text = (
        reply.content
        if isinstance(reply.content, str)
        else json.dumps(reply.content, ensure_ascii=False)
    )
    return UnusableAnswer(_clean(text), reason, reply.input_tokens, reply.output_tokens)


def _object_in(text: str) -> dict[str, Any] | None:
    text = text.rpartition("</think>")[2]
    try:
        # Models held to a shape by a grammar still write line breaks into strings as they are.
        found = json.loads(text[text.index("{") : text.rindex("}") + 1], strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _clean(value: Any) -> Any:
    match value:
        case str():
            return _UNKEPT.sub("", value)
        case dict():
            return {_UNKEPT.sub("", key): _clean(inner) for key, inner in value.items()}
        case list():
            return [_clean(inner) for inner in value]
        case _:
            return value
