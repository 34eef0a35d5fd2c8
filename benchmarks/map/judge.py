"""Judges the map on real corpora.

    python -m benchmarks.map.judge DATA [--sample 1000] [--only NAME]

Constants were chosen on the choosing half of SciFact; the other half, the whole of it and eLife are
reported. "grown" draws the map of 70 in 100 papers and places the others afterwards.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.map.corpora import elife, is_for_choosing, scifact
from benchmarks.map.trustworthiness import TextNeighbours, measure_trustworthiness
from carrel.libraries.map_layout import MOST_LANDMARKS, MapText, choose_landmarks, fit_map

_GROWN_SHARE = 0.7
_SEED = 65


def place_all(texts: Sequence[MapText], landmarks: int) -> tuple[list[complex], set[int]]:
    """The places of all texts, and the numbers of those that are no landmarks."""
    chosen = choose_landmarks([text.id for text in texts], landmarks)
    drawn = fit_map([text for text in texts if text.id in chosen])
    known = dict(zip(drawn.landmark_ids, drawn.places, strict=True))
    places, placed = [], set()
    for number, text in enumerate(texts):
        place = known.get(text.id)
        if place is None:
            vector = drawn.vector_of(text)
            place = 0j if vector is None else drawn.place(text.id, vector)
            placed.add(number)
        places.append(place)
    return places, placed


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--only", default="")
    given = parser.parse_args(arguments)
    small = scifact(given.data)
    cases: list[tuple[str, list[MapText], int]] = [
        ("choosing half of SciFact", [t for t in small if is_for_choosing(t)], MOST_LANDMARKS),
        ("other half of SciFact", [t for t in small if not is_for_choosing(t)], MOST_LANDMARKS),
        ("SciFact", small, MOST_LANDMARKS),
        ("SciFact, grown", small, round(len(small) * _GROWN_SHARE)),
        ("eLife", elife(given.data), MOST_LANDMARKS),
    ]
    print(
        "| corpus | papers | placed afterwards | trustworthiness | of those placed | kept | CPU s |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, texts, landmarks in cases:
        if given.only and given.only != name:
            continue
        began = time.process_time()
        places, placed = place_all(texts, landmarks)
        seconds = time.process_time() - began
        plane = np.array([[place.real, place.imag] for place in places], np.float32)
        judge = TextNeighbours(texts)
        chance = np.random.default_rng(_SEED)
        sample = chance.choice(len(texts), min(given.sample, len(texts)), replace=False).tolist()
        trust, kept = measure_trustworthiness(judge, plane, sample)
        late = [number for number in sample if number in placed]
        of_late = f"{measure_trustworthiness(judge, plane, late)[0]:.3f}" if late else "-"
        print(
            f"| {name} | {len(texts):,} | {len(placed):,} | {trust:.3f} | {of_late} | {kept:.2f} |"
            f" {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
