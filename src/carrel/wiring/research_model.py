"""The configured language model behind the research room's port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.rooms.research.errors import ModelUnavailableError
from carrel.rooms.research.ports import Completion, UnusableCompletion, Window
from carrel.services.language_models import LanguageModelError, ModelAnswer, ModelClient
from carrel.settings import ModelSettings

_PER = 1_000_000


class ConfiguredModel:
    """One model; prices are per million tokens."""

    def __init__(self, chosen: ModelSettings) -> None:
        self._chosen = chosen
        window = chosen.context_tokens
        # What is said and what is answered share the window: an answer gets half of it at most.
        answer = (
            chosen.max_output_tokens
            if window is None
            else min(chosen.max_output_tokens, window // 2)
        )
        self._window = Window(answer, None if window is None else window - answer)
        self._client = ModelClient(
            str(chosen.provider),
            chosen.name,
            url=chosen.url,
            api_key=chosen.api_key,
            timeout_seconds=chosen.timeout_seconds,
            max_output_tokens=answer,
            temperature=chosen.temperature,
        )

    @property
    def name(self) -> str:
        return self._chosen.name

    @property
    def window(self) -> Window:
        return self._window

    async def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any], schema_name: str
    ) -> Completion | UnusableCompletion:
        try:
            told = await self._client.ask(instructions, material, schema, schema_name)
        except LanguageModelError as error:
            raise ModelUnavailableError(
                error.message, next_step="Look at the [model] settings, then resume_research."
            ) from error
        cost = (
            told.input_tokens * self._chosen.input_price
            + told.output_tokens * self._chosen.output_price
        ) / _PER
        if isinstance(told, ModelAnswer):
            return Completion(told.answer, told.input_tokens, told.output_tokens, cost)
        return UnusableCompletion(
            told.text, told.reason, told.input_tokens, told.output_tokens, cost
        )

    async def close(self) -> None:
        await self._client.close()
