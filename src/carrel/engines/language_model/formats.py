"""How each provider is asked and how its answer is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.engines.language_model.errors import LanguageModelError


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, whichever provider answers."""

    model: str
    instructions: str
    material: str
    schema: Mapping[str, Any]
    schema_name: str
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class Told:
    """What was answered: the text or object, and the tokens it took."""

    answer: Any
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Format:
    """One provider: where it usually is, how a request is written and how an answer is read."""

    usual_url: str
    path: Callable[[str], str]
    headers: Callable[[str], dict[str, str]]
    body: Callable[[Asked], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], Told]


def _openai_body(asked: Asked) -> dict[str, Any]:
    return {
        "model": asked.model,
        "messages": [{"role": "system", "content": asked.instructions}, {"role": "user", "content": asked.material}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": asked.schema_name, "schema": dict(asked.schema), "strict": True},
        },
        "max_tokens": asked.max_output_tokens,
    }


def _openai_read(told: Mapping[str, Any]) -> Told:
    choice = told["choices"][0]
    if choice["message"].get("refusal"):
        raise LanguageModelError(f"The model refused: {choice['message']['refusal']}")
    _whole(choice.get("finish_reason") == "length")
    usage = told.get("usage") or {}
    return Told(json.loads(choice["message"]["content"]), usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))


def _anthropic_body(asked: Asked) -> dict[str, Any]:
    return {
        "model": asked.model,
        "max_tokens": asked.max_output_tokens,
        "system": asked.instructions,
        "messages": [{"role": "user", "content": asked.material}],
        "tools": [{"name": asked.schema_name, "description": "Give the answer.", "input_schema": dict(asked.schema)}],
        "tool_choice": {"type": "tool", "name": asked.schema_name},
    }


def _anthropic_read(told: Mapping[str, Any]) -> Told:
    _whole(told.get("stop_reason") == "max_tokens")
    used = next((part["input"] for part in told["content"] if part["type"] == "tool_use"), None)
    if used is None:
        raise LanguageModelError("The model did not answer in the form it was asked for", is_retryable=True)
    usage = told.get("usage") or {}
    return Told(used, usage.get("input_tokens", 0), usage.get("output_tokens", 0))


def _google_body(asked: Asked) -> dict[str, Any]:
    return {
        "systemInstruction": {"parts": [{"text": asked.instructions}]},
        "contents": [{"role": "user", "parts": [{"text": asked.material}]}],
        "generationConfig": {
            "responseMimeType": "application/json",
            "responseJsonSchema": dict(asked.schema),
            "maxOutputTokens": asked.max_output_tokens,
        },
    }


def _google_read(told: Mapping[str, Any]) -> Told:
    blocked = (told.get("promptFeedback") or {}).get("blockReason")
    if blocked:
        raise LanguageModelError(f"The model refused: {blocked}")
    candidate = told["candidates"][0]
    _whole(candidate.get("finishReason") == "MAX_TOKENS")
    text = "".join(part.get("text", "") for part in candidate["content"]["parts"])
    usage = told.get("usageMetadata") or {}
    return Told(json.loads(text), usage.get("promptTokenCount", 0), usage.get("candidatesTokenCount", 0))


def _whole(is_cut: bool) -> None:
    if is_cut:
        raise LanguageModelError("The model's answer was cut off: raise model.max_output_tokens")


FORMATS: dict[str, Format] = {
    "openai": Format(
        "https://api.openai.com/v1",
        lambda model: "/chat/completions",
        lambda key: {"authorization": f"Bearer {key}"} if key else {},
        _openai_body,
        _openai_read,
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
