"""Who should meet next: the pair whose match tells most about who is best."""

from collections.abc import Sequence
from math import erf, exp, sqrt
from random import Random

from carrel.rooms.research.ranking.strengths import Strengths


def chances_to_lead(strengths: Strengths) -> list[float]:
    """For each, how likely it is to be at least as strong as the present leader."""
    count = len(strengths.means)
    if not count:
        return []
    leader = max(range(count), key=lambda number: strengths.means[number])
    chances = []
    for number in range(count):
        variance = strengths.variance_between(number, leader) if number != leader else 0.0
        behind = strengths.means[number] - strengths.means[leader]
        chances.append(0.5 * (1 + erf(behind / sqrt(2 * variance))) if variance > 0 else 1.0)
    return chances


def most_telling(strengths: Strengths) -> tuple[int, int]:
    """The pair with the greatest information on its difference, weighed by both's chances to lead."""
    means, covariance, chances = strengths.means, strengths.covariance, chances_to_lead(strengths)
    best, chosen = -1.0, (0, 1)
    for one in range(len(means)):
        row, mean, chance, own = covariance[one], means[one], chances[one], covariance[one][one]
        for other in range(one):
            odds = exp(-abs(mean - means[other]))
            information = odds / (1 + odds) ** 2 * (own + covariance[other][other] - 2 * row[other])
            worth = information * chance * chances[other]
            if worth > best:
                best, chosen = worth, (one, other)
    return chosen


def newcomer_pair(strengths: Strengths, matches: Sequence[int], random: Random) -> tuple[int, int] | None:
    """A pair that lets someone play who has not: two newcomers, or one against anybody; None when everyone has played."""
    newcomers = [number for number, count in enumerate(matches) if count == 0]
    if not newcomers or len(matches) < 2:
        return None
    one = random.choice(newcomers)
    others = [number for number in newcomers if number != one] or [number for number in range(len(matches)) if number != one]
    return one, random.choice(others)
