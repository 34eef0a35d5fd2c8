"""What tells the elements of a library apart: ids, digests of contents and of fields."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.stores.csl_json.library_entry import LibraryEntry

# An element by its id and how many of that id came before; what has no id goes by its content.
ElementKey = tuple[str, int]


_DIGEST_BYTES = 10


def content_digest(value: object) -> str:
    """A digest of the JSON value, independent of white space, escapes and field order."""
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
    """The digest of an item without its id, or None where it has nothing but a type besides."""
    if not isinstance(value, dict):
        return None
    rest = {name: found for name, found in value.items() if name != "id"}
    return content_digest(rest) if set(rest) - {"type"} else None


def uuid_of(value: object) -> str | None:
    """The identity that Carrel and others give an item, under `custom.uuid`."""
    custom = value.get("custom") if isinstance(value, dict) else None
    found = custom.get("uuid") if isinstance(custom, dict) else None
    return found if isinstance(found, str) and found else None


def name_of(entry: LibraryEntry) -> str:
    return (
        f"id:{entry.item_id}" if entry.item_id is not None else f"raw:{content_digest(entry.value)}"
    )


def element_label(key: ElementKey) -> str:
    """The id of an element, or the digest of one that has none."""
    return key[0].partition(":")[2]


def entries_by_key(entries: Sequence[LibraryEntry]) -> dict[ElementKey, LibraryEntry]:
    seen: Counter[str] = Counter()
    keyed: dict[ElementKey, LibraryEntry] = {}
    for entry in entries:
        name = name_of(entry)
        keyed[name, seen[name]] = entry
        seen[name] += 1
    return keyed


def as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
