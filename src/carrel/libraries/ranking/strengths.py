"""Bradley-Terry strengths with priors, graded verdicts and a position term, as a Gaussian."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, inf, sqrt
from typing import Literal

PRIOR_SPREAD = 1.5
"""Before any match, strengths are taken to lie this far apart (in log-odds of winning)."""

REVIEW_SLOPE, REVIEW_SLOPE_SPREAD = 0.6, 0.5
"""What one standard deviation of the reviewers' scores adds to a strength before any match, and how
uncertain that is: verdicts that agree with the reviews raise it, others lower it. Chosen with
`make bench-ranking` on its first set of seeds.
"""

CLEAR_GAP = 1.2
"""A judge says "clear" where the gap that it sees exceeds this, in log-odds; the same benchmark
plays judges that say so earlier and later.
"""

DRAW_GAP = 0.5
"""A judge says "draw" where the gap that it sees is smaller than this."""

POSITION_SPREAD = 0.5
"""How far a judge is taken to favour whoever is shown first, before any match."""

NINETY_FIVE = 1.959964
_MOST_ROUNDS = 50
_CLOSE_ENOUGH = 1e-9
# Longer steps of Newton's method overshoot where a verdict contradicts all that was known.
_LONGEST_STEP = 1.0
_FEWEST_REVIEWED = 3
_LEAST_SCORE_SPREAD = 0.02

Margin = Literal["clear", "slight"]


@dataclass(frozen=True)
class Strength:
    """A strength in log-odds with its 95 % interval under the model."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """A verdict on two places in the order shown: 1, 0 or 0.5 for the first, with its margin."""

    first: int
    second: int
    score: float
    margin: Margin | None = None

    @property
    def gap(self) -> tuple[float, float]:
        """Between which bounds the gap lay that the judge saw, in favour of the first."""
        if self.score == 0.5:
            return -DRAW_GAP, DRAW_GAP
        low, high = {"clear": (CLEAR_GAP, inf), "slight": (0.0, CLEAR_GAP)}.get(
            self.margin or "", (0.0, inf)
        )
        return (low, high) if self.score == 1 else (-high, -low)


@dataclass(frozen=True)
class Evidence:
    """What is known of strengths beside matches, by place.

    `review_scores` are reviewers' means on any scale; `offsets` are log-odds that people's words
    count for.
    """

    review_scores: Mapping[int, float] = field(default_factory=dict)
    offsets: Mapping[int, float] = field(default_factory=dict)

    def standard_scores(self, count: int) -> list[float]:
        """The review scores in standard deviations from their mean; 0 where there is none."""
        known = list(self.review_scores.values())
        if len(known) < _FEWEST_REVIEWED:
            return [0.0] * count
        mean = sum(known) / len(known)
        spread = sqrt(sum((score - mean) ** 2 for score in known) / len(known))
        if spread < _LEAST_SCORE_SPREAD:
            return [0.0] * count
        return [
            (self.review_scores[place] - mean) / spread if place in self.review_scores else 0.0
            for place in range(count)
        ]


class Strengths:
    """Means and covariances of all strengths, updated by each verdict, settled by all.

    The last row and column of the covariance are the judge's leaning to whoever is shown first.
    """

    def __init__(self, count: int, evidence: Evidence | None = None) -> None:
        evidence = evidence or Evidence()
        scores = evidence.standard_scores(count)
        self._prior_means = [
            REVIEW_SLOPE * score + evidence.offsets.get(place, 0.0)
            for place, score in enumerate(scores)
        ] + [0.0]
        self._prior = [
            [
                REVIEW_SLOPE_SPREAD**2 * one * other + (PRIOR_SPREAD**2 if row == column else 0.0)
                for column, other in enumerate(scores)
            ]
            + [0.0]
            for row, one in enumerate(scores)
        ]
        self._prior.append([0.0] * count + [POSITION_SPREAD**2])
        self._means = list(self._prior_means)
        self.covariance = [list(row) for row in self._prior]

    @property
    def means(self) -> list[float]:
        """The strengths, without the leaning to the first shown."""
        return self._means[:-1]

    @property
    def first_shown(self) -> float:
        """The judge's leaning to whoever is shown first, in log-odds."""
        return self._means[-1]

    def chance(self, one: int, other: int) -> float:
        """The probability that the first beats the second, whoever is shown first."""
        return _logistic(self._means[one] - self._means[other])

    def variance_between(self, one: int, other: int) -> float:
        """The variance of the difference of two strengths."""
        covariance = self.covariance
        return covariance[one][one] + covariance[other][other] - 2 * covariance[one][other]

    def learn(self, comparison: Comparison) -> None:
        """Updates with one verdict: a Newton step and a rank-one change of the covariance."""
        one, other = comparison.first, comparison.second
        covariance = self.covariance
        toward = [
            a - b + c
            for a, b, c in zip(covariance[one], covariance[other], covariance[-1], strict=True)
        ]
        between = toward[one] - toward[other] + toward[-1]
        before = self._gap(comparison)
        after = _settled(before, between, comparison.gap)
        sharpness = _slope_and_sharpness(after, comparison.gap)[1]
        gain = (after - before) / between if between > 0 else 0.0
        shrink = sharpness / (1 + sharpness * between)
        self._means = [mean + gain * step for mean, step in zip(self._means, toward, strict=True)]
        for row, step in zip(covariance, toward, strict=True):
            if step:
                factor = shrink * step
                for column, other_step in enumerate(toward):
                    row[column] -= factor * other_step

    def settle(self, comparisons: Sequence[Comparison]) -> None:
        """Fit the strengths to all verdicts at once, independent of their order."""
        prior_precision = _inverse(self._prior)
        for _ in range(_MOST_ROUNDS):
            away = [
                mean - prior for mean, prior in zip(self._means, self._prior_means, strict=True)
            ]
            precision = [list(row) for row in prior_precision]
            slopes = [
                -sum(a * b for a, b in zip(row, away, strict=True)) for row in prior_precision
            ]
            for each in comparisons:
                slope, sharpness = _slope_and_sharpness(self._gap(each), each.gap)
                signed = ((each.first, 1.0), (each.second, -1.0), (-1, 1.0))
                for row, sign in signed:
                    slopes[row] += sign * slope
                    for column, other_sign in signed:
                        precision[row][column] += sign * other_sign * sharpness
            self.covariance = _inverse(precision)
            moves = [
                sum(a * b for a, b in zip(row, slopes, strict=True)) for row in self.covariance
            ]
            furthest = max(map(abs, moves))
            damping = min(1.0, _LONGEST_STEP / furthest) if furthest else 1.0
            self._means = [
                mean + damping * move for mean, move in zip(self._means, moves, strict=True)
            ]
            if furthest < _CLOSE_ENOUGH:
                break

    def strength(self, number: int) -> Strength:
        """One strength with its interval."""
        width = NINETY_FIVE * sqrt(max(self.covariance[number][number], 0.0))
        mean = self._means[number]
        return Strength(mean, mean - width, mean + width)

    def _gap(self, comparison: Comparison) -> float:
        means = self._means
        return means[comparison.first] - means[comparison.second] + means[-1]


def _slope_and_sharpness(expected: float, gap: tuple[float, float]) -> tuple[float, float]:
    """How a verdict pulls at the expected gap, and how sharply: logistic noise, cut at bounds."""
    low, high = _logistic(gap[0] - expected), _logistic(gap[1] - expected)
    return high + low - 1.0, low * (1 - low) + high * (1 - high)


def _settled(before: float, between: float, gap: tuple[float, float]) -> float:
    # The difference where the pull of the verdict and that of what was known before balance.
    difference = before
    for _ in range(_MOST_ROUNDS):
        pull, sharpness = _slope_and_sharpness(difference, gap)
        slope = between * pull - (difference - before)
        step = slope / (1 + between * sharpness)
        difference += max(-_LONGEST_STEP, min(_LONGEST_STEP, step))
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


def cholesky_factor(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """The lower triangle whose product with its transpose is the covariance given."""
    lower: list[list[float]] = []
    for place, row in enumerate(matrix):
        own: list[float] = []
        for column in range(place):
            above = lower[column]
            left = row[column] - sum(a * b for a, b in zip(own, above, strict=False))
            own.append(left / above[column])
        own.append(sqrt(max(row[place] - sum(value * value for value in own), _CLOSE_ENOUGH)))
        lower.append(own)
    return lower
