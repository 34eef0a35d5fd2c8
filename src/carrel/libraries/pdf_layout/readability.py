"""Tells text that cannot be decoded: fonts that say nothing of the letters they draw."""

from __future__ import annotations

import re

from carrel.libraries.pdf_layout.content import PdfContent

# The most frequent short words of languages in Latin and Cyrillic script.
_COMMON_WORDS = """
the of and to in is a that for we are with as by on be this or can der die und das von zu
ist den mit ein im für nicht le la les des et en un une que est pour dans du el los las y
por con se del es una il di che per non o os do da em um и в не на с что по как это для
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_WORD = re.compile(r"[^\W\d_]+")
# The gold set's texts have 25 to 45 of them among 100 words, scrambled ones below one.
_LEAST_COMMON_SHARE = 0.03
_FEWEST_WORDS = 80
_MOST_WORDS = 5_000
# A document is judged by its words only where this share is in fonts without a name, or damaged.
_SUSPECT_SHARE = 0.5


def is_undecodable(content: PdfContent) -> bool:
    """Whether the text of a document is there but cannot be the text that is printed."""
    pages = [page for page in content.pages if page.lines]
    if not pages:
        return False
    if sum(page.is_damaged for page in pages) > len(pages) / 2:
        return True
    nameless = total = common = words = 0
    for page in pages:
        for line in page.lines:
            for span in line.spans:
                total += len(span.text)
                nameless += len(span.text) if not span.font else 0
            if words < _MOST_WORDS:
                found = [word.casefold() for word in _WORD.findall(line.text)]
                words += len(found)
                common += sum(word in _COMMON for word in found)
    if nameless < _SUSPECT_SHARE * total or words < _FEWEST_WORDS:
        return False
    return common < _LEAST_COMMON_SHARE * words
