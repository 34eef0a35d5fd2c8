"""The one encoder of answers: whatever the door, an answer has the same JSON."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any, get_args, get_origin

import orjson
from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticSerializationError, to_json

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
from carrel.libraries.text.surrogates import whole_text


def encode_answer(answer_type: Any, answer: Any) -> bytes:
    """A model or list as its JSON, Text as a string, Blocks as a list of content blocks.

    Halves of surrogate pairs, which files of other programs hold and no UTF-8 does, are U+FFFD.
    Of an explained answer this is the answer alone; `encode_explanation` has the other half.
    """
    if isinstance(answer, Explained):
        answer = answer.result
    if isinstance(answer, Text):
        return orjson.dumps(whole_text(answer.body))
    if isinstance(answer, Blocks):
        return orjson.dumps([content_block(part) for part in answer.parts])
    encode = _encoder(answer_type)
    if not isinstance(answer, Partial):
        return encode(answer)
    rest = {"pending": answer.pending, "job_id": answer.job_id, "next_step": answer.next_step}
    rows = encode(list(answer.result))
    return b'{"result":' + rows + b"," + orjson.dumps(rest)[1:]


def encode_explanation(explanation: Explanation) -> bytes:
    """The explanation as every door has it under `explanation`."""
    return _to_json(explanation.__pydantic_serializer__, explanation)


def readable_blocks(answer_type: Any, value: Any) -> tuple[Text, ...]:
    """The blocks of an answer that has a text for reading, by the value of its JSON; else none.

    The text stands alone and unescaped; what the answer says beside it follows as JSON.
    """
    field = getattr(answer_type, "text_field", "")
    text = value.get(field) if field and isinstance(value, dict) else None
    if not isinstance(text, str):
        return ()
    rest = {name: each for name, each in value.items() if name != field and each is not None}
    beside = (Text(orjson.dumps(rest).decode(), "application/json"),) if set(rest) - {"id"} else ()
    return (Text(text, "text/markdown"), *beside)


@cache
def _encoder(answer_type: Any) -> Callable[[Any], bytes]:
    """What encodes answers of a type; lists of flat models take half as long without pydantic."""
    adapter: TypeAdapter[Any] = TypeAdapter(answer_type)
    serializer = adapter.serializer
    row = get_args(answer_type)[0] if get_origin(answer_type) is list else None
    if not (isinstance(row, type) and issubclass(row, BaseModel) and is_flat(row)):
        return lambda answer: _to_json(serializer, answer)
    only = {row}

    def encode_rows(answer: Any) -> bytes:
        if type(answer) is list and {*map(type, answer)} == only:
            try:
                return orjson.dumps([each.__dict__ for each in answer])
            except orjson.JSONEncodeError:
                # Halves of surrogate pairs, and integers beyond 64 bits.
                pass
        return _to_json(serializer, answer)

    return encode_rows


_PLAIN_TYPES = frozenset({"str", "int", "bool"})


def is_flat(model: type[BaseModel]) -> bool:
    """Whether a model's JSON is that of its plain fields: no nesting, aliases or serializers."""
    schema: Any = TypeAdapter(model).core_schema
    fields: Any = schema.get("schema", {})
    attributes = [each for parent in model.__mro__ for each in vars(parent).values()]
    return (
        schema["type"] == "model"
        and schema["cls"] is model
        and not schema["root_model"]
        and "serialization" not in schema
        and fields.get("type") == "model-fields"
        and "serialization" not in fields
        and not fields.get("computed_fields")
        and not any(isinstance(each, cached_property) for each in attributes)
        and all(
            set(field) <= {"type", "schema", "metadata"} and _is_plain(field["schema"])
            for field in fields["fields"].values()
        )
    )


def _is_plain(schema: Any) -> bool:
    if "serialization" in schema:
        return False
    if schema["type"] in {"nullable", "default"}:
        return _is_plain(schema["schema"])
    return schema["type"] in _PLAIN_TYPES


def _to_json(serializer: Any, answer: Any) -> bytes:
    try:
        encoded: bytes = serializer.to_json(answer, by_alias=True)
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        # Looked for only where it failed: ordinary answers pay nothing.
        if "surrogates not allowed" not in str(error):
            raise
        # Not in the mode for JSON, which refuses such names of fields.
        whole = _whole(serializer.to_python(answer, by_alias=True))
        return to_json(whole, inf_nan_mode="null")
    return encoded


def _whole(value: Any) -> Any:
    match value:
        case str():
            return whole_text(value)
        case list() | tuple():
            return [_whole(each) for each in value]
        case dict():
            return {_whole(name): _whole(each) for name, each in value.items()}
        case _:
            return value


def quoted_sources(
    quotes: Quotes | None, arguments: Mapping[str, Any], answer: Any, caller: Caller
) -> tuple[QuotedSource, ...]:
    """The distinct sources quoted in an answer; empty if its operation quotes none."""
    if quotes is None:
        return ()
    return tuple([_whole_source(each) for each in distinct(quotes(arguments, answer, caller))])


def _whole_source(source: QuotedSource) -> QuotedSource:
    title = source.title
    if source.id.isascii() and (title is None or title.isascii()):
        return source
    whole = None if title is None else whole_text(title)
    return source._replace(id=whole_text(source.id), title=whole)


def content_block(part: Text | Binary | Embedded | Link) -> dict[str, object]:
    """One content block of a tool result or prompt."""
    match part:
        case Text():
            return {"type": "text", "text": whole_text(part.body)}
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
        return {"uri": uri, "mimeType": content.media_type, "text": whole_text(content.body)}
    blob = base64.b64encode(content.body).decode()
    return {"uri": uri, "mimeType": content.media_type, "blob": blob}
