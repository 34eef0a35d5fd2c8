"""Language models behind one client: OpenAI-compatible, Anthropic and Google, each asked for an
object of a given shape.
"""

from carrel.services.language_models.answers import ModelAnswer, UnusableAnswer
from carrel.services.language_models.client import ModelClient
from carrel.services.language_models.errors import LanguageModelError

__all__ = ["LanguageModelError", "ModelAnswer", "ModelClient", "UnusableAnswer"]
