"""A language model of any OpenAI-compatible address as the writer of paper summaries."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Self
from urllib.parse import urlsplit

from carrel.core.errors import CarrelError, NotConfiguredError, UnavailableError
from carrel.rooms.papers.building.models import ModelText
from carrel.services.language_models.answers import UnusableAnswer
from carrel.services.language_models.client import ModelClient
from carrel.services.language_models.errors import LanguageModelError

_REFUSED_KEY = frozenset({401, 403})


class SummaryWriter:
    """Plain text from one model; `provider` is the host name shown in the corpus."""

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None,
        *,
        timeout_seconds: float = 300.0,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = model
        self.provider = urlsplit(base_url).hostname or base_url
        self._client = ModelClient(
            "openai",
            model,
            url=base_url,
            api_key=api_key or "",
            timeout_seconds=timeout_seconds,
            max_output_tokens=None,
            temperature=0,
            pause=pause,
        )

    async def write(self, instructions: str, text: str) -> ModelText:
        try:
            answer = await self._client.write(instructions, text)
        except LanguageModelError as error:
            raise self._translate(error) from error
        if isinstance(answer, UnusableAnswer):
            raise UnavailableError(
                f"The model's answer {answer.reason}.",
                next_step="Try again, or choose a model that may write more.",
            )
        return ModelText(answer.text, answer.input_tokens, answer.output_tokens)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    def _translate(self, error: LanguageModelError) -> CarrelError:
        if error.status in _REFUSED_KEY:
            return NotConfiguredError(
                f"{self.provider} refused the key.",
                next_step="Set CARREL_MODEL_API_KEY to a key that it accepts.",
            )
        if error.status is None:
            message = f"The model at {self.provider} gave no answer: {error.message}."
        else:
            message = f"The model at {self.provider} answered with status {error.status}."
        if error.is_retryable:
            return UnavailableError(
                message, next_step="Try again later; what was written so far is kept."
            )
        return CarrelError(message, next_step="Check the model's name and the address.")
