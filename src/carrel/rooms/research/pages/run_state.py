"""The state of a run as the console shows it: badges, and what a browser follows."""

from __future__ import annotations

from collections.abc import Mapping

from carrel.rooms.research.models import ResearchStatus

GOING_ON = frozenset({"initializing", "active"})
_KINDS = {
    "held": "warn",
    "initializing": "info",
    "active": "info",
    "paused": "warn",
    "completed": "good",
    "cancelled": "plain",
    "failed": "danger",
}
_SIGNS = {"held": "warn", "paused": "clock", "completed": "check", "failed": "warn"}
_APPROVALS = {
    "approved": ("good", "check"),
    "rejected": ("danger", "cross"),
}


def is_over(status: ResearchStatus) -> bool:
    """Whether nothing changes until a person does something."""
    is_assistants = status.mind == "assistant" and status.status == "active"
    return status.status not in GOING_ON and not is_assistants


def summarise_status(status: ResearchStatus) -> Mapping[str, object]:
    """What a browser needs of a state; the words are its page's."""
    return {
        "status": status.status,
        "stage": status.stage or "",
        "percent": round(100 * status.progress),
        "hypotheses": status.hypotheses_generated,
        "reviewed": status.hypotheses_reviewed,
        "matches": status.matches_played,
        "minutes": status.estimated_completion_minutes,
        "changed": status.last_update,
        "problem": status.problem or "",
    }


def status_badge(status: str) -> tuple[str, str]:
    """The kind and the sign of a badge for a project's status."""
    return _KINDS.get(status, "plain"), _SIGNS.get(status, "")


def approval_badge(approval: str) -> tuple[str, str]:
    return _APPROVALS.get(approval, ("plain", ""))
