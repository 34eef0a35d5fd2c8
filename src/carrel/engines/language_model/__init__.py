"""Language models behind one client: OpenAI-compatible, Anthropic and Google, each asked for an
object of a given shape.
"""

from carrel.engines.language_model.answers import ModelAnswer, UnusableAnswer
from carrel.engines.language_model.client import ModelClient
from carrel.engines.language_model.errors import LanguageModelError

__all__ = ["LanguageModelError", "ModelAnswer", "ModelClient", "UnusableAnswer"]
