"""Turn a statement into searches, and several answers into one order of papers."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.libraries.claims.records import Statement

# Papers that are asked for per query, and read per statement.
PAPERS_PER_QUERY = 20
PAPERS_READ = 5
# Reciprocal rank fusion.
FUSION_OFFSET = 10


def write_queries(statement: Statement) -> tuple[str, ...]:
    """The searches for a statement, the one that matters most first."""
    return (statement.text,)


def fuse_rankings(rankings: Sequence[Sequence[str]]) -> list[str]:
    """One order of the ids that several searches found, the best first."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for place, found in enumerate(ranking, 1):
            scores[found] = scores.get(found, 0.0) + 1 / (FUSION_OFFSET + place)
    return sorted(scores, key=lambda each: -scores[each])
