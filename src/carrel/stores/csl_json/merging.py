"""Three-way merge of libraries, item by item and, where both sides changed an item, field by field. Nothing is dropped silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from carrel.stores.csl_json.document import Document, Entry, object_fields, object_text

Key = tuple[str, int]


def merge(base: Document, ours: Document, theirs: Document) -> Document:
    """What both sides wanted, from where they parted. Where both changed one field, ours stays: it was promised to somebody."""
    before, mine, yours = _keyed(base.entries), _keyed(ours.entries), _keyed(theirs.entries)
    merged: list[Entry] = []
    for key, their_entry in yours.items():
        entry = _merged(before.get(key), mine.get(key), their_entry)
        if entry is not None:
            merged.append(entry)
    for key, our_entry in mine.items():
        if key not in yours:
            entry = _merged(before.get(key), our_entry, None)
            if entry is not None:
                merged.append(entry)
    if tuple(merged) == theirs.entries:
        return theirs
    tail = theirs.tail if theirs.entries or not merged else "\n" + theirs.tail.lstrip()
    return Document(tuple(merged), theirs.head, tail)


def distance(one: Document, other: Document) -> int:
    """How many elements differ between two versions."""
    left, right = Counter(entry.raw for entry in one.entries), Counter(entry.raw for entry in other.entries)
    return sum((left - right).values()) + sum((right - left).values())


def is_only_removals(before: Document, after: Document) -> bool:
    """Whether `after` is `before` with some elements taken out and nothing else."""
    left, right = Counter(entry.raw for entry in before.entries), Counter(entry.raw for entry in after.entries)
    return not right - left


def _keyed(entries: Sequence[Entry]) -> dict[Key, Entry]:
    """Entries by id and how many of that id came before; what has no id goes by its text."""
    seen: Counter[str] = Counter()
    keyed: dict[Key, Entry] = {}
    for entry in entries:
        name = f"id:{entry.item_id}" if entry.item_id is not None else f"raw:{entry.raw}"
        keyed[name, seen[name]] = entry
        seen[name] += 1
    return keyed


def _merged(base: Entry | None, ours: Entry | None, theirs: Entry | None) -> Entry | None:
    match base, ours, theirs:
        case None, _, None:
            return ours
        case None, None, _:
            return theirs
        case _, None, None:
            return None
        case Entry(), None, Entry():
            return theirs if theirs.raw != base.raw else None
        case Entry(), Entry(), None:
            return ours if ours.raw != base.raw else None
        case _, Entry(), Entry():
            return _both(base, ours, theirs)
        case _:
            return ours or theirs


def _both(base: Entry | None, ours: Entry, theirs: Entry) -> Entry:
    if ours.raw == theirs.raw or (base is not None and ours.raw == base.raw):
        return theirs
    if base is not None and theirs.raw == base.raw:
        return ours
    if not (isinstance(ours.value, dict) and isinstance(theirs.value, dict)):
        return ours
    before = object_fields(base.raw) if base is not None and isinstance(base.value, dict) else {}
    mine, yours = object_fields(ours.raw), object_fields(theirs.raw)
    fields: dict[str, str] = {}
    for name in (*yours, *(name for name in mine if name not in yours)):
        was, our_text, their_text = before.get(name), mine.get(name), yours.get(name)
        kept = their_text if our_text == was else our_text
        if kept is not None:
            fields[name] = kept
    return Entry(theirs.lead, object_text(fields, "    ", "  "))
