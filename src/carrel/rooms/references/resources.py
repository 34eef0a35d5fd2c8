"""The library as addresses: `library://…`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Call, Caller
from carrel.core.completion import Completion, CompletionRequest
from carrel.core.decorators import resource
from carrel.core.quoting import QuotedSource
from carrel.rooms.references.cited_items import parse_cited
from carrel.rooms.references.models import (
    AddedReferences,
    Fulltext,
    OneReference,
    References,
    RemovedReference,
)
from carrel.rooms.references.service import ReferencesRoom

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
    given = [each.get("id") if isinstance(each, dict) else each for each in arguments["ids"]]
    return [QuotedSource("reference", parse_cited(str(name)).id) for name in given]


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


READ = frozenset({"references:read"})
_MAX_ITEMS = 1000


class LibraryResources:
    """Every address of the room, as CSL-JSON or as lists of styles."""

    def __init__(self, references: ReferencesRoom) -> None:
        self._references = references

    async def complete(self, request: CompletionRequest, call: Call) -> Completion:
        if request.argument == "id":
            return await self._references.complete_ids(request.value, call)
        return await self._references.complete_styles(request.value)

    @resource(
        "library://references",
        title="References",
        description=f"The library as CSL-JSON, at most {_MAX_ITEMS} items.",
        scopes=READ,
        media_type="application/json",
        quotes=quoted_library,
    )
    async def references(self, variables: Mapping[str, str], call: Call) -> Text:
        return _json(list(await self._references.first_items(_MAX_ITEMS, call)))

    @resource(
        "library://reference/{id}",
        title="Reference",
        description="One reference as CSL-JSON.",
        scopes=READ,
        media_type="application/json",
        quotes=quoted_reference,
        complete=complete,
    )
    async def reference(self, variables: Mapping[str, str], call: Call) -> Text:
        return _json(await self._references.find(variables["id"], call))

    @resource(
        "library://styles",
        title="Citation styles",
        description="Every citation style that cite takes.",
        scopes=READ,
        media_type="application/json",
    )
    async def styles(self, variables: Mapping[str, str], call: Call) -> Text:
        return _json(await self._references.styles("", first=0, count=20_000))

    @resource(
        "library://styles/{words}",
        name="styles-search",
        title="Some citation styles",
        description="Citation styles by words.",
        scopes=READ,
        media_type="application/json",
        complete=complete,
    )
    async def styles_by_words(self, variables: Mapping[str, str], call: Call) -> Text:
        return _json(await self._references.styles(variables["words"], first=0, count=200))


def _json(value: object) -> Text:
    return Text(json.dumps(value, ensure_ascii=False, indent=2), "application/json")
