"""Escapes text for generated Markdown pages: no live HTML, no remote images, no foreign links.

Pages of a project contain titles and sentences of papers and the output of models; a Markdown
viewer must not load or run anything in them.
"""

from __future__ import annotations

import re
from typing import Any

from carrel.libraries.text.control_characters import remove_controls

# Markup of titles, as publishers and CSL-JSON have it: the words stay, the tags go.
_TITLE_MARKUP = re.compile(
    r"</?(?:i|em|b|strong|u|s|sub|sup|sc|small|span|tt|p|br|italic|bold|jats:\w{1,20}|mml:\w{1,20})(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
# What HTML and Markdown parse as the start of a tag, comment, instruction or autolink.
_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!+\[")
# A link or the definition of one needs the two characters side by side.
_LINK = re.compile(r"\](?=[(:\[])")


def inert_text(text: str) -> str:
    """The same words, with nothing that a Markdown or HTML viewer would load, run or link to."""
    text = _TITLE_MARKUP.sub("", remove_controls(text))
    # Taking a tag out may put the halves of another together.
    text = _TAG_START.sub("&lt;", text)
    return _LINK.sub("] ", _IMAGE.sub("[", text))


def inert_values(value: Any) -> Any:
    """A JSON value with every text escaped; keys are not changed."""
    match value:
        case str():
            return inert_text(value)
        case dict():
            return {key: inert_values(item) for key, item in value.items()}
        case list() | tuple():
            return [inert_values(item) for item in value]
        case _:
            return value
