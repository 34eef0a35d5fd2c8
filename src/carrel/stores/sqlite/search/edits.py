"""Distances: edits between two words, and moves between the words of a phrase."""

from __future__ import annotations

from collections.abc import Sequence


def count_edits(one: str, other: str, most: int, swaps_count_once: bool = True) -> int | None:
    """Insertions, deletions, changes and swaps of neighbours from one to the other, up to `most`;
    None beyond.
    """
    if abs(len(one) - len(other)) > most:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, sign in enumerate(one, start=1):
        above, before = before, row
        row = [i]
        for j, against in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (sign != against))
            if (
                swaps_count_once
                and i > 1
                and j > 1
                and sign == other[j - 2]
                and one[i - 2] == against
            ):
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
        if min(row) > most and (not above or min(before) > most):
            return None
    return row[-1] if row[-1] <= most else None


def find_sloppy_matches(places: Sequence[Sequence[int]], slop: int) -> float:
    """How much a phrase is in a text whose word number n stands at `places[n]`: the nearer its
    words, the more. 0 where no choice of places needs `slop` moves or fewer.
    """
    shifted = sorted(
        (place - number, number, place) for number, found in enumerate(places) for place in found
    )
    best: float = 0.0
    for first, (low, _, _) in enumerate(shifted):
        chosen: dict[int, int] = {}
        for shift, number, place in shifted[first:]:
            if shift - low > slop:
                break
            if number not in chosen and place not in chosen.values():
                chosen[number] = place
                if len(chosen) == len(places):
                    best = max(best, 1.0 / (1.0 + shift - low))
                    break
    return best
