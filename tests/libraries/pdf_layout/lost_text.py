"""Finds lines of pages that are neither in the Markdown nor left out for a stated reason."""

from __future__ import annotations

import re
from collections import defaultdict

from carrel.libraries.pdf_layout.content import Line, PdfContent
from carrel.libraries.pdf_layout.heading_words import squash
from carrel.libraries.pdf_layout.structure import DocumentStructure

_PAGE_MARK = re.compile(r"<!-- page \d+ -->")
_WORD_END = re.compile(r"[\s。！？]+")


def find_lost_lines(content: PdfContent, structure: DocumentStructure) -> list[Line]:
    """The lines of which a word is nowhere; a word found elsewhere in the document counts."""
    text = squash(_PAGE_MARK.sub(" ", structure.markdown))
    known = {id(each.line) for each in structure.left_out}
    stated: dict[int, str] = defaultdict(str)
    for each in structure.left_out:
        stated[each.line.page] += squash(each.line.text) + " "
    lost: list[Line] = []
    for page in content.pages:
        for line in page.lines:
            if id(line) in known or squash(line.text) in text:
                continue
            words = [squash(word) for word in _WORD_END.split(line.text)]
            # A line across the gutter may have been cut in two, one of which was left out.
            if not all(word in text or word in stated[page.number] for word in words):
                lost.append(line)
    return lost
