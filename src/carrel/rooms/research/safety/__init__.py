"""Safety: goals and hypotheses are read for what they wish done, and every decision says what
weighed.
"""

from carrel.rooms.research.safety.check import (
    SafetyDecision,
    check_goal,
    check_hypothesis,
    safety_score,
)

__all__ = ["SafetyDecision", "check_goal", "check_hypothesis", "safety_score"]
