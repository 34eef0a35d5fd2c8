"""How sure each field of a title page is, by what speaks for it.

Set by judgement at or below the share of right values among those found with the same evidence,
which `make bench-pdf` prints for the gold set. Rules were made on one half of it (packages whose
SHA-256 is even) and mended on the other.
"""

from __future__ import annotations

from carrel.libraries.pdf_layout.author_lines import (
    BEFORE_NAMES,
    NOT_SUPPORTED,
    FoundAuthors,
)
from carrel.libraries.pdf_layout.titles import FoundTitle

CONFIDENCE = {
    "publisher": 0.98,
    "information_title": 0.3,
    "affiliations": 0.7,
    "abstract": 0.9,
    "keywords": 0.85,
    "venue": 0.8,
    "volume": 0.85,
    "pages": 0.85,
    "published_date": 0.95,
    "stamp_date": 0.8,
    "printed_date": 0.8,
    "doi": 0.95,
    "arxiv_id": 0.95,
    "language": 0.9,
}
_TITLE = 0.9
_TITLE_CONFIRMED = 0.98
_TITLE_PLAIN = 0.6
_TITLE_WITH_RIVAL = 0.7
# Below what is cited: pages cut out of a longer work begin with a section's heading.
_TITLE_LIKE_HEADING = 0.4
_AUTHORS = 0.9
_AUTHORS_CONFIRMED = 0.97
_AUTHORS_DOUBTED = 0.55


def rate_title(title: FoundTitle) -> float:
    """Confidence of a title by its size, rivals and whether it is stated or repeated elsewhere."""
    if title.is_heading and not title.is_stated:
        return _TITLE_LIKE_HEADING
    if title.is_stated or title.is_repeated:
        return _TITLE_CONFIRMED
    if title.has_rival:
        return _TITLE_WITH_RIVAL
    return _TITLE if title.is_larger else _TITLE_PLAIN


def rate_authors(authors: FoundAuthors, title: FoundTitle) -> float | None:
    """Confidence of a list of authors; None where it is too doubtful to be shown."""
    if authors.is_confirmed:
        return _AUTHORS_CONFIRMED
    if BEFORE_NAMES in authors.doubts or NOT_SUPPORTED in authors.doubts:
        return None
    if len(authors.doubts) > 1 or (authors.doubts and rate_title(title) < _TITLE):
        return None
    return _AUTHORS_DOUBTED if authors.doubts else _AUTHORS
