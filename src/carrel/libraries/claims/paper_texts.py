"""The sentences of a paper's text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carrel.libraries.claims.records import PaperText
from carrel.libraries.text.sentences import sentence_ends

_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n|\f")


def read_text(paper_id: str, title: str, rank: int, text: str) -> PaperText:
    """A paper from its abstract or full text."""
    return PaperText(paper_id, title, rank, tuple(_sentences(text)))


def _sentences(text: str) -> Iterator[str]:
    at = 0
    for border in [*(found.end() for found in _PARAGRAPH.finditer(text)), len(text)]:
        for end in sentence_ends(text, at, border):
            sentence = " ".join(text[at:end].split())
            at = end
            if sentence:
                yield sentence
