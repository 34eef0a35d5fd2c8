"""Mends words that line breaking cut: by the form that the document uses elsewhere."""

from __future__ import annotations

import re
from collections import Counter

from carrel.libraries.pdf_layout.content import PdfContent

_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_LAST_PART = re.compile(r"([^\W\d_]+(?:[-\u2010][^\W\d_]+){0,5})[-\u2010\u00ad]$")
_FIRST_PART = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+){0,5}")
# A word is longer than this in no language; longer runs are not looked at.
_LONGEST_WORD = 80


class DocumentWords:
    """How often each word stands whole in a document, hyphenated forms included."""

    def __init__(self, content: PdfContent) -> None:
        self._counts: Counter[str] = Counter()
        for page in content.pages:
            is_cut = False
            for line in page.lines:
                words = [each.casefold() for each in _WORD.findall(line.text)]
                # Halves of cut words are no words.
                first = 1 if is_cut else 0
                is_cut = line.has_hyphen
                self._counts.update(words[first : len(words) - 1 if is_cut else None])

    def join(self, before: str, after: str) -> str:
        """Two stretches of text, the first of which ends with a hyphen of line breaking."""
        tail = before[-_LONGEST_WORD:]
        ends = _LAST_PART.search(tail)
        begins = _FIRST_PART.match(after[:_LONGEST_WORD])
        bare = before[:-1]
        if ends is None or begins is None:
            return (
                before + after if ends is None and not before.endswith("\u00ad") else bare + after
            )
        if self._is_one_word(ends[1], begins[0]):
            return bare + after
        return bare + "-" + after

    def _is_one_word(self, first: str, second: str) -> bool:
        joined = self._counts[(first + second).casefold()]
        hyphened = self._counts[f"{first}-{second}".casefold()]
        if joined or hyphened:
            return joined >= hyphened
        return not (second[:1].isupper() or "-" in first)


def join_rows(texts: list[str], has_hyphen: list[bool], words: DocumentWords) -> str:
    """The text of rows that follow one another, cut words mended."""
    joined = ""
    for at, text in enumerate(texts):
        bare = text.strip()
        if not joined:
            joined = bare
        elif has_hyphen[at - 1] and joined.endswith(("-", "\u2010", "\u00ad")):
            joined = words.join(joined, bare)
        elif _needs_no_space(joined[-2:], bare[:1]):
            joined += bare
        else:
            joined += " " + bare
    return joined


def _needs_no_space(before: str, after: str) -> bool:
    """Between characters of scripts without spaces, and behind a dash that stands between words."""
    if before.endswith("–"):
        return before[:1].isalpha() and after.isalpha()
    return _is_dense(before[-1:]) and _is_dense(after)


def _is_dense(sign: str) -> bool:
    """Whether a character is of a script without spaces."""
    return "\u3000" <= sign <= "\u9fff" or "\uff00" <= sign <= "\uffef"
