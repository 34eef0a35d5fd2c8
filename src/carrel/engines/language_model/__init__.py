"""Language models behind one client: OpenAI-compatible, Anthropic and Google, each asked for an object of a given shape."""

from carrel.engines.language_model.client import ModelAnswer, ModelClient
from carrel.engines.language_model.errors import LanguageModelError

__all__ = ["LanguageModelError", "ModelAnswer", "ModelClient"]
