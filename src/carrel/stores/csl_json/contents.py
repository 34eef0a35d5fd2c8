"""What an element of the library says, apart from how it is spelled: used to compare versions and
to tell elements apart.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.stores.csl_json.document import Document, Entry

# An element by its id and how many of that id came before; what has no id goes by its content.
Key = tuple[str, int]
_DIGEST_BYTES = 10


def content_digest(value: object) -> str:
    """The same for the same JSON value, whatever its white space, escapes or order of fields."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def field_digests(value: object) -> dict[str, str]:
    """The fields of an item by name; an element that is no object has none."""
    return (
        {name: content_digest(found) for name, found in value.items()}
        if isinstance(value, dict)
        else {}
    )


def digest_without_id(value: object) -> str | None:
    """The digest of what identifies an item besides its id, or None where there is nothing but id
    and type.
    """
    if not isinstance(value, dict):
        return None
    rest = {name: found for name, found in value.items() if name != "id"}
    return content_digest(rest) if set(rest) - {"type"} else None


def uuid_of(value: object) -> str | None:
    """The identity that Carrel and others give an item, under `custom.uuid`."""
    custom = value.get("custom") if isinstance(value, dict) else None
    found = custom.get("uuid") if isinstance(custom, dict) else None
    return found if isinstance(found, str) and found else None


def name_of(entry: Entry) -> str:
    return (
        f"id:{entry.item_id}" if entry.item_id is not None else f"raw:{content_digest(entry.value)}"
    )


def entries_by_key(entries: Sequence[Entry]) -> dict[Key, Entry]:
    seen: Counter[str] = Counter()
    keyed: dict[Key, Entry] = {}
    for entry in entries:
        name = name_of(entry)
        keyed[name, seen[name]] = entry
        seen[name] += 1
    return keyed


def changed_entries(before: Document, after: Document) -> tuple[dict[Key, Entry], dict[Key, Entry]]:
    """Elements that only the former has, and those that only the latter has. Costs little where
    they share their entries.
    """
    if before is after:
        return {}, {}
    old, new = {id(entry) for entry in before.entries}, {id(entry) for entry in after.entries}
    gone, come = (
        [entry for entry in before.entries if id(entry) not in new],
        [each for each in after.entries if id(each) not in old],
    )
    left, right = _keys_in(before, gone), _keys_in(after, come)
    same = {key for key, entry in left.items() if key in right and is_same(entry, right[key])}
    return (
        {key: entry for key, entry in left.items() if key not in same},
        {key: entry for key, entry in right.items() if key not in same},
    )


def is_same(one: Entry, other: Entry) -> bool:
    """Whether two entries say the same."""
    return one.raw == other.raw or content_digest(one.value) == content_digest(other.value)


def _keys_in(document: Document, entries: Sequence[Entry]) -> dict[Key, Entry]:
    keys: dict[Key, Entry] = {}
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


def as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
