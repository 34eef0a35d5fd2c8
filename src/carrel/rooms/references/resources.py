"""The library as addresses: `library://…`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from carrel.core.answer import Text
from carrel.core.caller import Call
from carrel.core.completion import Completion, CompletionRequest
from carrel.core.operation import Resource
from carrel.core.quoting import Quotes
from carrel.rooms.references.quoting import quoted_library, quoted_reference
from carrel.rooms.references.service import ReferencesRoom

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
