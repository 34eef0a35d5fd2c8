"""The time slices of link prediction: what is a find, what a candidate, and how rankings count."""

import numpy as np
import pytest

from benchmarks.links.baselines import Neighbourhood
from benchmarks.links.measures import fit_logistic, interval, score_start
from benchmarks.links.slices import LinkSlice, Years, slice_by_names, slice_by_texts
from carrel.libraries.discovery import Paper

YEARS = Years(2010, 2012, 2013)
SUBJECTS = {
    2009: ("amber ladder", "copper vessel"),
    2010: ("copper vessel", "dune orchard"),
    2011: ("amber ladder", "basalt quarry"),
    2012: ("amber ladder", "dune orchard"),
    2013: ("amber ladder", "copper vessel", "basalt quarry"),
    2014: ("basalt quarry", "dune orchard"),
}


def paper(place: str, year: int, names: tuple[str, ...]) -> Paper:
    return Paper(
        place, f"On {' and '.join(names)}.", f"We saw {' near '.join(names)}.", names, year=year
    )


@pytest.fixture(scope="module")
def of() -> LinkSlice:
    alone = [
        paper(f"alone-{name}-{year}", year, (name,))
        for name in ("amber ladder", "copper vessel", "dune orchard", "basalt quarry")
        for year in (2008, 2009)
    ]
    joined = [paper(f"joined-{year}", year, names) for year, names in SUBJECTS.items()]
    return slice_by_names([*alone, *joined], YEARS, least=2)


def number(of: LinkSlice, name: str) -> int:
    found = of.reader.index.number(name)
    assert found is not None
    return found


def test_a_find_was_never_joined_before_nor_in_between_and_no_paper_after_counts(
    of: LinkSlice,
) -> None:
    amber, dune = number(of, "amber ladder"), number(of, "dune orchard")
    assert of.finds(amber) == {dune}
    assert of.finds(dune) == {amber}
    assert of.candidates(amber) == [dune]


def test_what_met_is_no_candidate(of: LinkSlice) -> None:
    for start in of.concepts:
        met = {*of.meetings.get(start, ()), *of.between.get(start, ())}
        assert met.isdisjoint(of.candidates(start))
        assert start not in of.candidates(start)
        assert of.finds(start) <= set(of.candidates(start))


def test_common_neighbours_are_counted(of: LinkSlice) -> None:
    amber, dune = number(of, "amber ladder"), number(of, "dune orchard")
    [own] = Neighbourhood(of).measure(amber, [dune])
    assert own.common_neighbours == 1
    assert own.jaccard == 1
    assert own.preferential_attachment == 1
    assert own.uses == of.uses[dune]
    assert len(own.row()) == 9


def test_equal_scores_count_as_drawn_by_lot() -> None:
    found = np.array([True] + [False] * 19)
    drawn = score_start(np.zeros(20), found, np.full(20, 7.0))
    assert drawn.area == 0.5
    assert drawn.precision == pytest.approx(1 / 20)
    assert drawn.papers == pytest.approx(7)
    best = score_start(np.arange(20.0)[::-1], found, np.full(20, 7.0))
    assert best.area == 1.0
    assert best.precision == pytest.approx(1 / 10)


def test_an_interval_holds_the_mean() -> None:
    mean, low, high = interval([0.0, 0.5, 1.0, 0.5, 0.25])
    assert low < mean < high
    assert mean == pytest.approx(0.45)


def test_a_regression_finds_the_measure_that_tells() -> None:
    random = np.random.default_rng(3)
    rows = random.normal(size=(400, 2))
    weights = fit_logistic(rows, rows[:, 0] + random.normal(size=400) > 1)
    assert weights[0] > 5 * abs(weights[1])


def test_without_keywords_concepts_are_read_from_the_texts() -> None:
    names = ("amber ladder", "copper vessel", "dune orchard")
    alone = [paper(f"{name}-{n}", 2005 + n % 5, (name,)) for name in names for n in range(12)]
    of = slice_by_texts([*alone, paper("later", 2012, names[:2])], YEARS, least=3)
    amber, copper, dune = (number(of, name) for name in names)
    assert of.concepts == sorted((amber, copper, dune))
    assert not any(of.reader.index.names_of(document) for document in range(len(alone)))
    assert of.finds(amber) == {copper}
    assert not of.finds(dune)
