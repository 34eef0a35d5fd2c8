"""Extracts of texts with the words of a search marked, as pieces of a page."""

from __future__ import annotations

import re

from carrel.cli.page import Inline, Span
from carrel.libraries.text.snippets import Marker
from carrel.libraries.text.stems import light_stem
from carrel.libraries.text.words import Phrase, split_words

_MARK = re.compile(r"(?<!\\)\*\*")
_ESCAPED = re.compile(r"\\([\\*`<])")
_FIELD = re.compile(r"\b[A-Za-z]+:")


def mark_words(text: str, query: str) -> Inline:
    """The best extract of a text, with the words of the query marked."""
    words = split_words(_FIELD.sub(" ", query))
    marker = Marker([Phrase((word,)) for word in words], light_stem)
    return read_marks(marker.snippet([text]))


def read_marks(snippet: str) -> Inline:
    """A snippet in Markdown, with its matches between double asterisks, as pieces."""
    pieces = [_ESCAPED.sub(r"\1", piece) for piece in _MARK.split(snippet)]
    if len(pieces) % 2 == 0:
        return snippet
    return tuple(
        Span(piece, "mark") if number % 2 else piece for number, piece in enumerate(pieces) if piece
    )
