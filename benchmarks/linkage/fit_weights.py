"""Fits the weights of record linkage on one half of the labelled sets and prints them.

    python -m benchmarks.linkage.fit_weights --data FOLDER [--seeds 1 2 3]

Weights are those of Fellegi and Sunter: the binary logarithm of how much more often a level of
agreement is found in true pairs than in false ones, among pairs that share a blocking key. Works
are parted into halves by a hash of their true name; the judge reports the other half with
`--half held-out`.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from pathlib import Path

from benchmarks.linkage.labelled_sets import (
    LabelledWork,
    is_for_tuning,
    label_pdfs,
    label_sources,
    read_gold_rows,
    read_source_set,
)
from carrel.libraries.works.blocking import list_blocked_pairs
from carrel.libraries.works.comparison import measure_agreement
from carrel.libraries.works.linkage_weights import WEIGHTS

# Added to every count, so that a level which one side never shows has a finite weight.
_SMOOTHING = 1.0


def count_levels(
    labelled: list[LabelledWork], true: Counter[tuple[str, str]], false: Counter[tuple[str, str]]
) -> None:
    works = [each.work for each in labelled]
    for one, other in list_blocked_pairs(works):
        agreement = measure_agreement(works[one], works[other])
        is_true = labelled[one].truth == labelled[other].truth
        (true if is_true else false).update(agreement.levels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    records, rows = read_source_set(options.data), read_gold_rows(options.data)
    true: Counter[tuple[str, str]] = Counter()
    false: Counter[tuple[str, str]] = Counter()
    sets = [label_sources(records, 1.0, options.seeds[0])]
    sets += [label_pdfs(rows, seed) for seed in options.seeds]
    for labelled in sets:
        count_levels([each for each in labelled if is_for_tuning(each.truth)], true, false)
    fields = {field for field, _ in WEIGHTS}
    totals = {
        kind: {field: sum(n for (name, _), n in counts.items() if name == field)
               for field in fields}
        for kind, counts in (("true", true), ("false", false))
    }  # fmt: skip
    for field, level in WEIGHTS:
        share = (true[field, level] + _SMOOTHING) / (totals["true"][field] + _SMOOTHING * 4)
        other = (false[field, level] + _SMOOTHING) / (totals["false"][field] + _SMOOTHING * 4)
        print(
            f"{field:<12} {level:<28} weight {math.log2(share / other):+6.2f}   used "
            f"{WEIGHTS[field, level]:+6.2f}   ({true[field, level]} true, "
            f"{false[field, level]} false)"
        )


if __name__ == "__main__":
    main()
