"""Index terms: folded words, Chinese, Japanese and Korean in pairs of characters; name trigrams."""

from __future__ import annotations

import re
import unicodedata

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import CJK, WORD_MARKS

# With Han beyond the basic plane, which the snapshots of other tools do not know.
_UNSPACED = f"{CJK}\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[{WORD_MARKS}])*")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
MAX_TERM_CHARACTERS = 64


def index_terms(text: str) -> list[str]:
    """The folded words in order; a run of Japanese as its pairs: 知識管理 is 知識, 識管, 管理."""
    found: list[str] = []
    for run in _RUN.findall(fold_text(text)):
        if not _IS_UNSPACED.match(run):
            found.append(run[:MAX_TERM_CHARACTERS])
        elif len(run) == 1:
            found.append(run)
        else:
            found.extend(run[at : at + 2] for at in range(len(run) - 1))
    return found


def index_terms_with_offsets(text: str) -> list[tuple[str, int, int]]:
    """The terms with where they stand in the text as it was given."""
    found: list[tuple[str, int, int]] = []
    for match in _RUN.finditer(text):
        terms = index_terms(match[0])
        if len(terms) > 1 and _IS_UNSPACED.match(match[0]) and len(terms) == len(match[0]) - 1:
            found.extend(
                (term, match.start() + at, match.start() + at + 2) for at, term in enumerate(terms)
            )
        else:
            found.extend((term, match.start(), match.end()) for term in terms)
    return found


def name_trigrams(text: str) -> frozenset[str]:
    """The three-character pieces of a folded name with its ends; alike names share many."""
    marked = f" {fold_text(text)} "
    return frozenset(marked[at : at + 3] for at in range(max(1, len(marked) - 2)))


def case_key(text: str) -> str:
    """One form for spellings that differ in case, width or spacing only.

    Stored ids and digests depend on it, so it never changes; to compare or search use `fold_text`.
    """
    return " ".join(
        unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split()
    )
