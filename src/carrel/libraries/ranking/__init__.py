"""Tournaments with a judge: who meets whom, Elo, and Bradley-Terry strengths from the verdicts."""

from carrel.libraries.ranking.pairing import LEAST_OPPONENTS, Closeness, Judging
from carrel.libraries.ranking.strengths import Comparison, Evidence, Margin, Strength, Strengths
from carrel.libraries.ranking.tournament import (
    Convergence,
    EloRatings,
    Match,
    PlayedMatch,
    Standing,
    Tournament,
    Verdict,
)

__all__ = [
    "LEAST_OPPONENTS",
    "Closeness",
    "Comparison",
    "Convergence",
    "EloRatings",
    "Evidence",
    "Judging",
    "Margin",
    "Match",
    "PlayedMatch",
    "Standing",
    "Strength",
    "Strengths",
    "Tournament",
    "Verdict",
]
