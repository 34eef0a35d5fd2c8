"""A language model behind any address that speaks OpenAI's chat format."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

from carrel.core.errors import CarrelError, NotConfiguredError, UnavailableError

_TRIES = 4
_LONGEST_PAUSE_SECONDS = 30.0
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What the model wrote, and the tokens it took and gave."""

    text: str
    tokens_in: int
    tokens_out: int


class OpenAiCompatibleModel:
    """Waits and tries again when the address is busy; everything else that goes wrong is an error
    that says what to do.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None,
        *,
        timeout_seconds: float = 300.0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = model
        self.provider = urlsplit(base_url).hostname or base_url
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx2.Client(
            base_url=base_url.rstrip("/"), headers=headers, timeout=timeout_seconds
        )
        self._pause = pause

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def write(self, instructions: str, text: str) -> ChatAnswer:
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
        body = {"model": self.name, "messages": messages, "temperature": 0}
        for attempt in range(_TRIES):
            try:
                response = self._client.post("/chat/completions", json=body)
            except httpx2.HTTPError as error:
                failure = (
                    f"The model at {self.provider} could not be reached: {type(error).__name__}."
                )
            else:
                if response.status_code == httpx2.codes.OK:
                    return _answer(response)
                if response.status_code in {401, 403}:
                    raise NotConfiguredError(
                        f"{self.provider} refused the key.",
                        next_step="Set CARREL_MODEL_API_KEY to a key that it accepts.",
                    )
                failure = (
                    f"The model at {self.provider} answered with status {response.status_code}."
                )
                if response.status_code < 500 and response.status_code != _TOO_MANY:
                    raise CarrelError(failure, next_step="Check the model's name and the address.")
            if attempt + 1 < _TRIES:
                self._pause(min(_LONGEST_PAUSE_SECONDS, 2.0**attempt))
        raise UnavailableError(
            failure, next_step="Try again later; what was written so far is kept."
        )


def _answer(response: httpx2.Response) -> ChatAnswer:
    try:
        content: Any = response.json()
        text = content["choices"][0]["message"]["content"]
        usage = content.get("usage") or {}
        is_cut = content["choices"][0].get("finish_reason") == "length"
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise UnavailableError(
            "The model's answer is not in the chat format.", next_step="Check the address."
        ) from error
    if not isinstance(text, str) or not text.strip():
        raise UnavailableError(
            "The model answered with nothing.", next_step="Try again, or choose another model."
        )
    if is_cut:
        raise UnavailableError(
            "The model stopped before its answer was complete.",
            next_step="Choose a model that may write more.",
        )
    return ChatAnswer(
        text, int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    )
