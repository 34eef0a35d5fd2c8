"""Tournaments between hypotheses: who meets whom, and what the verdicts say."""

from carrel.rooms.research.ranking.elo import EloRatings
from carrel.rooms.research.ranking.pairing import LEAST_OPPONENTS, Judging
from carrel.rooms.research.ranking.strengths import Strength, Strengths
from carrel.rooms.research.ranking.table import Closeness
from carrel.rooms.research.ranking.tournament import (
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
