"""Languages of works as ISO 639-1 codes."""

from __future__ import annotations

from carrel.libraries.bibliography.items import language_code
from carrel.libraries.literature.raw_fields import first_text

_LETTERS = 2
_MAX_CHARACTERS = 40


def read_language(value: object) -> str | None:
    """`en` of `en`, `en-US`, `eng` or `English`; None where it is no language that we know."""
    text = first_text(value)[:_MAX_CHARACTERS]
    code = language_code(text).replace("_", "-").split("-")[0].lower()
    is_code = len(code) == _LETTERS and code.isascii() and code.isalpha()
    return code if is_code else None
