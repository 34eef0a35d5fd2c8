"""Simulated judges and reviewers: what each of them sees of the true worth of two entries."""

from dataclasses import dataclass
from math import log
from random import Random
from typing import Literal

from carrel.libraries.ranking import Margin

SPREAD = 1.43
"""With true worths this far apart (in log-odds) a judge who goes by the gap is right 78 times of
100 on random pairs.
"""

Flaw = Literal["none", "position", "random", "flat"]


@dataclass(frozen=True)
class Judge:
    """A judge who goes by the gap with logistic noise, with one flaw, and says "clear" above a gap.

    `position`: in 15 % takes whoever is shown first; `random`: in 10 % tosses a coin; `flat`: is
    right in 60 % of all pairs, however wide the gap.
    """

    name: str
    flaw: Flaw = "none"
    clear_above: float = 1.2

    def compare(self, first: float, second: float, random: Random) -> tuple[bool, Margin]:
        """Whether the first shown wins, and by how much."""
        chance = random.random()
        noise = log(chance / (1 - chance))
        seen = first - second + noise
        if self.flaw == "flat":
            is_right = random.random() < 0.6
            seen = abs(noise) if (first > second) == is_right else -abs(noise)
        elif self.flaw == "position" and random.random() < 0.15:
            seen = abs(seen)
        elif self.flaw == "random" and random.random() < 0.1:
            seen = noise
        return seen > 0, "clear" if abs(seen) > self.clear_above else "slight"


@dataclass(frozen=True)
class Contest:
    """Entries with their true worth, and reviewers' scores that correlate with it."""

    worth: tuple[float, ...]
    scores: tuple[float, ...]


def draw_contest(random: Random, count: int, correlation: float) -> Contest:
    worth = tuple(random.gauss(0, SPREAD) for _ in range(count))
    rest = (1 - correlation**2) ** 0.5
    scores = tuple(correlation * one / SPREAD + rest * random.gauss(0, 1) for one in worth)
    return Contest(worth, scores)


JUDGES = (
    Judge("Bradley-Terry, 78 % right"),
    Judge("15 % take the first shown", "position"),
    Judge("10 % at random", "random"),
    Judge("flat 60 %", "flat"),
)
"""The judges of the table of results."""
