"""Collections, tags and read states beside the table of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from carrel.core.pages import PageRequest
from carrel.rooms.references.organizing_models import ReferenceGroups
from carrel.rooms.references.pages.library_filters import LibraryFilters

# What stands beside the table; the page of groups has all.
_COLLECTIONS_SHOWN = 100
_TAGS_SHOWN = 24
_DEEPEST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One line of a facet; a collection is moved in by its depth."""

    label: str
    count: int
    path: str
    is_on: bool
    depth: int = 0


@dataclass(frozen=True, slots=True)
class GroupRows:
    """The facets of groups; the numbers say whether there are more than are shown."""

    collections: Sequence[GroupRow] = ()
    tags: Sequence[GroupRow] = ()
    states: Sequence[GroupRow] = ()
    has_more: bool = False


async def list_group_rows(request: PageRequest, filters: LibraryFilters) -> GroupRows:
    collections: ReferenceGroups = await request.ask(
        "list_reference_groups", kind="collections", limit=_COLLECTIONS_SHOWN
    )
    tags: ReferenceGroups = await request.ask(
        "list_reference_groups", kind="tags", limit=_TAGS_SHOWN
    )
    states: ReferenceGroups = await request.ask("list_reference_groups", kind="read_states")
    return GroupRows(
        collections=[
            GroupRow(
                row.name.rpartition("/")[2],
                row.count,
                replace(
                    filters, collection="" if row.name == filters.collection else row.name
                ).address(),
                row.name == filters.collection,
                min(row.name.count("/"), _DEEPEST_SHOWN),
            )
            for row in collections.groups
        ],
        tags=[
            GroupRow(
                row.name,
                row.count,
                replace(filters, tag="" if row.name == filters.tag else row.name).address(),
                row.name == filters.tag,
            )
            for row in tags.groups
        ],
        states=[
            GroupRow(
                request.translate(f"references.read.{row.name}"),
                row.count,
                replace(
                    filters, read_state="" if row.name == filters.read_state else row.name
                ).address(),
                row.name == filters.read_state,
            )
            for row in states.groups
        ],
        has_more=collections.total > len(collections.groups) or tags.total > len(tags.groups),
    )
