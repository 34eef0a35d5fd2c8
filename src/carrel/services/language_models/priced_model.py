"""A language model with its context window and prices, behind the research room's port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.rooms.research.errors import ModelUnavailableError
from carrel.rooms.research.ports import Completion, UnusableCompletion, Window
from carrel.services.language_models import LanguageModelError, ModelAnswer, ModelClient

_TOKENS_PER_PRICE = 1_000_000


class PricedModel:
    """One model; prices are per million tokens."""

    def __init__(
        self,
        provider: str,
        name: str,
        *,
        url: str | None,
        api_key: str,
        timeout_seconds: float,
        temperature: float | None,
        context_tokens: int | None,
        max_output_tokens: int,
        input_price: float,
        output_price: float,
    ) -> None:
        answer = max_output_tokens
        if context_tokens is not None:
            # Prompt and answer share the context: an answer gets half of it at most.
            answer = min(answer, context_tokens // 2)
        self.name = name
        self.window = Window(answer, None if context_tokens is None else context_tokens - answer)
        self._input_price = input_price
        self._output_price = output_price
        self._client = ModelClient(
            provider,
            name,
            url=url,
            api_key=api_key,
            timeout_seconds=timeout_seconds,
            max_output_tokens=answer,
            temperature=temperature,
        )

    async def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any], schema_name: str
    ) -> Completion | UnusableCompletion:
        try:
            answer = await self._client.ask(instructions, material, schema, schema_name)
        except LanguageModelError as error:
            raise ModelUnavailableError(
                error.message, next_step="Look at the [model] settings, then resume_research."
            ) from error
        tokens = (answer.input_tokens, answer.output_tokens)
        price = tokens[0] * self._input_price + tokens[1] * self._output_price
        cost = price / _TOKENS_PER_PRICE
        if isinstance(answer, ModelAnswer):
            return Completion(answer.answer, *tokens, cost)
        return UnusableCompletion(answer.text, answer.reason, *tokens, cost)

    async def close(self) -> None:
        await self._client.close()
