"""The library as addresses: `library://…`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Call, Caller
from carrel.core.completion import Completion, CompletionRequest
from carrel.core.decorators import resource
from carrel.core.errors import NotFoundError
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
# A library of no more is given whole, as the specification of the room says.
_PAGE_ITEMS = 1000


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
        description=f"The library as CSL-JSON; of more than {_PAGE_ITEMS} the first page.",
        scopes=READ,
        media_type="application/json",
        quotes=quoted_library,
    )
    async def references(self, variables: Mapping[str, str], call: Call) -> Text:
        total, items = await self._references.list_items(0, _PAGE_ITEMS, call)
        return _json(list(items) if total <= _PAGE_ITEMS else _describe_page(items, 1, total))

    @resource(
        "library://references/{page}",
        name="references-page",
        title="References, page by page",
        description=f"A page of {_PAGE_ITEMS} references as CSL-JSON, with their total.",
        scopes=READ,
        media_type="application/json",
        quotes=quoted_library,
    )
    async def references_page(self, variables: Mapping[str, str], call: Call) -> Text:
        typed = variables["page"]
        page = int(typed) if typed.isascii() and typed.isdecimal() and len(typed) < 9 else 0
        first = max(0, page - 1) * _PAGE_ITEMS
        total, items = await self._references.list_items(first, _PAGE_ITEMS, call)
        pages = max(1, -(-total // _PAGE_ITEMS))
        if not 1 <= page <= pages:
            raise NotFoundError(
                "Page",
                typed[:20],
                next_step=f"Read library://references/1 to library://references/{pages}.",
                details={"pages": pages, "total": total},
            )
        return _json(_describe_page(items, page, total))

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


def _describe_page(items: Sequence[Mapping[str, Any]], page: int, total: int) -> dict[str, object]:
    pages = max(1, -(-total // _PAGE_ITEMS))
    following = f"library://references/{page + 1}" if page < pages else None
    return {
        "total": total,
        "page": page,
        "pages": pages,
        "next": following,
        "references": list(items),
    }


def _json(value: object) -> Text:
    return Text(json.dumps(value, ensure_ascii=False, indent=2), "application/json")
