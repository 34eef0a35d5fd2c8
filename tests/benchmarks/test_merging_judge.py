"""The judge of merging counts right, and its aims are met on works that nothing was chosen on."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.literature.judge import (
    AIM_PRECISION,
    AIM_RECALL,
    LabelledRecord,
    PairScore,
    judge_recorded,
    judge_written,
    score_merging,
)
from tests.libraries.literature.made_records import make_record

pytestmark = pytest.mark.promise("W1")

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
has_data = pytest.mark.skipif(
    not (DATA / "services" / "dumps").exists(),
    reason="the shared data are not beside this checkout",
)


def test_pairs_are_counted_by_what_truly_belongs_together() -> None:
    records = [
        make_record("crossref", ids={"doi": "10.1000/1"}),
        make_record("openalex", ids={"doi": "10.1000/1"}),
        make_record("pubmed", ids={"doi": "10.1000/2"}),
    ]
    score = PairScore()
    labelled = [LabelledRecord(*each) for each in zip(records, "abb", strict=True)]
    said = score_merging(labelled, score)
    assert (score.joined, score.true, score.right) == (1, 1, 0)
    assert (score.precision, score.recall) == (0.0, 0.0)
    assert [line.partition(" ")[0] for line in said] == ["missed", "wrong"]


@has_data
def test_the_aims_are_met_on_works_written_as_services_write_them() -> None:
    scores = judge_written(DATA, "held-out", [77])
    for score in (scores.searches, scores.at_once):
        assert score.true > 3000
        assert score.precision >= AIM_PRECISION
        assert score.recall >= AIM_RECALL
    assert scores.nameless.precision >= AIM_PRECISION
    assert scores.links.right >= 0.8 * scores.links.true > 10


@has_data
@pytest.mark.parametrize("hides", [False, True])
def test_the_aims_are_met_on_every_overlap_of_the_recordings(hides: bool) -> None:
    score, _ = judge_recorded(DATA, "all", hides=hides)
    assert score.true > 15
    assert score.precision >= AIM_PRECISION
    assert score.recall >= AIM_RECALL
