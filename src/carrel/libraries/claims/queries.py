"""Turn a statement into searches, and several answers into one order of papers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from carrel.libraries.claims.records import Statement
from carrel.libraries.claims.word_lists import load_word_lists, stem_word
from carrel.libraries.text.folding import fold_text

# Papers that are asked for per query, and read per statement.
PAPERS_PER_QUERY = 30
PAPERS_READ = 5
MAX_QUERY_CHARACTERS = 500
# The second query keeps at least this many words; with fewer it would ask for anything.
_LEAST_WORDS = 3
# Reciprocal rank fusion; the second query counts half.
FUSION_OFFSET = 10
_LATER_QUERY_WEIGHT = 0.5
# No word of a statement is an operator of the query language: quotes, brackets, colons, minus.
_WORD = re.compile(r"[^\W_]+(?:[-.'][^\W_]+)*")


def write_queries(statement: Statement) -> tuple[str, ...]:
    """The searches for a statement: its words, then its words without what joins the things."""
    words = [word.lower() for word in _WORD.findall(statement.text)]
    lists = load_word_lists()
    general = lists.general | lists.linking | lists.negations | lists.hedges
    things = [word for word in words if stem_word(fold_text(word)) not in general]
    queries = [words, things] if len(things) >= _LEAST_WORDS else [words]
    found = (" ".join(query)[:MAX_QUERY_CHARACTERS].strip() for query in queries)
    return tuple(dict.fromkeys(query for query in found if query))


def fuse_rankings(rankings: Sequence[Sequence[str]]) -> list[str]:
    """One order of the ids that several searches found, the best first."""
    scores: dict[str, float] = {}
    for number, ranking in enumerate(rankings):
        weight = 1.0 if number == 0 else _LATER_QUERY_WEIGHT
        for place, found in enumerate(ranking, 1):
            scores[found] = scores.get(found, 0.0) + weight / (FUSION_OFFSET + place)
    return sorted(scores, key=lambda each: -scores[each])
