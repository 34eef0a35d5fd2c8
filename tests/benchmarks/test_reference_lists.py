"""The judge of printed references, on a few styles and items that the tagger was not fitted on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.reference_lists.generation import generate, half_of
from benchmarks.reference_lists.judge import compare
from carrel.libraries.works.reference_parsing import parse_reference

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
# `make judge-references` has 88 % of titles, 98 % of first authors and 98 % of years right.
LEAST_RIGHT = {"title": 0.8, "first author": 0.9, "year": 0.95}
MOST_WRONG_TITLES = 0.15


def test_sets_of_styles_and_items_do_not_meet() -> None:
    assert {half_of(str(number)) for number in range(40)} == {"fit", "calibrate", "report"}


def test_fields_of_rendered_items_are_found_again() -> None:
    if not (DATA / "citations").is_dir():
        pytest.skip("the libraries of items are not here")
    counts: Counter[tuple[str, str]] = Counter()
    total = 0
    for reference in generate(DATA, "report", 5, styles=30, per_style=4):
        total += 1
        counts.update(compare(reference, parse_reference(reference.text, "-")))
    assert total > 60
    for field, share in LEAST_RIGHT.items():
        graded = sum(counts[field, grade] for grade in ("right", "unknown", "wrong"))
        assert counts[field, "right"] >= share * graded, field
    assert counts["title", "wrong"] <= MOST_WRONG_TITLES * total
