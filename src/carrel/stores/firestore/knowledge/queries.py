"""The questions that are put to Firestore. Each is one that the indexes we ship can answer."""

from __future__ import annotations

from collections.abc import Sequence

from google.cloud.firestore_v1.async_collection import AsyncCollectionReference
from google.cloud.firestore_v1.async_query import AsyncQuery
from google.cloud.firestore_v1.base_query import And, BaseCompositeFilter, FieldFilter

from carrel.rooms.knowledge.notes import (
    LAST_CHARACTER,
    Mine,
    MineAndTeam,
    Order,
    Proposals,
    Shelf,
    Team,
)

Place = tuple[FieldFilter, ...]
_NEWEST = "DESCENDING"


def places(shelf: Shelf) -> list[Place]:
    """What a shelf means as conditions on documents; a shelf of several places is asked place by
    place.
    """
    match shelf:
        case Mine(user_id):
            return [_personal(user_id)]
        case Team():
            return [_TEAM]
        case MineAndTeam(user_id):
            return [
                (*_personal(user_id), FieldFilter("status", "in", ["draft", "proposed"])),
                _TEAM,
            ]
        case Proposals():
            return [
                (FieldFilter("source", "==", "personal"), FieldFilter("status", "==", "proposed"))
            ]


_TEAM: Place = (FieldFilter("source", "==", "team"),)


def _personal(user_id: str) -> Place:
    return FieldFilter("user_id", "==", user_id), FieldFilter("source", "==", "personal")


def anything(notes: AsyncCollectionReference, place: Place) -> AsyncQuery:
    return _where(notes, place).order_by("created_at", direction=_NEWEST)


def beginning(
    notes: AsyncCollectionReference, place: Place, field: str, text: str, order: Order
) -> AsyncQuery:
    """Titles that begin so: `title_key` for notes of ours, `title` as it stands for those of other
    programs.
    """
    inside = (
        *place,
        FieldFilter(field, ">=", text),
        FieldFilter(field, "<", text + LAST_CHARACTER),
    )
    query = _where(notes, inside)
    if order == "newest":
        return query.order_by("created_at", direction=_NEWEST).order_by(field, direction=_NEWEST)
    return query.order_by(field).order_by("created_at", direction=_NEWEST)


def having(notes: AsyncCollectionReference, place: Place, field: str, value: str) -> AsyncQuery:
    """Newest first, with this value in a list: a tag, a folded tag, or a word."""
    return _where(notes, (*place, FieldFilter(field, "array_contains", value))).order_by(
        "created_at", direction=_NEWEST
    )


def titled(
    notes: AsyncCollectionReference, place: Place, field: str, titles: Sequence[str]
) -> AsyncQuery:
    return _where(notes, (*place, FieldFilter(field, "in", list(titles)))).order_by(
        "created_at", direction=_NEWEST
    )


def _where(notes: AsyncCollectionReference, conditions: Sequence[FieldFilter]) -> AsyncQuery:
    both: BaseCompositeFilter | FieldFilter = (
        And(filters=list(conditions)) if len(conditions) > 1 else conditions[0]
    )
    return notes.where(filter=both)
