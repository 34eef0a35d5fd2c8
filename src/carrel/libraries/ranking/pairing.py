"""Pairing: the next match is the one with the most information about leader and order."""

from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import combinations
from math import erf, exp, sqrt
from operator import mul
from random import Random

from carrel.libraries.ranking.strengths import (
    Comparison,
    Evidence,
    Margin,
    Strengths,
    cholesky_factor,
)

Closeness = Callable[[str, str], float]
"""From 0, nothing in common, to 1, the same: the proximity agent's word on two hypotheses."""


def no_closeness(_one: str, _other: str) -> float:
    """The default closeness: 0 for every pair."""
    return 0.0


class PairingTable:
    """Players by order of entry; wins are bit sets, transitively closed."""

    def __init__(self, closeness: Closeness = no_closeness) -> None:
        self._closeness = closeness
        self._names: list[str] = []
        self._close: dict[tuple[int, int], float] = {}
        self.comparisons: list[Comparison] = []
        self._evidence = Evidence()
        self._strengths: Strengths | None = None
        self.elo: list[float] = []
        self.matches: list[int] = []
        self.opponents: list[set[int]] = []
        self.playing: list[int] = []
        self._shown_first: dict[tuple[int, int], int] = {}
        self._meetings: Counter[tuple[int, int]] = Counter()
        self._over: list[int] = []
        self._under: list[int] = []

    def enter(self, name: str, elo: float) -> None:
        self.playing.append(len(self._names))
        self._names.append(name)
        self._strengths = None
        self.elo.append(elo)
        self.matches.append(0)
        self.opponents.append(set())
        self._over.append(0)
        self._under.append(0)

    def weigh(self, evidence: Evidence) -> None:
        """Take what is known beside matches; strengths are fitted anew where it has changed."""
        if evidence != self._evidence:
            self._evidence = evidence
            self._strengths = None

    @property
    def strengths(self) -> Strengths:
        """The strengths by evidence and all verdicts so far, in the order they came."""
        if self._strengths is None:
            self._strengths = Strengths(len(self._names), self._evidence)
            for comparison in self.comparisons:
                self._strengths.learn(comparison)
        return self._strengths

    def settle_strengths(self) -> Strengths:
        """The strengths fitted to all verdicts at once."""
        settled = Strengths(len(self._names), self._evidence)
        settled.settle(self.comparisons)
        return settled

    def meet(
        self, first: int, second: int, score: float | None, margin: Margin | None = None
    ) -> None:
        """Records a match in the order shown; a score of None is an unreadable verdict."""
        self.matches[first] += 1
        self.matches[second] += 1
        self.opponents[first].add(second)
        self.opponents[second].add(first)
        self._shown_first[_pair(first, second)] = first
        self._meetings[_pair(first, second)] += 1
        if score is None:
            return
        comparison = Comparison(first, second, score, margin)
        self.comparisons.append(comparison)
        if self._strengths is not None:
            self._strengths.learn(comparison)
        if score != 0.5:
            self._put_over(first, second) if score == 1 else self._put_over(second, first)

    def have_met(self, one: int, other: int) -> bool:
        return other in self.opponents[one]

    def meetings(self, one: int, other: int) -> int:
        return self._meetings[_pair(one, other)]

    def shown_first(self, one: int, other: int) -> int | None:
        """Who was shown first when the two met last; None where they have not."""
        return self._shown_first.get(_pair(one, other))

    def closeness(self, one: int, other: int) -> float:
        pair = _pair(one, other)
        if pair not in self._close:
            self._close[pair] = self._closeness(self._names[pair[0]], self._names[pair[1]])
        return self._close[pair]

    def unbeaten(self) -> list[int]:
        """Active players that no other active player is known to beat."""
        there = sum(1 << place for place in self.playing)
        return [place for place in self.playing if not self._over[place] & there]

    def rank_share(self, place: int) -> float:
        """The rank that follows from the verdicts, from 0 (last) to 1 (first)."""
        over, under = self._over[place].bit_count(), self._under[place].bit_count()
        return (under + 1) / (over + under + 2)

    def _put_over(self, winner: int, loser: int) -> None:
        upper, lower = self._over[winner] | 1 << winner, self._under[loser] | 1 << loser
        for place in _bits(upper):
            self._under[place] |= lower & ~(1 << place)
        for place in _bits(lower):
            self._over[place] |= upper & ~(1 << place)


def _pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Judging(StrEnum):
    """An exact judge is consistent and transitive; a fallible one may err."""

    EXACT = "exact"
    FALLIBLE = "fallible"


LEAST_OPPONENTS = 3
"""Everyone meets so many others: the first before anyone is favoured, another after every round."""

_ORDER_WEIGHT = 0.07
"""What the order of any two is worth beside who leads: with less the best is found more often, with
more the order of all gets better. Chosen with `make bench-ranking` on its first set of seeds.
"""

_MOST_MEETINGS = 6
"""Two meet three times in either order at most: a judge asked again mostly repeats itself."""

_MOST_OF_MEAN = 3.0
"""Nobody plays more than so many times as often as everyone on average."""

_DRAWS = 1000
"""Draws behind the chance to be best: its own error is 1.6 points at most."""

_CLOSENESS_BONUS = 0.25
"""How much more a match tells between two that are all but the same: that difference is what a
reader wants to know.
"""

_EVEN_MATCHES = 5
"""With an exact judge everyone plays so many before Elo is made to catch up with what follows from
the verdicts.
"""

_CLOSE_POINTS = 16.0
"""In Swiss pairing, being all but the same makes up for so many points between two."""

_FAR_POINTS = 64.0


def chances_to_lead(strengths: Strengths, there: list[int]) -> dict[int, float]:
    """How likely each of these places is to be at least as strong as the strongest."""
    if not there:
        return {}
    means = strengths.means
    leader = max(there, key=lambda place: means[place])
    chances = {}
    for place in there:
        variance = strengths.variance_between(place, leader) if place != leader else 0.0
        behind = means[place] - means[leader]
        chances[place] = 0.5 * (1 + erf(behind / sqrt(2 * variance))) if variance > 0 else 1.0
    return chances


def draw_ranks(
    strengths: Strengths, there: list[int], random: Random
) -> dict[int, tuple[float, int, int]]:
    """Of each place the share of draws in which it is first, and the 95 % range of its ranks."""
    count = len(there)
    means = strengths.means
    lower = cholesky_factor([[strengths.covariance[a][b] for b in there] for a in there])
    ranks: list[list[int]] = [[] for _ in there]
    for _ in range(_DRAWS):
        noise = [random.gauss(0.0, 1.0) for _ in there]
        values = [
            means[place] + sum(map(mul, row, noise))
            for place, row in zip(there, lower, strict=True)
        ]
        for rank, number in enumerate(sorted(range(count), key=lambda one: -values[one]), start=1):
            ranks[number].append(rank)
    tail = _DRAWS // 40
    found = {}
    for place, own in zip(there, ranks, strict=True):
        own.sort()
        found[place] = (own.count(1) / _DRAWS, own[tail], own[-1 - tail])
    return found


def most_informative_pair(table: PairingTable, random: Random) -> tuple[int, int]:
    """For a fallible judge: first opponents for all, then the most information about the leader."""
    there = random.sample(table.playing, len(table.playing))
    strengths = table.strengths
    means, covariance = strengths.means, strengths.covariance
    chances = chances_to_lead(strengths, there)
    played = sum(table.matches[place] for place in there) // 2
    missing = _missing_opponents(table, there, 1 + played // len(there))
    most = max(_MOST_OF_MEAN * 2 * (played + 1) / len(there), LEAST_OPPONENTS + 1)
    best, chosen = (-1, False, -1.0), (there[0], there[1])
    for number, one in enumerate(there):
        row, mean, chance, own = covariance[one], means[one], chances[one], covariance[one][one]
        for other in there[:number]:
            gap = mean - means[other]
            odds = exp(-abs(gap))
            information = odds / (1 + odds) ** 2 * (own + covariance[other][other] - 2 * row[other])
            worth = _ORDER_WEIGHT + chance * chances[other]
            worth *= information * (1 + _CLOSENESS_BONUS * table.closeness(one, other))
            news = 0 if table.have_met(one, other) else missing[one] + missing[other]
            is_fair = (
                table.matches[one] < most
                and table.matches[other] < most
                and table.meetings(one, other) < _MOST_MEETINGS
            )
            if (news, is_fair, worth) > best:
                best, chosen = (news, is_fair, worth), (one, other)
    return chosen


def swiss_pair(table: PairingTable, random: Random) -> tuple[int, int] | None:
    """Swiss pairing for an exact judge: no pair meets twice; None when all pairs have met.

    The least played meet similar opponents, by Elo and content. Once all have met a few, the
    unbeaten meet each other; last come pairs whose Elo order contradicts the verdicts.
    """
    there = random.sample(table.playing, len(table.playing))
    pairs = [
        (one, other) for one, other in combinations(there, 2) if not table.have_met(one, other)
    ]
    if not pairs:
        return None
    if not any(_missing_opponents(table, there, LEAST_OPPONENTS).values()):
        unbeaten = set(table.unbeaten())
        finals = [pair for pair in pairs if unbeaten.issuperset(pair)]
        if finals:
            return min(finals, key=lambda pair: _distance(table, *pair))
    if min(table.matches[place] for place in there) < min(_EVEN_MATCHES, len(there) - 1):
        return min(
            pairs,
            key=lambda pair: (
                table.matches[pair[0]] + table.matches[pair[1]],
                _distance(table, *pair),
            ),
        )
    heights = {place: table.rank_share(place) for place in there}

    def behind(pair: tuple[int, int]) -> tuple[float, int, float]:
        one, other = pair
        points, height = table.elo[one] - table.elo[other], heights[one] - heights[other]
        disagreement = min(abs(points), _FAR_POINTS) * abs(height) if points * height < 0 else 0.0
        return (
            -disagreement,
            table.matches[one] + table.matches[other],
            _distance(table, one, other),
        )

    return min(pairs, key=behind)


def _distance(table: PairingTable, one: int, other: int) -> float:
    return abs(table.elo[one] - table.elo[other]) - _CLOSE_POINTS * table.closeness(one, other)


def _missing_opponents(table: PairingTable, there: list[int], wanted: int) -> dict[int, int]:
    """How many opponents each still lacks, of those it can have."""
    least = min(wanted, LEAST_OPPONENTS, len(there) - 1)
    present = set(there)
    return {place: max(0, least - len(table.opponents[place] & present)) for place in there}
