"""Logistic regression on sparse evidence, with a Gaussian prior, solved by L-BFGS; used only to
fit, never by the product.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from carrel.rooms.research.safety.evidence import Evidence

Floats = NDArray[np.float64]

_PRIOR = 0.15
_STEPS = 250
_REMEMBERED = 10


def scale(name: str) -> float:
    """How readily a feature takes weight: concepts most, words less, pairs and clauses least."""
    if name.startswith("c:"):
        return 0.4
    if name.startswith("w:"):
        return 0.6 if " " in name else 0.8
    return 0.5 if ">" in name else 1.0


def logistic(
    evidence: Sequence[Evidence],
    answers: Sequence[bool],
    counts: Sequence[float],
    names: Sequence[str],
) -> dict[str, float]:
    """A weight for each name; the one without a name is where the sum starts."""
    number = {name: place for place, name in enumerate(names)}
    columns, values, rows = [], [], []
    for row, shown in enumerate(evidence):
        for name, piece in shown.items():
            if name in number:
                columns.append(number[name])
                values.append(piece.share * scale(name))
                rows.append(row)
    column, row_of = np.array(columns), np.array(rows)
    value, y, weight = np.array(values), np.array(answers, float), np.array(counts, float)

    def slope(point: Floats) -> tuple[float, Floats]:
        scores = np.bincount(row_of, value * point[column], len(y)) + point[-1]
        miss = weight * (1 / (1 + np.exp(-scores)) - y)
        loss = float(
            (weight * (np.logaddexp(0, scores) - y * scores)).sum()
            + _PRIOR / 2 * (point[:-1] @ point[:-1])
        )
        down = np.bincount(column, value * miss[row_of], len(names)) + _PRIOR * point[:-1]
        return loss, np.append(down, miss.sum())

    found = _lowest(slope, np.zeros(len(names) + 1))
    return {name: float(found[place] * scale(name)) for name, place in number.items()} | {
        "": float(found[-1])
    }


def _lowest(slope: Callable[[Floats], tuple[float, Floats]], point: Floats) -> Floats:
    steps: list[tuple[Floats, Floats]] = []
    loss, down = slope(point)
    for _ in range(_STEPS):
        way = _way(down, steps)
        length = 1.0
        while True:
            new_loss, new_down = slope(point - length * way)
            if new_loss <= loss - 1e-4 * length * (down @ way) or length < 1e-6:
                break
            length /= 2
        step, change = -length * way, new_down - down
        point = point + step
        if step @ change > 1e-10:
            steps = [*steps, (step, change)][-_REMEMBERED:]
        if abs(loss - new_loss) < 1e-6 * abs(loss):
            break
        loss, down = new_loss, new_down
    return point


def _way(down: Floats, steps: list[tuple[Floats, Floats]]) -> Floats:
    way = down.copy()
    shares = []
    for step, change in reversed(steps):
        share = (step @ way) / (change @ step)
        shares.append(share)
        way -= share * change
    if steps:
        step, change = steps[-1]
        way *= (step @ change) / (change @ change)
    else:
        way /= max(1.0, float(np.abs(down).max()))
    for (step, change), share in zip(steps, reversed(shares), strict=True):
        way += step * (share - (change @ way) / (change @ step))
    return way
