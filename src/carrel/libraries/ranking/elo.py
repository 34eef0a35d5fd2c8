"""Elo ratings as the specification shows them: from 1000, in floats, so that no point is ever
lost.
"""

from collections.abc import Iterable

START = 1000.0
STEP = 32.0


class EloRatings:
    """Ratings that exchange points after every match and conserve their sum."""

    def __init__(self, ids: Iterable[str] = (), start: float = START, step: float = STEP) -> None:
        self._start = start
        self._step = step
        self._ratings = dict.fromkeys(ids, start)

    def add(self, id: str, rating: float | None = None) -> None:
        """Let one in, at the start or with the rating it brings."""
        self._ratings.setdefault(id, self._start if rating is None else rating)

    def __getitem__(self, id: str) -> float:
        return self._ratings[id]

    def as_dict(self) -> dict[str, float]:
        """All ratings."""
        return dict(self._ratings)

    def expected(self, one: str, other: str) -> float:
        """The share of points one should take from the other."""
        return float(1.0 / (1.0 + 10.0 ** ((self._ratings[other] - self._ratings[one]) / 400.0)))

    def record(self, one: str, other: str, score: float) -> float:
        """Settle a match: score is 1 for a win of the first, 0 for a loss, 0.5 for a draw. The
        points that changed hands.
        """
        moved = self._step * (score - self.expected(one, other))
        self._ratings[one] += moved
        self._ratings[other] -= moved
        return moved
