"""What a ranking of candidates is worth: AUC, precision of the first ten, intervals over starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

FIRST = 10
DRAWS = 2000
SEED = 56
PENALTY = 1e-4
STEPS = 40


@dataclass(frozen=True)
class StartScore:
    """One start: AUC, share of the first ten that came true, and how many papers these have."""

    area: float
    precision: float
    papers: float


def score_start(scores: Numbers, is_found: Flags, uses: Numbers) -> StartScore:
    """How a ranking does for one start; equal scores count as drawn by lot."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    cut = ordered[min(FIRST, len(ordered)) - 1]
    above, tied = order[ordered > cut], order[ordered == cut]
    left = (min(FIRST, len(ordered)) - len(above)) / len(tied)

    def first(values: Numbers) -> float:
        return float((values[above].sum() + left * values[tied].sum()) / FIRST)

    return StartScore(_area(scores, is_found), first(is_found.astype(float)), first(uses))


def _area(scores: Numbers, is_found: Flags) -> float:
    bad = np.sort(scores[~is_found])
    good = scores[is_found]
    below = np.searchsorted(bad, good, "left") + np.searchsorted(bad, good, "right")
    return float(below.mean() / 2 / len(bad))


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean and its 95 % interval, by drawing starts again."""
    own = np.array(values)
    drawn = np.random.default_rng(SEED).integers(0, len(own), (DRAWS, len(own)))
    low, high = np.quantile(own[drawn].mean(axis=1), (0.025, 0.975))
    return float(own.mean()), float(low), float(high)


def fit_logistic(rows: Numbers, is_found: Flags) -> Numbers:
    """Weights of a logistic regression in which finds and the rest count alike, without constant.

    Measures are scaled to spread one for the penalty; the weights are for the unscaled ones.
    """
    spread = rows.std(axis=0) + 1e-9
    scaled = np.column_stack([(rows - rows.mean(axis=0)) / spread, np.ones(len(rows))])
    counts = np.where(is_found, 0.5 / is_found.sum(), 0.5 / (~is_found).sum())
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(scaled @ weights, -30, 30)))
        slope = scaled.T @ (counts * (is_found - chance)) - PENALTY * weights
        bend = (scaled * (counts * chance * (1 - chance))[:, None]).T @ scaled
        step = np.linalg.solve(bend + PENALTY * np.eye(len(weights)), slope)
        weights += step
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(weights[:-1] / spread)
