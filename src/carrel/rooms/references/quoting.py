"""Which references the answers of the room quote: their fields came from services, publishers and
files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Caller
from carrel.core.quoting import QuotedSource
from carrel.rooms.references.models import (
    AddedReferences,
    Fulltext,
    OneReference,
    References,
    RemovedReference,
)

WHOLE_LIBRARY = QuotedSource("library", "references")


def quoted_references(
    arguments: Mapping[str, Any],
    answer: References | OneReference | RemovedReference,
    caller: Caller,
) -> Iterable[QuotedSource]:
    match answer:
        case References(references=None):
            return [WHOLE_LIBRARY]
        case References(references=list() as items):
            return [reference_source(item) for item in items]
        case OneReference(reference=item) | RemovedReference(removed=item):
            return [reference_source(item)]
    return []


def quoted_additions(
    arguments: Mapping[str, Any], answer: AddedReferences, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("reference", added.id, added.title) for added in answer.added]


def quoted_by_ids(
    arguments: Mapping[str, Any], answer: object, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("reference", str(name)) for name in arguments["ids"]]


def quoted_fulltext(
    arguments: Mapping[str, Any], answer: Fulltext, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("reference", answer.id)] if answer.markdown is not None else []


def quoted_library(
    arguments: Mapping[str, Any], answer: object, caller: Caller
) -> Iterable[QuotedSource]:
    return [WHOLE_LIBRARY]


def quoted_reference(
    variables: Mapping[str, str], answer: Text, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("reference", variables["id"])]


def reference_source(item: Mapping[str, Any]) -> QuotedSource:
    title = item.get("title")
    return QuotedSource(
        "reference", str(item.get("id", "")), title if isinstance(title, str) else None
    )
