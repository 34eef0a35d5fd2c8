"""What can go wrong with a language model."""

from __future__ import annotations


class LanguageModelError(Exception):
    """The model could not be reached, refused, or answered in a form that cannot be used. Never names the key."""

    def __init__(self, message: str, *, is_retryable: bool = False, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.is_retryable = is_retryable
        self.retry_after_seconds = retry_after_seconds
