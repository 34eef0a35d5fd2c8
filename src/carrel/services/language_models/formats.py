"""Request and answer formats of the providers of language models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Anthropic asks for a limit in every request.
_ANTHROPIC_MAX_TOKENS = 8192


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The JSON schema that an answer must follow."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to any provider; without a schema the answer is plain text."""

    model: str
    instructions: str
    material: str
    answer: AnswerSchema | None
    max_output_tokens: int | None
    temperature: float | None = None

    @property
    def sampling(self) -> dict[str, float]:
        """Empty unless set: not every model accepts a temperature."""
        return {} if self.temperature is None else {"temperature": self.temperature}


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The content of an answer, its tokens, and the provider's reason if it is unusable."""

    content: Any
    input_tokens: int
    output_tokens: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ProviderFormat:
    """A provider's wire format; `simpler` is the fallback for servers without JSON schemas."""

    usual_url: str
    path: Callable[[str], str]
    headers: Callable[[str], dict[str, str]]
    body: Callable[[ModelRequest], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], ModelReply]
    simpler: ProviderFormat | None = None


def _chat_body(
    request: ModelRequest, instructions: str, response_format: dict[str, Any] | None
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [
            {"role": "system", "content": instructions},
            {"role": "user", "content": request.material},
        ],
        **request.sampling,
    }
    if response_format is not None:
        body["response_format"] = response_format
    if request.max_output_tokens is not None:
        body["max_tokens"] = request.max_output_tokens
    return body


def _openai_body(request: ModelRequest) -> dict[str, Any]:
    if request.answer is None:
        return _chat_body(request, request.instructions, None)
    wanted = {"name": request.answer.name, "schema": dict(request.answer.schema), "strict": True}
    response_format = {"type": "json_schema", "json_schema": wanted}
    return _chat_body(request, request.instructions, response_format)


def _plain_openai_body(request: ModelRequest) -> dict[str, Any]:
    """For servers without strict schemas: the schema in words, and as llama.cpp enforces it."""
    if request.answer is None:
        return _chat_body(request, request.instructions, None)
    schema = request.answer.schema
    instructions = (
        f"{request.instructions}\n\nAnswer in JSON, and with nothing else: "
        f"{_in_words(schema, schema.get('$defs', {}))}."
    )
    return _chat_body(request, instructions, {"type": "json_object", "schema": dict(schema)})


def _in_words(schema: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    """The schema as a sentence: a small model would copy a schema or an empty example."""
    if "$ref" in schema:
        return _in_words(named[schema["$ref"].rpartition("/")[2]], named)
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    match schema.get("type"):
        case "object":
            fields = (
                f"{name} ({_in_words(inner, named)})"
                for name, inner in schema.get("properties", {}).items()
            )
            return f"an object with {', '.join(fields)}"
        case "array":
            return f"a list, each {_in_words(schema['items'], named)}"
        case "boolean":
            return "true or false"
        case "string":
            return "text"
        case kind:
            return str(kind)


def _openai_read(reply: Mapping[str, Any]) -> ModelReply:
    choice = reply["choices"][0]
    refusal = choice["message"].get("refusal")
    problem = (
        f"is a refusal: {refusal}" if refusal else _cut(choice.get("finish_reason") == "length")
    )
    usage = reply.get("usage") or {}
    content = choice["message"].get("content")
    return ModelReply(
        content, usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0, problem
    )


def _anthropic_body(request: ModelRequest) -> dict[str, Any]:
    body = {
        "model": request.model,
        "max_tokens": request.max_output_tokens or _ANTHROPIC_MAX_TOKENS,
        "system": request.instructions,
        "messages": [{"role": "user", "content": request.material}],
        **request.sampling,
    }
    if request.answer is None:
        return body
    tool = {
        "name": request.answer.name,
        "description": "Give the answer.",
        "input_schema": dict(request.answer.schema),
    }
    return {**body, "tools": [tool], "tool_choice": {"type": "tool", "name": request.answer.name}}


def _anthropic_read(reply: Mapping[str, Any]) -> ModelReply:
    used = next((part["input"] for part in reply["content"] if part["type"] == "tool_use"), None)
    text = "".join(part.get("text", "") for part in reply["content"] if part["type"] == "text")
    refused = "is a refusal" if reply.get("stop_reason") == "refusal" else None
    usage = reply.get("usage") or {}
    return ModelReply(
        text if used is None else used,
        usage.get("input_tokens") or 0,
        usage.get("output_tokens") or 0,
        refused or _cut(reply.get("stop_reason") == "max_tokens"),
    )


def _google_body(request: ModelRequest) -> dict[str, Any]:
    config: dict[str, Any] = dict(request.sampling)
    if request.answer is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = dict(request.answer.schema)
    if request.max_output_tokens is not None:
        config["maxOutputTokens"] = request.max_output_tokens
    return {
        "systemInstruction": {"parts": [{"text": request.instructions}]},
        "contents": [{"role": "user", "parts": [{"text": request.material}]}],
        "generationConfig": config,
    }


def _google_read(reply: Mapping[str, Any]) -> ModelReply:
    usage = reply.get("usageMetadata") or {}
    tokens = usage.get("promptTokenCount") or 0, usage.get("candidatesTokenCount") or 0
    blocked = (reply.get("promptFeedback") or {}).get("blockReason")
    if blocked:
        return ModelReply("", *tokens, f"is a refusal: {blocked}")
    candidate = reply["candidates"][0]
    # An answer that was stopped may have no parts at all.
    text = "".join(
        part.get("text", "") for part in (candidate.get("content") or {}).get("parts") or ()
    )
    reason = candidate.get("finishReason")
    stopped = None if text or reason in {None, "STOP", "MAX_TOKENS"} else f"is a refusal: {reason}"
    return ModelReply(text, *tokens, stopped or _cut(reason == "MAX_TOKENS"))


def _cut(is_cut: bool) -> str | None:
    return (
        "was cut off: raise model.max_output_tokens, or model.context_tokens if it is set"
        if is_cut
        else None
    )


_OPENAI_URL = "https://api.openai.com/v1"


def _openai_headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


FORMATS: dict[str, ProviderFormat] = {
    "openai": ProviderFormat(
        _OPENAI_URL,
        lambda model: "/chat/completions",
        _openai_headers,
        _openai_body,
        _openai_read,
        ProviderFormat(
            _OPENAI_URL,
            lambda model: "/chat/completions",
            _openai_headers,
            _plain_openai_body,
            _openai_read,
        ),
    ),
    "anthropic": ProviderFormat(
        "https://api.anthropic.com",
        lambda model: "/v1/messages",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
        _anthropic_body,
        _anthropic_read,
    ),
    "google": ProviderFormat(
        "https://generativelanguage.googleapis.com",
        lambda model: f"/v1beta/models/{model}:generateContent",
        lambda key: {"x-goog-api-key": key},
        _google_body,
        _google_read,
    ),
}
