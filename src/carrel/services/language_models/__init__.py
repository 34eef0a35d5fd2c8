"""One client for language models: OpenAI-compatible, Anthropic and Google."""

from carrel.services.language_models.answers import ModelAnswer, UnusableAnswer
from carrel.services.language_models.client import ModelClient
from carrel.services.language_models.errors import LanguageModelError

__all__ = ["LanguageModelError", "ModelAnswer", "ModelClient", "UnusableAnswer"]
