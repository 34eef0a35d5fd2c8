"""The map of a real corpus keeps neighbours: trustworthiness at 15 of them is at least .9."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.map.corpora import is_for_choosing, scifact
from benchmarks.map.judge import place_all
from benchmarks.map.trustworthiness import TextNeighbours, measure_trustworthiness

SHARED = Path(__file__).parents[4] / "shared" / "data"


@pytest.mark.promise("V1")
def test_neighbours_of_real_abstracts_are_kept_also_by_papers_placed_later() -> None:
    if not (SHARED / "retrieval").is_dir():
        pytest.skip("the shared data are not beside the checkout")
    # The half on which nothing was chosen; a fifth of it comes after the map was drawn.
    texts = [text for text in scifact(SHARED) if not is_for_choosing(text)]
    places, placed = place_all(texts, len(texts) * 4 // 5)
    assert len(placed) > 500
    plane = np.array([[place.real, place.imag] for place in places], np.float32)
    trust, _ = measure_trustworthiness(TextNeighbours(texts), plane, range(0, len(texts), 3))
    assert trust >= 0.9
