"""Several references of one work made into one: whose value each field takes, and what is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from carrel.core.errors import InvalidInputError
from carrel.rooms.references.former_ids import with_former_ids
from carrel.rooms.references.items import Item, custom, former_ids, keywords, text_of

# What is not chosen by field: it is joined, or belongs to one reference alone.
_JOINED = frozenset({"id", "custom", "keyword", "note"})
_OF_ONE = frozenset({"uuid", "created_at", "timestamp", "attachments", "fulltext", "former_ids"})


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """A field on which references differ: each one's value, and whose is taken."""

    field: str
    taken_from: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MergePlan:
    """The merged reference under the kept key, and the fields that were chosen among."""

    item: Item
    choices: tuple[FieldChoice, ...]


def plan_merge(kept: Item, others: Sequence[Item], chosen: Mapping[str, str]) -> MergePlan:
    """The kept reference's own value goes first, unless `chosen` names another's for the field.

    Tags, keywords, notes, addresses and lists of `custom` are those of all. Raises
    InvalidInputError for a choice of a field or reference that is not there.
    """
    by_id = {text_of(item, "id"): item for item in (kept, *others)}
    _check_choices(by_id, chosen)
    merged: Item = dict(kept)
    choices: list[FieldChoice] = []
    for field in dict.fromkeys(name for item in by_id.values() for name in item):
        if field in _JOINED:
            continue
        values = {name: item[field] for name, item in by_id.items() if _says(item.get(field))}
        if not values:
            continue
        taken_from = chosen.get(field) or next(iter(values))
        merged[field] = values[taken_from]
        if (
            len(values) > 1 and any(each != merged[field] for each in values.values())
        ) or taken_from != text_of(kept, "id"):
            choices.append(FieldChoice(field, taken_from, values))
    _join(merged, list(by_id.values()))
    return MergePlan(merged, tuple(choices))


def _check_choices(by_id: Mapping[str, Item], chosen: Mapping[str, str]) -> None:
    for field, reference_id in chosen.items():
        if reference_id not in by_id:
            raise InvalidInputError(
                f"{field} cannot be taken from {reference_id}, which is not merged",
                next_step=f"Name one of: {', '.join(by_id)}.",
            )
        if field in _JOINED or not _says(by_id[reference_id].get(field)):
            raise InvalidInputError(
                f"{reference_id} has no field {field} to choose",
                next_step="Leave it out; a dry run shows the fields that differ.",
            )


def _says(value: object) -> bool:
    return value is not None and value not in ("", [], {})


def _join(merged: Item, items: Sequence[Item]) -> None:
    """Put what is kept of all references into the merged one."""
    words = list(dict.fromkeys(word for item in items for word in keywords(item)))
    if words and words != keywords(merged):
        merged["keyword"] = "; ".join(words)
    note = _join_notes(text_of(item, "note") for item in items)
    if note and note != text_of(merged, "note"):
        merged["note"] = note
    own: dict[str, Any] = dict(custom(items[0]))
    for item in items[1:]:
        others = {name: value for name, value in custom(item).items() if name not in _OF_ONE}
        own = _join_values(own, others)
    addresses = [text_of(item, "URL") for item in items]
    more = [url for url in dict.fromkeys(addresses) if url and url != text_of(merged, "URL")]
    if more:
        known = own.get("additional_urls")
        listed = known if isinstance(known, list) else []
        own["additional_urls"] = list(dict.fromkeys([*listed, *more]))
    former = [key for item in items for key in (text_of(item, "id"), *former_ids(item))]
    merged["custom"] = with_former_ids({**merged, "custom": own}, former)


def _join_notes(notes: Iterable[str]) -> str:
    joined: list[str] = []
    for note in notes:
        if note.strip() and not any(note.strip() in each for each in joined):
            joined.append(note.strip())
    return "\n\n".join(joined)


def _join_values(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of both, objects field by field, and otherwise the first's value."""
    joined = dict(one)
    for name, value in other.items():
        present = joined.get(name)
        if not _says(present):
            joined[name] = value
        elif isinstance(present, list) and isinstance(value, list):
            joined[name] = [*present, *(each for each in value if each not in present)]
        elif isinstance(present, dict) and isinstance(value, dict):
            joined[name] = _join_values(present, value)
    return joined
