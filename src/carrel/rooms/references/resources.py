"""The library as addresses: `library://…`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Call, Caller
from carrel.core.completion import Completion, CompletionRequest
from carrel.core.operation import Resource
from carrel.core.quoting import QuotedSource, Quotes
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


READ = frozenset({"references:read"})
_MOST = 1000


def resources(service: ReferencesRoom) -> tuple[Resource, ...]:
    async def references(variables: Mapping[str, str], call: Call) -> Text:
        page = await service.everything(call, form="json", page=1, limit=_MOST)
        return _json(page.references or [])

    async def reference(variables: Mapping[str, str], call: Call) -> Text:
        return _json(await service.one(variables["id"], call))

    async def styles(variables: Mapping[str, str], call: Call) -> Text:
        return _json(await service.styles("", first=0, count=20_000))

    async def some_styles(variables: Mapping[str, str], call: Call) -> Text:
        return _json(await service.styles(variables["words"], first=0, count=200))

    async def complete(request: CompletionRequest, call: Call) -> Completion:
        if request.argument == "id":
            return await service.complete_ids(request.value, call)
        return await service.complete_styles(request.value)

    def resource(
        uri: str,
        name: str,
        title: str,
        description: str,
        read: object,
        quotes: Quotes | None = None,
    ) -> Resource:
        return Resource(
            uri=uri,
            name=name,
            room="references",
            title=title,
            description=description,
            read=read,  # type: ignore[arg-type]
            scopes=READ,
            media_type="application/json",
            quotes=quotes,
            complete=complete if "{" in uri else None,
        )

    return (
        resource(
            "library://references",
            "references",
            "References",
            f"The library as CSL-JSON, at most {_MOST} items.",
            references,
            quoted_library,
        ),
        resource(
            "library://reference/{id}",
            "reference",
            "Reference",
            "One reference as CSL-JSON.",
            reference,
            quoted_reference,
        ),
        resource(
            "library://styles",
            "styles",
            "Citation styles",
            "Every citation style that cite takes.",
            styles,
        ),
        resource(
            "library://styles/{words}",
            "styles-search",
            "Some citation styles",
            "Citation styles by words.",
            some_styles,
        ),
    )


def _json(value: object) -> Text:
    return Text(json.dumps(value, ensure_ascii=False, indent=2), "application/json")
