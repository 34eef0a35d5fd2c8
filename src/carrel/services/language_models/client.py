"""A client for language models: sends requests, retries busy servers, parses answers."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from carrel.core.secrets import mask_known_secrets, mask_secrets, remember_secrets
from carrel.services.fetching import (
    Fetcher,
    FetchError,
    FetchLimits,
    FetchTimeoutError,
    HttpAnswer,
)
from carrel.services.language_models.answers import (
    ModelAnswer,
    TextAnswer,
    UnusableAnswer,
    read_answer,
    read_text,
)
from carrel.services.language_models.errors import LanguageModelError, ShapeRefusedError
from carrel.services.language_models.formats import FORMATS, AnswerSchema, ModelReply, ModelRequest
from carrel.services.retry import RetryPolicy, parse_retry_after

_BUSY = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
RETRIES = RetryPolicy(max_attempts=4, initial_backoff_seconds=1.0, max_backoff_seconds=30.0)
# A third attempt after a timeout seldom helps, and a local server may still compute the first.
_SLOW_ATTEMPTS = 2
# A model may write for a long time once it has begun; its silence is what `timeout_seconds` bounds.
_TOTAL_TIMEOUTS = 10
_MAX_ANSWER_BYTES = 64 * 1024 * 1024
_LONGEST_REFUSAL = 20_000
_TOO_LONG = (
    "context_length",
    "context length",
    "context size",
    "context window",
    "prompt is too long",
    "token count",
)


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
        max_output_tokens: int | None = 4096,
        temperature: float | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        remember_secrets((api_key,))
        self._format = FORMATS[provider]
        self._provider = provider
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._max_output_tokens = max_output_tokens
        self._temperature = temperature
        self._pause = pause
        self._base_url = (url or self._format.usual_url).rstrip("/")
        limits = FetchLimits(
            _TOTAL_TIMEOUTS * timeout_seconds, _MAX_ANSWER_BYTES, read_seconds=timeout_seconds
        )
        self._fetcher = Fetcher(limits, headers=self._format.headers(api_key))

    async def ask(
        self, instructions: str, material: str, schema: Mapping[str, Any], schema_name: str
    ) -> ModelAnswer | UnusableAnswer:
        """The model's answer; retries with backoff while busy, then raises LanguageModelError."""
        return read_answer(
            await self._send(instructions, material, AnswerSchema(schema_name, schema))
        )

    async def write(self, instructions: str, material: str) -> TextAnswer | UnusableAnswer:
        """The plain text that the model wrote, or why it is unusable. Raises as `ask` does."""
        return read_text(await self._send(instructions, material, None))

    async def _send(
        self, instructions: str, material: str, answer: AnswerSchema | None
    ) -> ModelReply:
        request = ModelRequest(
            self._model,
            instructions,
            material,
            answer,
            self._max_output_tokens,
            self._temperature,
        )
        attempt = 0
        while True:
            try:
                return await self._send_once(request)
            except ShapeRefusedError:
                if self._format.simpler is None:
                    raise
                # From now on: this server knows no other way.
                self._format = self._format.simpler
            except LanguageModelError as error:
                attempt += 1
                if not error.is_retryable or attempt >= (error.attempts or RETRIES.max_attempts):
                    raise
                await self._pause(RETRIES.backoff_seconds(attempt, error.retry_after_seconds))

    async def close(self) -> None:
        await self._fetcher.close()

    async def _send_once(self, request: ModelRequest) -> ModelReply:
        try:
            response = await self._fetcher.post_json(
                self._base_url + self._format.path(request.model), self._format.body(request)
            )
        except FetchTimeoutError as error:
            raise LanguageModelError(
                f"{self._provider} did not answer within {self._timeout_seconds:g} seconds: a "
                f"slow model needs more, set model.timeout_seconds",
                is_retryable=True,
                attempts=_SLOW_ATTEMPTS,
            ) from error
        except FetchError as error:
            raise LanguageModelError(
                f"{self._provider} cannot be reached: {error}", is_retryable=True
            ) from error
        if response.status != 200:
            raise self._refusal(response)
        try:
            return self._format.read(json.loads(mask_known_secrets(response.text)))
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise LanguageModelError(
                f"{self._provider} answered in a form that cannot be read", is_retryable=True
            ) from error

    def _refusal(self, response: HttpAnswer) -> LanguageModelError:
        # Masked before it is cut: of a key that is cut in two, one half would remain.
        reason = _reason(mask_secrets(response.text[:_LONGEST_REFUSAL]))
        message = f"{self._provider} answered {response.status}: {reason}"
        # Some servers answer 500 to a request they do not understand.
        if "response_format" in response.text and self._format.simpler is not None:
            return ShapeRefusedError(message, status=response.status)
        if response.status < 500 and any(words in response.text.lower() for words in _TOO_LONG):
            return LanguageModelError(
                f"{message} (set model.context_tokens to the model's window, and less is shown to "
                f"it)",
                status=response.status,
            )
        return LanguageModelError(
            message,
            status=response.status,
            is_retryable=response.status in _BUSY,
            retry_after_seconds=parse_retry_after(response.headers.get("retry-after"), time.time()),
        )


def _reason(text: str) -> str:
    try:
        error = json.loads(text).get("error", {})
    except (ValueError, AttributeError):
        return text[:200]
    return str(error.get("message", error) if isinstance(error, dict) else error)[:200]
