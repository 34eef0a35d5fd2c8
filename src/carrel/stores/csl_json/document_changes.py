"""Which elements two states of a library do not share."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.stores.csl_json.chunked_list import common_ends
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.element_keys import ElementKey, content_digest, entries_by_key
from carrel.stores.csl_json.library_entry import LibraryEntry


def changed_entries(
    before: LibraryDocument, after: LibraryDocument
) -> tuple[dict[ElementKey, LibraryEntry], dict[ElementKey, LibraryEntry]]:
    """Elements that only `before` has, and those that only `after` has."""
    if before is after:
        return {}, {}
    first, last = common_ends(before.entries, after.entries)
    older = before.entries[first : len(before.entries) - last]
    newer = after.entries[first : len(after.entries) - last]
    old, new = {id(entry) for entry in older}, {id(entry) for entry in newer}
    former, present = (
        [entry for entry in older if id(entry) not in new],
        [each for each in newer if id(each) not in old],
    )
    left, right = _keys_in(before, former), _keys_in(after, present)
    same = {key for key, entry in left.items() if key in right and is_same(entry, right[key])}
    return (
        {key: entry for key, entry in left.items() if key not in same},
        {key: entry for key, entry in right.items() if key not in same},
    )


def is_same(one: LibraryEntry, other: LibraryEntry) -> bool:
    """Whether two entries say the same."""
    return one.raw == other.raw or content_digest(one.value) == content_digest(other.value)


def _keys_in(
    document: LibraryDocument, entries: Sequence[LibraryEntry]
) -> dict[ElementKey, LibraryEntry]:
    keys: dict[ElementKey, LibraryEntry] = {}
    for entry in entries:
        item_id = entry.item_id
        if item_id is None or document.get(item_id) is not entry:
            # A repeated id, or no id: its place among its likes must be counted.
            wanted = {id(each) for each in entries}
            return {
                key: each
                for key, each in entries_by_key(document.entries).items()
                if id(each) in wanted
            }
        keys[f"id:{item_id}", 0] = entry
    return keys
