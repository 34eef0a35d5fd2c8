"""Safety: goals and hypotheses are read for intent, object and means, and every decision says by which rule it fell."""

from carrel.rooms.research.safety.check import SafetyDecision, check_goal, check_hypothesis, safety_score

__all__ = ["SafetyDecision", "check_goal", "check_hypothesis", "safety_score"]
