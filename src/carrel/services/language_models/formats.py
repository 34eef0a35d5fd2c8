"""How each provider is asked and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, whichever provider answers."""

    model: str
    instructions: str
    material: str
    schema: Mapping[str, Any]
    schema_name: str
    max_output_tokens: int
    temperature: float | None = None

    @property
    def sampling(self) -> dict[str, float]:
        """Not every model lets itself be told."""
        return {} if self.temperature is None else {"temperature": self.temperature}


@dataclass(frozen=True, slots=True)
class Told:
    """What was answered: the text or object, the tokens it took, and what makes it unusable where
    the provider says so.
    """

    said: Any
    input_tokens: int
    output_tokens: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """One provider: where it usually is, how a request is written and how an answer is read.

    `simpler` is for servers of the same format that do not know how we ask for a shape.
    """

    usual_url: str
    path: Callable[[str], str]
    headers: Callable[[str], dict[str, str]]
    body: Callable[[Asked], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], Told]
    simpler: Format | None = None


def _openai_body(asked: Asked) -> dict[str, Any]:
    return {
        "model": asked.model,
        "messages": [
            {"role": "system", "content": asked.instructions},
            {"role": "user", "content": asked.material},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": asked.schema_name,
                "schema": dict(asked.schema),
                "strict": True,
            },
        },
        "max_tokens": asked.max_output_tokens,
        **asked.sampling,
    }


def _plain_openai_body(asked: Asked) -> dict[str, Any]:
    """For servers that know JSON but no strict shapes: the model is told the shape, and the schema
    stands beside the type for
    those (such as llama.cpp's) that hold the model to it."""
    told = (
        f"{asked.instructions}\n\nAnswer in JSON, and with nothing else: "
        f"{_in_words(asked.schema, asked.schema.get('$defs', {}))}."
    )
    return {
        "model": asked.model,
        "messages": [
            {"role": "system", "content": told},
            {"role": "user", "content": asked.material},
        ],
        "response_format": {"type": "json_object", "schema": dict(asked.schema)},
        "max_tokens": asked.max_output_tokens,
        **asked.sampling,
    }


def _in_words(schema: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    """The shape as a sentence: of a schema, or of an empty example, a small model copies what it
    sees.
    """
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


def _openai_read(told: Mapping[str, Any]) -> Told:
    choice = told["choices"][0]
    refusal = choice["message"].get("refusal")
    problem = (
        f"is a refusal: {refusal}" if refusal else _cut(choice.get("finish_reason") == "length")
    )
    usage = told.get("usage") or {}
    said = choice["message"].get("content")
    return Told(said, usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0, problem)


def _anthropic_body(asked: Asked) -> dict[str, Any]:
    return {
        "model": asked.model,
        "max_tokens": asked.max_output_tokens,
        "system": asked.instructions,
        "messages": [{"role": "user", "content": asked.material}],
        "tools": [
            {
                "name": asked.schema_name,
                "description": "Give the answer.",
                "input_schema": dict(asked.schema),
            }
        ],
        "tool_choice": {"type": "tool", "name": asked.schema_name},
        **asked.sampling,
    }


def _anthropic_read(told: Mapping[str, Any]) -> Told:
    used = next((part["input"] for part in told["content"] if part["type"] == "tool_use"), None)
    text = "".join(part.get("text", "") for part in told["content"] if part["type"] == "text")
    refused = "is a refusal" if told.get("stop_reason") == "refusal" else None
    usage = told.get("usage") or {}
    return Told(
        text if used is None else used,
        usage.get("input_tokens") or 0,
        usage.get("output_tokens") or 0,
        refused or _cut(told.get("stop_reason") == "max_tokens"),
    )


def _google_body(asked: Asked) -> dict[str, Any]:
    return {
        "systemInstruction": {"parts": [{"text": asked.instructions}]},
        "contents": [{"role": "user", "parts": [{"text": asked.material}]}],
        "generationConfig": {
            "responseMimeType": "application/json",
            "responseJsonSchema": dict(asked.schema),
            "maxOutputTokens": asked.max_output_tokens,
            **asked.sampling,
        },
    }


def _google_read(told: Mapping[str, Any]) -> Told:
    usage = told.get("usageMetadata") or {}
    tokens = usage.get("promptTokenCount") or 0, usage.get("candidatesTokenCount") or 0
    blocked = (told.get("promptFeedback") or {}).get("blockReason")
    if blocked:
        return Told("", *tokens, f"is a refusal: {blocked}")
    candidate = told["candidates"][0]
    # An answer that was stopped may have no parts at all.
    text = "".join(
        part.get("text", "") for part in (candidate.get("content") or {}).get("parts") or ()
    )
    reason = candidate.get("finishReason")
    stopped = None if text or reason in {None, "STOP", "MAX_TOKENS"} else f"is a refusal: {reason}"
    return Told(text, *tokens, stopped or _cut(reason == "MAX_TOKENS"))


def _cut(is_cut: bool) -> str | None:
    return (
        "was cut off: raise model.max_output_tokens, or model.context_tokens if it is set"
        if is_cut
        else None
    )


_OPENAI_URL = "https://api.openai.com/v1"


def _openai_headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


FORMATS: dict[str, Format] = {
    "openai": Format(
        _OPENAI_URL,
        lambda model: "/chat/completions",
        _openai_headers,
        _openai_body,
        _openai_read,
        Format(
            _OPENAI_URL,
            lambda model: "/chat/completions",
            _openai_headers,
            _plain_openai_body,
            _openai_read,
        ),
    ),
    "anthropic": Format(
        "https://api.anthropic.com",
        lambda model: "/v1/messages",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
        _anthropic_body,
        _anthropic_read,
    ),
    "google": Format(
        "https://generativelanguage.googleapis.com",
        lambda model: f"/v1beta/models/{model}:generateContent",
        lambda key: {"x-goog-api-key": key},
        _google_body,
        _google_read,
    ),
}
