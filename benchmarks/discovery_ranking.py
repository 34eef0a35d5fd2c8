"""Tournaments simulated with judges of known skill: how often the best is found, and how good the
whole order is.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from math import exp
from random import Random
from statistics import fmean

from carrel.libraries.ranking import EloRatings, Judging, Tournament, Verdict

JUDGE_IS_RIGHT = 0.78
_COUNTS = ((8, 1.0), (20, 1.0), (30, 0.5), (85, 0.1))
"""How many hypotheses, and the share of the runs they get: large tournaments are slow, and vary
less.
"""


@dataclass(frozen=True)
class Judge:
    """Someone who is right 78 times of 100 (more often where the gap is wide, or just as often
    everywhere), or always.
    """

    name: str
    spread: float | None
    judging: Judging = Judging.FALLIBLE

    def contest(self, random: Random, count: int) -> tuple[list[str], dict[str, float]]:
        """Hypotheses with their true worth."""
        ids = [f"h{number}" for number in range(count)]
        return ids, {one: random.gauss(0, self.spread or 1.0) for one in ids}

    def prefers_first(self, random: Random, first: float, second: float) -> bool:
        """The judge's word on one pair."""
        if self.judging is Judging.EXACT:
            return first > second
        if self.spread is None:
            return (first > second) == (random.random() < JUDGE_IS_RIGHT)
        return random.random() < 1 / (1 + exp(second - first))


# With true worths this far apart (in log-odds) a judge who goes by the gap is right 78 times of 100
# on random pairs.
SURER = Judge("a judge surer of wide gaps", 1.43)
EVEN = Judge("a judge as sure of any gap", None)
EXACT = Judge("a judge who never errs", None, Judging.EXACT)


@dataclass(frozen=True)
class Outcome:
    """What one tournament found: whether the first is the best, how well the orders agree with the
    truth, who played how much.
    """

    is_best_first: bool
    elo_spearman: float
    elo_kendall: float
    strength_spearman: float
    strength_kendall: float
    largest_share: float
    fewest_opponents: int
    most_meetings: int


def active(seed: int, judge: Judge, count: int) -> Outcome:
    """One tournament of ours."""
    random = Random(seed)
    ids, worth = judge.contest(random, count)
    tournament = Tournament(ids, seed, judging=judge.judging)
    pairs: list[tuple[str, str]] = []
    for _ in range(3 * count):
        match = tournament.next_match()
        if match is None:
            break
        wins = judge.prefers_first(random, worth[match.first], worth[match.second])
        tournament.record(match, Verdict.FIRST if wins else Verdict.SECOND)
        pairs.append((match.first, match.second))
    standings = tournament.standings()
    by_elo = [standing.id for standing in sorted(standings, key=lambda standing: -standing.elo)]
    return _outcome(worth, by_elo, [standing.id for standing in standings], pairs)


def random_pairs(seed: int, judge: Judge, count: int) -> Outcome:
    """The same number of random pairs, rated by Elo alone."""
    random = Random(seed)
    ids, worth = judge.contest(random, count)
    ratings = EloRatings(ids, step=24.0)
    pairs: list[tuple[str, str]] = []
    for _ in range(3 * count):
        one, other = random.sample(ids, 2)
        ratings.record(one, other, float(judge.prefers_first(random, worth[one], worth[other])))
        pairs.append((one, other))
    order = sorted(ids, key=lambda one: -ratings[one])
    return _outcome(worth, order, order, pairs)


def _outcome(
    worth: dict[str, float],
    by_elo: Sequence[str],
    by_strength: Sequence[str],
    pairs: Sequence[tuple[str, str]],
) -> Outcome:
    true = {one: place for place, one in enumerate(sorted(worth, key=lambda one: -worth[one]))}
    elo, strength = [true[one] for one in by_elo], [true[one] for one in by_strength]
    met = [frozenset(pair) for pair in pairs]
    plays = [sum(one in pair for pair in met) for one in worth]
    opponents = [len({pair for pair in met if one in pair}) for one in worth]
    return Outcome(
        elo[0] == 0,
        _spearman(elo),
        _kendall(elo),
        _spearman(strength),
        _kendall(strength),
        max(plays) / len(pairs),
        min(opponents),
        max(map(met.count, set(met))),
    )


def _spearman(places: Sequence[int]) -> float:
    count = len(places)
    return 1 - 6 * sum((place - true) ** 2 for place, true in enumerate(places)) / (
        count * (count * count - 1)
    )


def _kendall(places: Sequence[int]) -> float:
    agree = [1 if one < other else -1 for one, other in combinations(places, 2)]
    return sum(agree) / len(agree)


def simulate(runs: int, count: int = 20) -> None:
    """The best of twenty, then the order of everyone, with three comparisons each and fixed
    seeds.
    """
    ways: tuple[tuple[str, Callable[[int, Judge, int], Outcome]], ...] = (
        ("ours", active),
        ("random pairs, Elo", random_pairs),
    )
    with ProcessPoolExecutor(os.cpu_count()) as executor:
        print(
            f"\nRanking: the best of {count} found with {3 * count} comparisons, {runs} runs with "
            f"fixed seeds"
        )
        for judge in (SURER, EVEN):
            for name, way in ways:
                found = executor.map(way, range(runs), [judge] * runs, [count] * runs, chunksize=50)
                share = fmean(outcome.is_best_first for outcome in found)
                print(
                    f"  {judge.name}, right {JUDGE_IS_RIGHT:.0%} of the time; {name}: {share:.1%}",
                    flush=True,
                )
        print("\nRanking: the order of everyone with three comparisons each (means)")
        print(
            "  hypotheses, judge, way: Spearman and Kendall of Elo; of strengths; best first; "
            "largest share; fewest opponents"
        )
        for judge in (EXACT, SURER, EVEN):
            for size, share in _COUNTS:
                some = max(2, int(runs / 20 * share))
                for name, way in ways:
                    print(
                        f"  {size:3} {judge.name}, {name}: "
                        f"{_told(list(executor.map(way, range(some), [judge] * some, [size] * some)))}"  # noqa: E501
                    )


def _told(found: Sequence[Outcome]) -> str:
    return (
        f"{fmean(one.elo_spearman for one in found):.3f} "
        f"{fmean(one.elo_kendall for one in found):.3f}; "
        f"{fmean(one.strength_spearman for one in found):.3f} "
        f"{fmean(one.strength_kendall for one in found):.3f}; "
        f"{fmean(one.is_best_first for one in found):.0%}; "
        f"{fmean(one.largest_share for one in found):.2f}; "
        f"{min(one.fewest_opponents for one in found)} (a pair met up to "
        f"{max(one.most_meetings for one in found)} times)"
    )


if __name__ == "__main__":
    simulate(5000)
