"""How often a tournament finds the true best of some hypotheses, beside random pairs with Elo: part of `make bench-discovery`."""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import exp
from random import Random

from carrel.rooms.research.ranking import EloRatings, Tournament, Verdict

JUDGE_IS_RIGHT = 0.78


@dataclass(frozen=True)
class Judge:
    """Someone who is right 78 times of 100: more often where the gap is wide, or just as often everywhere."""

    name: str
    spread: float | None

    def contest(self, random: Random, count: int) -> tuple[list[str], dict[str, float]]:
        """Hypotheses with their true worth."""
        ids = [f"h{number}" for number in range(count)]
        return ids, {one: random.gauss(0, self.spread or 1.0) for one in ids}

    def prefers_first(self, random: Random, first: float, second: float) -> bool:
        """The judge's word on one pair."""
        if self.spread is None:
            return (first > second) == (random.random() < JUDGE_IS_RIGHT)
        return random.random() < 1 / (1 + exp(second - first))


# With true worths this far apart (in log-odds) a judge who goes by the gap is right 78 times of 100 on random pairs.
JUDGES = (Judge("a judge surer of wide gaps", 1.43), Judge("a judge as sure of any gap", None))


def active_finds_best(seed: int, judge: Judge, count: int) -> bool:
    """One tournament of ours."""
    random = Random(seed)
    ids, worth = judge.contest(random, count)
    tournament = Tournament(ids, seed)
    for _ in range(3 * count):
        match = tournament.next_match()
        wins = judge.prefers_first(random, worth[match.first], worth[match.second])
        tournament.record(match, Verdict.FIRST if wins else Verdict.SECOND)
    return tournament.standings()[0].id == max(ids, key=worth.__getitem__)


def random_elo_finds_best(seed: int, judge: Judge, count: int) -> bool:
    """The same number of random pairs, rated by Elo alone."""
    random = Random(seed)
    ids, worth = judge.contest(random, count)
    ratings = EloRatings(ids, step=24.0)
    for _ in range(3 * count):
        one, other = random.sample(ids, 2)
        ratings.record(one, other, float(judge.prefers_first(random, worth[one], worth[other])))
    return max(ids, key=ratings.__getitem__) == max(ids, key=worth.__getitem__)


def simulate(runs: int, count: int = 20) -> None:
    """How often the true best is found with three comparisons each and a judge who is right 78 times of 100."""
    print(f"\nRanking: {count} hypotheses, {3 * count} comparisons, {runs} runs with fixed seeds")
    print(f"  Judges are right {JUDGE_IS_RIGHT:.0%} of the time")
    ways: tuple[tuple[str, Callable[[int, Judge, int], bool]], ...] = (
        ("active pairs, Bradley-Terry", active_finds_best),
        ("random pairs, Elo", random_elo_finds_best),
    )
    with ProcessPoolExecutor(os.cpu_count()) as executor:
        for judge in JUDGES:
            for name, way in ways:
                found = sum(executor.map(way, range(runs), [judge] * runs, [count] * runs, chunksize=50))
                print(f"  {judge.name}; {name}: the best is found in {found / runs:.1%}", flush=True)
