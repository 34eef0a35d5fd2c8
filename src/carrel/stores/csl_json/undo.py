"""Undoing one change of a library, and restoring one reference: what they said before."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace

from carrel.rooms.references.errors import ChangeNotUndoableError
from carrel.rooms.references.items import is_renamed, under_present_key
from carrel.stores.csl_json.chunked_list import ChunkedList
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.element_keys import (
    ElementKey,
    content_digest,
    entries_by_key,
)
from carrel.stores.csl_json.element_labels import ElementLabels
from carrel.stores.csl_json.ledger import OldContent, Revision
from carrel.stores.csl_json.library_entry import LibraryEntry


def find_revision(revisions: Sequence[Revision], number: int | None) -> Revision | None:
    """The change of that number, or the last one that wrote or removed something."""
    for revision in reversed(revisions):
        if not (revision.written or revision.removed):
            continue
        if number is None or revision.number == number:
            return revision
    return None


def find_changed_since(
    present: LibraryDocument, revisions: Sequence[Revision], numbers: Collection[int]
) -> dict[int, list[ElementKey]]:
    """The elements of each of these changes that say something else by now; only where any does.

    One that was changed later and says the same again, as after an undo, is as the change left it.
    """
    entries: dict[ElementKey, LibraryEntry] = {}
    # What an element said before the earliest of the revisions that were passed already.
    left: dict[ElementKey, str | OldContent | None] = {}
    found: dict[int, list[ElementKey]] = {}
    for revision in reversed(revisions):
        keys = [*revision.written, *revision.removed]
        later = [key for key in keys if key in left] if revision.number in numbers else []
        if later and not entries:
            entries = entries_by_key(present.entries)
        changed = [key for key in later if not _says(entries.get(key), left[key])]
        if changed:
            found[revision.number] = changed
        left.update((key, revision.before.get(key)) for key in keys)
    return found


def _says(entry: LibraryEntry | None, content: str | OldContent | None) -> bool:
    """Whether an element says this; None is one that is absent."""
    if entry is None or content is None:
        return entry is None and content is None
    if isinstance(content, OldContent):
        return content.digest == content_digest(entry.value)
    return content == entry.raw or json.loads(content) == entry.value


def undo_revision(
    present: LibraryDocument, revisions: Sequence[Revision], undone: Revision
) -> LibraryDocument:
    """The library without one change; what was removed comes back at the end.

    Raises ChangeNotUndoableError.
    """
    keys: list[ElementKey] = [*undone.written, *undone.removed]
    names = ElementLabels(present, revisions)
    changed = find_changed_since(present, revisions, [undone.number])
    if changed:
        labels = [names.label(key) for key in changed[undone.number]]
        raise ChangeNotUndoableError(undone.number, labels, "were changed again since")
    texts = {key: undone.before.get(key) for key in keys}
    lost = [
        names.label(key)
        for key, text in texts.items()
        if text is not None and not isinstance(text, str)
    ]
    if lost:
        raise ChangeNotUndoableError(undone.number, lost, "said something that is no longer kept")
    places = {id(entry): key for key, entry in entries_by_key(present.entries).items()}
    entries: list[LibraryEntry] = []
    for entry in present.entries:
        key = places[id(entry)]
        if key not in texts:
            entries.append(entry)
        elif isinstance(text := texts.pop(key), str):
            entries.append(replace(entry, raw=text))
    entries += [LibraryEntry("\n  ", text) for text in texts.values() if isinstance(text, str)]
    tail = present.tail if present.entries else "\n" + present.tail.lstrip()
    return LibraryDocument(ChunkedList(entries), present.head, tail)


def restore_text(present: LibraryDocument, reference_id: str, raw: str) -> LibraryDocument:
    """The library in which a reference says this again, under its key of today; else at the end."""
    entry = present.get(reference_id)
    if entry is not None:
        return present.with_entry(reference_id, replace(entry, raw=raw))
    past = json.loads(raw)
    for holder in present.entries if isinstance(past, dict) else ():
        item = holder.parse_value() if '"former_ids"' in holder.raw else None
        if isinstance(item, dict) and is_renamed(reference_id, past, item):
            kept = under_present_key(past, item)
            text = LibraryEntry(holder.lead, raw)
            own = {name: kept[name] for name in ("id", "custom")}
            return present.with_entry(kept["id"], text.with_changes(own))
    return present.with_entries_added([LibraryEntry("\n  ", raw)])
