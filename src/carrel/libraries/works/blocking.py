"""Pairs of works that are worth comparing: those that share a blocking key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from carrel.libraries.works import linkage_weights as fitted
from carrel.libraries.works.block_lists import NO_BLOCK_LIST, BlockList
from carrel.libraries.works.comparison import Comparison, compare
from carrel.libraries.works.work import Work


def compare_blocked(
    works: Sequence[Work],
    block_list: BlockList = NO_BLOCK_LIST,
    cluster_of: Sequence[int] | None = None,
) -> Iterator[tuple[int, int, Comparison]]:
    """Every pair that shares a blocking key, compared once; not those of one cluster already."""
    for one, other in list_blocked_pairs(works):
        if cluster_of is None or cluster_of[one] != cluster_of[other]:
            yield one, other, compare(works[one], works[other], block_list)


def list_blocked_pairs(works: Sequence[Work]) -> list[tuple[int, int]]:
    """The positions of works that share a blocking key; crowded blocks are passed over."""
    blocks: dict[str, list[int]] = defaultdict(list)
    for at, work in enumerate(works):
        for block in work.blocks:
            blocks[block].append(at)
    pairs = {
        (one, other)
        for members in blocks.values()
        if 1 < len(members) <= fitted.MAX_BLOCK_WORKS
        for place, one in enumerate(members)
        for other in members[place + 1 :]
    }
    return sorted(pairs)
