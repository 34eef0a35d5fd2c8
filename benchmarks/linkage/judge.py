"""Pairwise precision and recall of record linkage, beside the rules of the facts sheet.

    python -m benchmarks.linkage.judge --data FOLDER [--seeds 1 2 3] [--half tuning|held-out]

FOLDER is the shared data; `make_linkage_set.py` is taken from the folder `tools` beside it.
"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.linkage.labelled_sets import (
    LabelledWork,
    is_for_tuning,
    label_pdfs,
    label_sources,
    read_gold_rows,
    read_source_set,
)
from carrel.libraries.works.linkage import cluster
from carrel.libraries.works.work import Work

AIM_PRECISION = 0.995
AIM_RECALL = 0.95


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Pairs that were joined, that belong together, and that are both."""

    joined: int
    true: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.joined if self.joined else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.true if self.true else 1.0

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts(
            self.joined + other.joined, self.true + other.true, self.right + other.right
        )


def count_pairs(groups: Iterable[Sequence[int]], truths: Sequence[str]) -> PairCounts:
    """Compare groups of positions with the true names of the works at these positions."""
    members: dict[str, list[int]] = defaultdict(list)
    for at, truth in enumerate(truths):
        members[truth].append(at)
    joined = {pair for group in groups for pair in itertools.combinations(sorted(group), 2)}
    true = {pair for group in members.values() for pair in itertools.combinations(group, 2)}
    return PairCounts(len(joined), len(true), len(joined & true))


def group_by_key(works: Sequence[Work], key: Callable[[Work], Hashable]) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for at, work in enumerate(works):
        groups[key(work)].append(at)
    return list(groups.values())


def _fingerprint(work: Work) -> Hashable:
    """Carrel's rule before this one: title, full names, venue and year."""
    return (work.title_key, tuple(sorted(name.lower() for name in work.people)), work.venue_key,
            work.year)  # fmt: skip


_RULES: dict[str, Callable[[Sequence[Work]], Iterable[Sequence[int]]]] = {
    "title equal": lambda works: group_by_key(works, lambda work: work.title_key),
    "title and year equal": lambda works: group_by_key(
        works, lambda work: (work.title_key, work.year)
    ),
    "title, full names, venue, year (before)": lambda works: group_by_key(works, _fingerprint),
    "linkage": lambda works: cluster(works).groups,
}


def _keep_half(found: list[LabelledWork], half: str | None) -> list[LabelledWork]:
    return [
        each for each in found if half is None or is_for_tuning(each.truth) == (half == "tuning")
    ]


def _judge(name: str, sets: Sequence[list[LabelledWork]], rules: Iterable[str]) -> bool:
    is_met = True
    for rule in rules:
        total = PairCounts(0, 0, 0)
        for labelled in sets:
            works = [each.work for each in labelled]
            total += count_pairs(_RULES[rule](works), [each.truth for each in labelled])
        print(
            f"{name:<34} {rule:<42} precision {total.precision:.4f}  recall {total.recall:.4f}  "
            f"({total.joined} joined, {total.true} true pairs)",
            flush=True,
        )
        if rule == "linkage":
            is_met = total.precision >= AIM_PRECISION and total.recall >= AIM_RECALL
    return is_met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13, 14])
    parser.add_argument("--half", choices=["tuning", "held-out"])
    options = parser.parse_args()
    records, rows = read_source_set(options.data), read_gold_rows(options.data)
    half = options.half

    def sources(hidden_share: float, seeds: Sequence[int]) -> list[list[LabelledWork]]:
        return [_keep_half(label_sources(records, hidden_share, seed), half) for seed in seeds]

    _judge("sources, all DOIs hidden", sources(1.0, options.seeds[:1]), _RULES)
    is_met = _judge("sources, half the DOIs hidden", sources(0.5, options.seeds), ["linkage"])
    damaged = [_keep_half(label_pdfs(rows, seed), half) for seed in options.seeds]
    is_met &= _judge("PDF values damaged, noisy .bib", damaged, _RULES)
    print(f"aim: precision {AIM_PRECISION}, recall {AIM_RECALL}: {'met' if is_met else 'missed'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
