"""Tournaments between hypotheses: who meets whom, and what the verdicts say."""

from carrel.rooms.research.ranking.elo import EloRatings
from carrel.rooms.research.ranking.strengths import Strength, Strengths
from carrel.rooms.research.ranking.tournament import Convergence, Match, Played, Standing, Tournament, Verdict

__all__ = ["Convergence", "EloRatings", "Match", "Played", "Standing", "Strength", "Strengths", "Tournament", "Verdict"]
