"""The judge of record linkage counts right, and its aims are met on the shared data."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.linkage.judge import AIM_PRECISION, AIM_RECALL, count_pairs
from benchmarks.linkage.labelled_sets import (
    is_for_tuning,
    label_pdfs,
    label_sources,
    read_gold_rows,
    read_source_set,
)
from carrel.libraries.works.linkage import cluster

pytestmark = pytest.mark.promise("P15")

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def test_pairs_are_counted_by_what_truly_belongs_together() -> None:
    counts = count_pairs([(0, 1, 2), (3,)], ["a", "a", "b", "b"])
    assert (counts.joined, counts.true, counts.right) == (3, 2, 1)
    assert (counts.precision, counts.recall) == (1 / 3, 1 / 2)


def test_the_aims_are_met_on_works_that_nothing_was_tuned_on() -> None:
    if not (DATA / "papers" / "elife_metadata.jsonl.xz").exists():
        pytest.skip("the shared data are not beside this checkout")
    sets = [label_sources(read_source_set(DATA), 0.5, 77), label_pdfs(read_gold_rows(DATA), 77)]
    for labelled, least_recall in zip(sets, (AIM_RECALL, 0.9), strict=True):
        held_out = [each for each in labelled if not is_for_tuning(each.truth)]
        found = cluster([each.work for each in held_out])
        counts = count_pairs(found.groups, [each.truth for each in held_out])
        assert counts.true > 50
        assert counts.precision >= AIM_PRECISION
        assert counts.recall >= least_recall
