"""The one encoder of answers: whatever the door, an answer has the same JSON."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import orjson
from pydantic import TypeAdapter

from carrel.core.answer import (
    Binary,
    Blocks,
    Embedded,
    Explained,
    Explanation,
    Link,
    Partial,
    Text,
)
from carrel.core.caller import Caller
from carrel.core.quoting import QuotedSource, Quotes, distinct


def encode_answer(answer_type: Any, answer: Any) -> bytes:
    """A model or list as its JSON, Text as a string, Blocks as a list of content blocks.

    Of an explained answer this is the answer alone; `encode_explanation` has the other half.
    """
    if isinstance(answer, Explained):
        answer = answer.result
    if isinstance(answer, Text):
        return orjson.dumps(answer.body)
    if isinstance(answer, Blocks):
        return orjson.dumps([content_block(part) for part in answer.parts])
    to_json = _serializer(answer_type)
    if not isinstance(answer, Partial):
        return to_json(answer, by_alias=True)
    rest = {"pending": answer.pending, "job_id": answer.job_id, "next_step": answer.next_step}
    rows = to_json(list(answer.result), by_alias=True)
    return b'{"result":' + rows + b"," + orjson.dumps(rest)[1:]


def encode_explanation(explanation: Explanation) -> bytes:
    """The explanation as every door has it under `explanation`."""
    return explanation.__pydantic_serializer__.to_json(explanation, by_alias=True)


@cache
def _serializer(answer_type: Any) -> Callable[..., bytes]:
    return TypeAdapter(answer_type).serializer.to_json


def quoted_sources(
    quotes: Quotes | None, arguments: Mapping[str, Any], answer: Any, caller: Caller
) -> tuple[QuotedSource, ...]:
    """The distinct sources quoted in an answer; empty if its operation quotes none."""
    return () if quotes is None else tuple(distinct(quotes(arguments, answer, caller)))


def content_block(part: Text | Binary | Embedded | Link) -> dict[str, object]:
    """One content block of a tool result or prompt."""
    match part:
        case Text():
            return {"type": "text", "text": part.body}
        case Binary():
            kind = "audio" if part.media_type.startswith("audio/") else "image"
            data = base64.b64encode(part.body).decode()
            return {"type": kind, "data": data, "mimeType": part.media_type}
        case Embedded():
            return {"type": "resource", "resource": resource_content(part.uri, part.content)}
        case Link():
            link = {"type": "resource_link", "uri": part.uri, "name": part.name}
            size = {} if part.size_bytes is None else {"size": part.size_bytes}
            about = {"description": part.description} if part.description else {}
            return {**link, **about, "mimeType": part.media_type, **size}


def resource_content(uri: str, content: Text | Binary) -> dict[str, object]:
    """The contents of a resource under its address."""
    if isinstance(content, Text):
        return {"uri": uri, "mimeType": content.media_type, "text": content.body}
    blob = base64.b64encode(content.body).decode()
    return {"uri": uri, "mimeType": content.media_type, "blob": blob}
