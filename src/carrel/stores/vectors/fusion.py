"""One order from two: papers by their words, and papers by the nearness of their passages."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.stores.search.ranking import RankedPaper, RankedPassage
from carrel.stores.vectors.passages import NearPassage

# Papers of each order that are put together.
WINDOW = 300
# What nearness counts beside words, each divided by its best, and what the vector of the best paper
# adds to that of the question. Chosen on one half of the SciFact claims (split by a hash of their
# ids) and reported on the other; see docs/decisions/0030.
NEARNESS_WEIGHT = 1.2
FEEDBACK_WEIGHT = 0.2


def fuse(by_words: Sequence[RankedPaper], near: Sequence[NearPassage]) -> list[RankedPaper]:
    """The papers of both orders by the sum of their scores, each divided by the best.

    A paper that has none of the words counts as the last of those that have; the passage shown is
    the one its words found, else the nearest.
    """
    if not near:
        return list(by_words)
    best_words = max((paper.score for paper in by_words), default=0.0) or 1.0
    lowest = min((paper.score for paper in by_words), default=0.0)
    best_near = max(near[0].score, 1e-6)
    found = {paper.row: paper for paper in by_words}
    nearness = {passage.row: passage for passage in near}
    rows = [*found, *(passage.row for passage in near[:WINDOW] if passage.row not in found)]
    fused = []
    for row in rows:
        paper, passage = found.get(row), nearness.get(row)
        words = lowest if paper is None else paper.score
        meaning = 0.0 if passage is None else max(passage.score, 0.0)
        score = words / best_words + NEARNESS_WEIGHT * meaning / best_near
        shown = paper.passage if paper is not None else _shown_passage(passage)
        fused.append(RankedPaper(row, score, shown))
    return sorted(fused, key=lambda paper: (-paper.score, paper.row))


def _shown_passage(passage: NearPassage | None) -> int | None:
    return None if passage is None or passage.number < 0 else passage.number


def fuse_passages(
    by_words: Sequence[RankedPassage], near: Sequence[NearPassage]
) -> list[RankedPassage]:
    """The same of passages; vectors of whole papers are none."""
    nearness = {(each.row, each.number): each.score for each in near if each.number >= 0}
    if not nearness:
        return list(by_words)
    best_words = max((each.score for each in by_words), default=0.0) or 1.0
    lowest = min((each.score for each in by_words), default=0.0)
    best_near = max(*nearness.values(), 1e-6)
    words = {(each.row, each.number): each.score for each in by_words}
    least_near = min(nearness.values())
    fused = [
        RankedPassage(
            row,
            number,
            words.get((row, number), lowest) / best_words
            + NEARNESS_WEIGHT * nearness.get((row, number), least_near) / best_near,
        )
        for row, number in dict.fromkeys((*words, *nearness))
    ]
    return sorted(fused, key=lambda each: (-each.score, each.row, each.number))
