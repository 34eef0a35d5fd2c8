"""Whether a text without a title is prose at all, in any script."""

from __future__ import annotations

import re

# Chosen by hand: two sentences of four words are the least that a reader would call a text; in
# scripts without spaces a sentence of eight letters is as long.
_LEAST_SENTENCES = 2
_LEAST_WORDS = 4
_LEAST_UNSPACED_LETTERS = 8
# Thai and Lao write no mark at the end of a sentence.
_LEAST_UNMARKED_LETTERS = 200
_SEARCHED_CHARACTERS = 64 * 1024
_END = re.compile(
    r"[.!?\u061f\u06d4\u0589](?=[\"'\u201d\u2019)\]]?(?:\s|\Z))"
    r"|[\u3002\uff01\uff1f\u0964\u1362]"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def is_prose(text: str) -> bool:
    """Whether there are at least two sentences in the first part of a text."""
    part = text[:_SEARCHED_CHARACTERS]
    # What stands after the last mark is no whole sentence.
    sentences = _END.split(part)[:-1]
    count = sum(
        len(_WORD.findall(each)) >= _LEAST_WORDS
        or len(_UNSPACED.findall(each)) >= _LEAST_UNSPACED_LETTERS
        for each in sentences
    )
    return count >= _LEAST_SENTENCES or len(_UNSPACED.findall(part)) >= _LEAST_UNMARKED_LETTERS
