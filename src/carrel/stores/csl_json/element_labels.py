"""The names by which people know the elements of a library."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from carrel.stores.csl_json.document import LibraryDocument, derive_key
from carrel.stores.csl_json.element_keys import ElementKey, element_label, entries_by_key
from carrel.stores.csl_json.ledger import Revision


class ElementLabels:
    """Ids; of items that have none in the file the ids under which they are, or were, found."""

    def __init__(self, present: LibraryDocument, revisions: Sequence[Revision]) -> None:
        unnamed = {
            key
            for revision in revisions
            for key in (*revision.written, *revision.removed)
            if _has_no_id(key)
        }
        self._labels = _label_unnamed(present, revisions) if unnamed else {}

    def label(self, key: ElementKey) -> str:
        """The id of an element, or the digest of one whose content nobody has any more."""
        return self._labels.get(key) or element_label(key)


def _has_no_id(key: ElementKey) -> bool:
    return key[0].startswith("raw:")


def _label_unnamed(
    present: LibraryDocument, revisions: Sequence[Revision]
) -> Mapping[ElementKey, str]:
    labels: dict[ElementKey, str] = {}
    for revision in revisions:
        for key, content in revision.before.items():
            value = json.loads(content) if _has_no_id(key) and isinstance(content, str) else None
            if isinstance(value, dict):
                labels[key] = derive_key(value)
    keys = {id(entry): key for key, entry in entries_by_key(present.entries).items()}
    labels.update((keys[id(entry)], derived) for entry, derived in present.derived_ids())
    return labels
