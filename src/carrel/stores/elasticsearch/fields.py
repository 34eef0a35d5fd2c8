"""Fields of our own in every index of a cluster, and the types of those that searches name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.rooms.knowledge.documents import FieldKind

READERS = "carrel_readers"
# Sorts what scores alike, so that the order of writing, which others share in, does not show.
DOCUMENT_ID = "carrel_id"
# Tells what is already there when a source sends everything anew.
DIGEST = "carrel_digest"
# What papers are read from where there is no corpus.
HELD = "carrel_held"
_TYPES: dict[FieldKind, dict[str, Any]] = {
    "text": {
        "type": "text",
        "analyzer": "carrel",
        "fields": {"keyword": {"type": "keyword", "ignore_above": 256}},
    },
    "keyword": {"type": "keyword", "ignore_above": 256},
    "number": {"type": "double"},
    "date": {"type": "date"},
    "boolean": {"type": "boolean"},
    "words": {"type": "text", "analyzer": "carrel_words"},
}


def field_types(fields: Mapping[str, FieldKind]) -> dict[str, dict[str, Any]]:
    """The mapping of these fields."""
    return {name: _TYPES[kind] for name, kind in fields.items()}
