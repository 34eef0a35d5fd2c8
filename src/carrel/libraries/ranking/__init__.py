"""Tournaments between hypotheses: who meets whom, and what the verdicts say."""

from carrel.libraries.ranking.elo import EloRatings
from carrel.libraries.ranking.pairing import LEAST_OPPONENTS, Judging
from carrel.libraries.ranking.strengths import Strength, Strengths
from carrel.libraries.ranking.table import Closeness
from carrel.libraries.ranking.tournament import (
    Convergence,
    Match,
    Played,
    Standing,
    Tournament,
    Verdict,
)

__all__ = [
    "LEAST_OPPONENTS", "Closeness", "Convergence", "EloRatings", "Judging", "Match", "Played",
    "Standing", "Strength", "Strengths",
    "Tournament", "Verdict",
]  # fmt: skip
