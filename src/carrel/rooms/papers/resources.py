"""The papers as addresses: `paper://{paper_id}/…`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Call, Caller
from carrel.core.operation import Resource
from carrel.core.quoting import QuotedSource
from carrel.rooms.papers.completions import paper_completions
from carrel.rooms.papers.models import DEFAULT_MAX_CHARS
from carrel.rooms.papers.service import Papers

SCOPES = frozenset({"papers:read"})
_Read = Callable[[Mapping[str, str], Call], Coroutine[Any, Any, Text]]
_CUT = f"Cut at {DEFAULT_MAX_CHARS} characters."


def named_paper(
    arguments: Mapping[str, Any], answer: object, caller: Caller
) -> Iterable[QuotedSource]:
    """The paper that was asked for."""
    return [QuotedSource("paper", str(arguments["paper_id"]))]


def resources(papers: Papers) -> tuple[Resource, ...]:
    """Every address of the room. Texts are cut at DEFAULT_MAX_CHARS and say how much is left."""

    async def metadata(names: Mapping[str, str], call: Call) -> Text:
        return Text(
            (await papers.metadata(names["paper_id"])).model_dump_json(), "application/json"
        )

    async def summary(names: Mapping[str, str], call: Call) -> Text:
        return await papers.summary(names["paper_id"], names.get("template"))

    async def source(names: Mapping[str, str], call: Call) -> Text:
        return await papers.source(names["paper_id"])

    async def translation(names: Mapping[str, str], call: Call) -> Text:
        return await papers.translation(names["paper_id"], names["lang"])

    complete = paper_completions(papers)

    def resource(path: str, title: str, description: str, media_type: str, read: _Read) -> Resource:
        return Resource(
            uri=f"paper://{{paper_id}}/{path}",
            name=title.lower().replace(" ", "_"),
            room="papers",
            title=title,
            description=description,
            read=read,
            scopes=SCOPES,
            media_type=media_type,
            quotes=named_paper,
            complete=complete,
        )

    return (
        resource(
            "metadata",
            "Paper metadata",
            "Fields of a paper and its summary templates.",
            "application/json",
            metadata,
        ),
        resource(
            "summary",
            "Paper summary",
            f"The preferred summary as JSON. {_CUT}",
            "application/json",
            summary,
        ),
        resource(
            "summary/{template}",
            "Paper summary by template",
            f"One summary as JSON. {_CUT}",
            "application/json",
            summary,
        ),
        resource(
            "source", "Paper source", f"The full text as Markdown. {_CUT}", "text/markdown", source
        ),
        resource(
            "translation/{lang}",
            "Paper translation",
            f"A translation as Markdown. {_CUT}",
            "text/markdown",
            translation,
        ),
    )
