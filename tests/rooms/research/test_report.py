"""The drawings of a report."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from carrel.rooms.research.report import spread_labels


@given(st.lists(st.floats(min_value=34, max_value=266), min_size=1, max_size=8))
def test_labels_in_the_drawing_lie_spread_labels_and_inside_it(heights: list[float]) -> None:
    moved = sorted(spread_labels(heights))
    assert all(after - before >= 12.99 for before, after in pairwise(moved))
    assert moved[-1] <= 274
