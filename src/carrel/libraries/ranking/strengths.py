"""Bradley-Terry strengths with their uncertainty, as a Gaussian approximation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, sqrt

PRIOR_SPREAD = 1.5
"""Before any match, strengths are taken to lie this far apart (in log-odds of winning)."""

NINETY_FIVE = 1.959964
_MOST_ROUNDS = 50
_CLOSE_ENOUGH = 1e-9


@dataclass(frozen=True)
class Strength:
    """A strength in log-odds with its 95 % interval under the model."""

    value: float
    low: float
    high: float


class Strengths:
    """Means and covariances of all strengths, updated by each verdict, settled by all."""

    def __init__(self, count: int, spread: float = PRIOR_SPREAD) -> None:
        self._prior = 1.0 / (spread * spread)
        self.means = [0.0] * count
        self.covariance = [
            [spread * spread if row == column else 0.0 for column in range(count)]
            for row in range(count)
        ]

    def grow(self) -> None:
        """Add a player of unknown strength."""
        for row in self.covariance:
            row.append(0.0)
        self.covariance.append([0.0] * len(self.means) + [1.0 / self._prior])
        self.means.append(0.0)

    def chance(self, one: int, other: int) -> float:
        """The probability that the first beats the second."""
        return _logistic(self.means[one] - self.means[other])

    def variance_between(self, one: int, other: int) -> float:
        """The variance of the difference of two strengths."""
        covariance = self.covariance
        return covariance[one][one] + covariance[other][other] - 2 * covariance[one][other]

    def learn(self, one: int, other: int, score: float) -> None:
        """Updates with one verdict: a Newton step and a rank-one change of the covariance."""
        covariance = self.covariance
        toward = [a - b for a, b in zip(covariance[one], covariance[other], strict=True)]
        between = toward[one] - toward[other]
        before = self.means[one] - self.means[other]
        after = _settled(before, between, score)
        chance = _logistic(after)
        sharpness = chance * (1 - chance)
        gain = (after - before) / between if between > 0 else 0.0
        shrink = sharpness / (1 + sharpness * between)
        self.means = [mean + gain * step for mean, step in zip(self.means, toward, strict=True)]
        for row, step in zip(covariance, toward, strict=True):
            if step:
                factor = shrink * step
                for column, other_step in enumerate(toward):
                    row[column] -= factor * other_step

    def settle(self, verdicts: Sequence[tuple[int, int, float]]) -> None:
        """Fit the strengths to all verdicts at once, independent of their order."""
        count = len(self.means)
        means = [0.0] * count
        for _ in range(_MOST_ROUNDS):
            precision = [
                [self._prior if row == column else 0.0 for column in range(count)]
                for row in range(count)
            ]
            slope = [-self._prior * mean for mean in means]
            for one, other, score in verdicts:
                chance = _logistic(means[one] - means[other])
                sharpness = chance * (1 - chance)
                slope[one] += score - chance
                slope[other] -= score - chance
                precision[one][one] += sharpness
                precision[other][other] += sharpness
                precision[one][other] -= sharpness
                precision[other][one] -= sharpness
            self.covariance = _inverse(precision)
            moves = [sum(a * b for a, b in zip(row, slope, strict=True)) for row in self.covariance]
            means = [mean + move for mean, move in zip(means, moves, strict=True)]
            if max(map(abs, moves), default=0.0) < _CLOSE_ENOUGH:
                break
        self.means = means

    def strength(self, number: int) -> Strength:
        """One strength with its interval."""
        width = NINETY_FIVE * sqrt(max(self.covariance[number][number], 0.0))
        mean = self.means[number]
        return Strength(mean, mean - width, mean + width)


def _settled(before: float, between: float, score: float) -> float:
    # The difference where the pull of the verdict and that of what was known before balance.
    difference = before
    for _ in range(8):
        chance = _logistic(difference)
        slope = between * (score - chance) - (difference - before)
        step = slope / (1 + between * chance * (1 - chance))
        difference += step
        if abs(step) < 1e-6:
            break
    return difference


def _logistic(log_odds: float) -> float:
    if log_odds >= 0:
        return 1.0 / (1.0 + exp(-log_odds))
    grown = exp(log_odds)
    return grown / (1.0 + grown)


def _inverse(matrix: Iterable[Sequence[float]]) -> list[list[float]]:
    # Gauss-Jordan; the matrix is symmetric and positive definite, so no pivoting is needed.
    rows = [list(row) for row in matrix]
    count = len(rows)
    wide = [
        row + [1.0 if place == column else 0.0 for column in range(count)]
        for place, row in enumerate(rows)
    ]
    for place in range(count):
        pivot = wide[place][place]
        wide[place] = [value / pivot for value in wide[place]]
        for other in range(count):
            factor = wide[other][place]
            if other != place and factor:
                wide[other] = [
                    a - factor * b for a, b in zip(wide[other], wide[place], strict=True)
                ]
    return [row[count:] for row in wide]
