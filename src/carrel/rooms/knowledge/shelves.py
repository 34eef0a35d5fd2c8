"""Where notes stand, as the one text that SQL stores index by, and how a hit is scored."""

from __future__ import annotations

from collections.abc import Callable

from carrel.rooms.knowledge.notes import (
    EXACT_TITLE_SCORE,
    TITLE_PREFIX_SCORE,
    Mine,
    MineAndTeam,
    Note,
    Order,
    Proposals,
    Shelf,
    Team,
)
from carrel.rooms.knowledge.words import folded

TEAM_SHELF = "team"
PROPOSALS_FROM, PROPOSALS_BELOW = "proposed:", "proposed;"
# The end of every range of titles that begin alike: no text has this character.
LAST_CHARACTER = "\U0010ffff"
_BEST_TEXT_SCORE = 0.8
_PLACES = {"draft": "open", "proposed": "proposed", "promoted": "done"}


def shelf_of(note: Note) -> str:
    """With the team, or with its author as open, proposed or done."""
    return TEAM_SHELF if note.source == "team" else f"{_PLACES[note.status]}:{note.user_id}"


def shelf_names(shelf: Shelf) -> tuple[str, ...] | None:
    """The places to look at; None for all proposals, which are a range of places."""
    match shelf:
        case Mine(user_id):
            return (f"open:{user_id}", f"proposed:{user_id}", f"done:{user_id}")
        case Team():
            return (TEAM_SHELF,)
        case MineAndTeam(user_id):
            return (f"open:{user_id}", f"proposed:{user_id}", TEAM_SHELF)
        case Proposals():
            return None


def title_score(note: Note, text: str) -> float:
    return EXACT_TITLE_SCORE if folded(note.title) == text else TITLE_PREFIX_SCORE


def text_score(rank: float) -> float:
    """A rank without bounds as a score below what a tag is worth."""
    rank = max(rank, 0.0)
    return _BEST_TEXT_SCORE * (0.5 + 0.5 * rank / (1.0 + rank))


def sorting(order: Order) -> Callable[[Note], tuple[object, ...]]:
    """The key by which lists of several places are merged."""
    if order == "newest":
        return lambda note: (-note.created_at.timestamp(), folded(note.title))
    return lambda note: (folded(note.title), -note.created_at.timestamp())
