"""What can go wrong with a language model."""

from __future__ import annotations

from carrel.core.secrets import mask_secrets


class LanguageModelError(Exception):
    """The model was not reached, refused, or answered outside its format. Never names the key."""

    def __init__(
        self,
        message: str,
        *,
        is_retryable: bool = False,
        retry_after_seconds: float | None = None,
        attempts: int | None = None,
        status: int | None = None,
    ) -> None:
        self.message = mask_secrets(message)
        super().__init__(self.message)
        self.is_retryable = is_retryable
        self.retry_after_seconds = retry_after_seconds
        self.attempts = attempts
        self.status = status


class ShapeRefusedError(LanguageModelError):
    """The server does not know the way in which an answer of a given shape was asked for."""
