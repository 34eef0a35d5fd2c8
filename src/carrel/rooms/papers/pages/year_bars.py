"""Counts by year as the bars of a small drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from carrel.core.pages import local_address

_MOST_YEARS = 40


@dataclass(frozen=True, slots=True)
class YearBar:
    """A year with its count; `height` is in percent of the highest."""

    year: int
    count: int
    height: float

    @property
    def path(self) -> str:
        """The papers of that year."""
        return local_address("/papers", **{"from": self.year, "to": self.year})


def draw_years(counts: Mapping[int, int]) -> list[YearBar]:
    """The last forty years, from the first of them that has some; gaps are years of zero."""
    if not counts:
        return []
    last = max(counts)
    first = min(year for year in counts if year > last - _MOST_YEARS)
    most = max(count for year, count in counts.items() if year >= first)
    return [
        YearBar(year, counts.get(year, 0), round(100 * counts.get(year, 0) / most, 1))
        for year in range(first, last + 1)
    ]
