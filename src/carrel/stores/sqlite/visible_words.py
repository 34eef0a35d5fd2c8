"""Words marked with the group that may read them, so that ranking counts what a reader may see.

Every word stands in FTS5 behind the number of its group: `12xmagnesium`. A search asks for the
words of its reader's groups and reads no posting of others; counts and lengths go by group, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

# BM25 as Lucene has it.
K1 = 1.2
B = 0.75


def mark_words(group: int, words: Iterable[str]) -> str:
    """Words as they are stored for one group, each behind the group's number."""
    return " ".join(f"{group}x{word}" for word in words)


def terms_of(groups: Sequence[int], word: str) -> list[str]:
    """A word as each of the groups has it."""
    return [f"{group}x{word}" for group in groups]


def phrase_query(groups: Sequence[int], phrases: Sequence[Sequence[str]]) -> str:
    """FTS5 for documents of one of the groups that hold every phrase."""
    return " OR ".join(
        "(" + " AND ".join(f'"{mark_words(group, phrase)}"' for phrase in phrases) + ")"
        for group in groups
    )


def inverse_frequency(documents: int, holding: int) -> float:
    """Inverse document frequency of a word over the visible documents."""
    return math.log(1.0 + (max(documents - holding, 0) + 0.5) / (holding + 0.5))


def saturation(count: str, length: str, average: float) -> str:
    """SQL for BM25 term saturation: `count` occurrences in `length` words."""
    return (
        f"({count} * {K1 + 1.0} / ({count} + {K1} * ({1.0 - B} + {B} * {length} / "
        f"{max(average, 1.0)!r})))"
    )
