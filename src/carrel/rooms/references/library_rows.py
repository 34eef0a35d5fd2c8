"""References as lines of a table: what each shows, and the values by which they are sorted."""

from __future__ import annotations

from collections.abc import Callable

from carrel.libraries.text.folding import fold_text
from carrel.rooms.references.browsing_models import BrowsedRow
from carrel.rooms.references.items import (
    Item,
    custom,
    family,
    people,
    read_state_of,
    text_of,
    year_of,
)

SortValue = str | int

_LONGEST_SORT_TEXT = 60
# Below every year that a reference can have.
_NO_YEAR = -(10**6)
_NAMES_SHOWN = 3


def describe_row(item: Item) -> BrowsedRow:
    """A reference as a line of a table."""
    return BrowsedRow(
        id=str(item.get("id")),
        title=text_of(item, "title") or text_of(item, "shortTitle"),
        authors=short_names(item),
        year=year_of(item),
        type=text_of(item, "type") or "document",
        venue=text_of(item, "container-title") or text_of(item, "publisher"),
        added=added_at(item),
        has_fulltext=has_fulltext(item),
        read_state=read_state_of(item),
    )


def short_names(item: Item) -> str:
    """The first family names, and how many more there are."""
    everybody = list(people(item)) or list(people(item, "editor"))
    names = [family(person) for person in everybody[:_NAMES_SHOWN]]
    more = len(everybody) - len(names)
    return ", ".join(names) + (f" +{more}" if more > 0 else "")


def added_at(item: Item) -> str:
    """When it came into the library, as ISO 8601; empty where nobody wrote it down."""
    own = custom(item)
    found = own.get("created_at") or own.get("timestamp")
    return found[:_LONGEST_SORT_TEXT] if isinstance(found, str) else ""


def has_fulltext(item: Item) -> bool:
    own = custom(item)
    return bool(own.get("attachments") or own.get("fulltext"))


def _author_value(item: Item) -> str:
    names = " ".join(
        family(person) for person in [*people(item), *people(item, "editor")][:_NAMES_SHOWN]
    )
    return fold_text(names[: 2 * _LONGEST_SORT_TEXT])[:_LONGEST_SORT_TEXT]


def _title_value(item: Item) -> str:
    title = text_of(item, "title")[: 2 * _LONGEST_SORT_TEXT]
    return fold_text(title).lstrip("\"'“„«<([{… ")[:_LONGEST_SORT_TEXT]


def _year_value(item: Item) -> int:
    year = year_of(item)
    return _NO_YEAR if year is None else year


def _key_value(item: Item) -> str:
    return fold_text(str(item.get("id"))[:_LONGEST_SORT_TEXT])


SORT_VALUES: dict[str, Callable[[Item], SortValue]] = {
    "author": _author_value,
    "title": _title_value,
    "year": _year_value,
    "added": added_at,
    "key": _key_value,
}
