"""The best of twenty and the whole order, by design, judge and what the judge and reviewers say."""

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import sqrt
from random import Random
from statistics import fmean, stdev

from benchmarks.ranking.designs import DESIGNS, Bout
from benchmarks.ranking.judges import JUDGES, Judge, draw_contest

CORRELATION = 0.5
SEED_SETS = {"choose": 0, "report": 1_000_000}
"""Numbers of the library were chosen on the first set; the second is for reporting."""


@dataclass(frozen=True)
class Setting:
    """One row of the table: a judge, whether it is asked for margins, and whether reviews count."""

    judge: Judge
    is_graded: bool
    has_reviews: bool
    correlation: float = CORRELATION

    @property
    def label(self) -> str:
        verdicts = "clear/slight" if self.is_graded else "yes/no"
        reviews = f"reviews r = {self.correlation:g}" if self.has_reviews else "no reviews"
        return f"{self.judge.name}; {verdicts}; {reviews}"


@dataclass(frozen=True)
class Outcome:
    """Whether the best came first, the share of the true first three, and Spearman's rho."""

    is_best_first: bool
    top_three: float
    spearman: float


def run_one(setting: Setting, design: str, seed: int, count: int, matches: int) -> Outcome:
    """One tournament; all designs get the same contest for the same seed."""
    contest = draw_contest(Random(f"contest {seed}"), count, setting.correlation)
    bout = Bout(
        contest,
        setting.judge,
        Random(f"{design} {seed}"),
        setting.is_graded,
        setting.has_reviews,
    )
    order = DESIGNS[design](bout, matches)
    true = sorted(range(count), key=lambda place: -contest.worth[place])
    places = {place: rank for rank, place in enumerate(true)}
    distance = sum((places[one] - rank) ** 2 for rank, one in enumerate(order))
    return Outcome(
        order[0] == true[0],
        len({*order[:3]} & {*true[:3]}) / 3,
        1 - 6 * distance / (count * (count * count - 1)),
    )


def choose_settings() -> Iterator[Setting]:
    """Every judge with nothing and with everything; the plain one with each alone, and traps."""
    for judge in JUDGES:
        yield Setting(judge, is_graded=False, has_reviews=False)
        yield Setting(judge, is_graded=True, has_reviews=True)
    plain = JUDGES[0]
    yield Setting(plain, is_graded=True, has_reviews=False)
    yield Setting(plain, is_graded=False, has_reviews=True)
    yield Setting(plain, is_graded=True, has_reviews=True, correlation=0.0)
    for gap, says in ((0.0, "always clear"), (0.4, "soon clear"), (2.5, "seldom clear")):
        judge = Judge(f"{plain.name}, {says}", clear_above=gap)
        yield Setting(judge, is_graded=True, has_reviews=True)


def describe_outcomes(found: Sequence[Outcome]) -> str:
    best = fmean(one.is_best_first for one in found)
    orders = [one.spearman for one in found]
    return (
        f"{100 * best:5.1f} ± {100 * sqrt(best * (1 - best) / len(found)):3.1f} "
        f"{fmean(one.top_three for one in found):.3f} "
        f"{fmean(orders):.3f} ± {stdev(orders) / sqrt(len(found)):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1100)
    parser.add_argument("--seeds", choices=sorted(SEED_SETS), default="report")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--matches", type=int, default=60)
    parser.add_argument("--only", default="", help="settings whose label has this in it")
    parser.add_argument("--design", default="", help="designs whose name has this in it")
    asked = parser.parse_args()
    print(
        f"{asked.count} entries, {asked.matches} comparisons, {asked.runs} runs, seeds to "
        f"{asked.seeds}; best first in % ± s.e., share of the first three, Spearman ± s.e."
    )
    first = SEED_SETS[asked.seeds]
    with ProcessPoolExecutor(os.cpu_count()) as executor:
        for setting in choose_settings():
            if asked.only not in setting.label:
                continue
            print(setting.label)
            for design in DESIGNS:
                if asked.design not in design:
                    continue
                found = list(
                    executor.map(
                        run_one,
                        [setting] * asked.runs,
                        [design] * asked.runs,
                        range(first, first + asked.runs),
                        [asked.count] * asked.runs,
                        [asked.matches] * asked.runs,
                        chunksize=25,
                    )
                )
                print(f"  {design:24} {describe_outcomes(found)}", flush=True)


if __name__ == "__main__":
    main()
