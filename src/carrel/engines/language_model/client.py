"""Asks a model, waits when it is busy, and reads its answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from carrel.engines.language_model.errors import LanguageModelError
from carrel.engines.language_model.formats import FORMATS, Asked, Told

_BUSY = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_ATTEMPTS = 4
_LONGEST_WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The object, and the tokens it took."""

    answer: dict[str, Any]
    input_tokens: int
    output_tokens: int


class ModelClient:
    """One model of one provider. `pause` is how it waits, so that tests need not."""

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        url: str | None = None,
        api_key: str = "",
        timeout_seconds: float = 120.0,
        max_output_tokens: int = 4096,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._format = FORMATS[provider]
        self._provider = provider
        self._model = model
        self._max_output_tokens = max_output_tokens
        self._pause = pause
        self._client = httpx2.AsyncClient(
            base_url=(url or self._format.usual_url).rstrip("/"), headers=self._format.headers(api_key), timeout=timeout_seconds
        )

    async def ask(self, instructions: str, material: str, schema: Mapping[str, Any], schema_name: str) -> ModelAnswer:
        """The model's answer; tried again, each time later, when the model is busy or its answer cannot be read."""
        asked = Asked(self._model, instructions, material, schema, schema_name, self._max_output_tokens)
        attempt = 0
        while True:
            try:
                told = await self._once(asked)
            except LanguageModelError as error:
                attempt += 1
                if not error.is_retryable or attempt >= _ATTEMPTS:
                    raise
                await self._pause(min(error.retry_after_seconds or 2.0 ** (attempt - 1), _LONGEST_WAIT_SECONDS))
            else:
                return ModelAnswer(told.answer, told.input_tokens, told.output_tokens)

    async def close(self) -> None:
        await self._client.aclose()

    async def _once(self, asked: Asked) -> Told:
        try:
            response = await self._client.post(self._format.path(asked.model), json=self._format.body(asked))
        except httpx2.HTTPError as error:
            raise LanguageModelError(f"{self._provider} cannot be reached: {type(error).__name__}", is_retryable=True) from error
        if response.status_code != 200:
            raise LanguageModelError(
                f"{self._provider} answered {response.status_code}: {_reason(response.text)}",
                is_retryable=response.status_code in _BUSY,
                retry_after_seconds=_seconds(response.headers.get("retry-after")),
            )
        try:
            told = self._format.read(response.json())
        except (KeyError, IndexError, TypeError, json.JSONDecodeError) as error:
            raise LanguageModelError(f"{self._provider} answered in a form that cannot be read", is_retryable=True) from error
        if not isinstance(told.answer, dict):
            raise LanguageModelError(f"{self._provider} did not answer with an object", is_retryable=True)
        return told


def _reason(text: str) -> str:
    try:
        error = json.loads(text).get("error", {})
    except (json.JSONDecodeError, AttributeError):
        return text[:200]
    return str(error.get("message", error) if isinstance(error, dict) else error)[:200]


def _seconds(header: str | None) -> float | None:
    return float(header) if header is not None and header.replace(".", "", 1).isdigit() else None
