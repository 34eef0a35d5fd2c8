"""The papers as addresses: `paper://{paper_id}/…`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Call, Caller
from carrel.core.completion import (
    MAX_COMPLETION_VALUES,
    NO_COMPLETION,
    Completion,
    CompletionRequest,
    complete_from,
)
from carrel.core.decorators import resource
from carrel.core.quoting import QuotedSource
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.models import DEFAULT_MAX_CHARS
from carrel.rooms.papers.service import Papers

SCOPES = frozenset({"papers:read"})
_CUT = f"Cut at {DEFAULT_MAX_CHARS} characters."


def named_paper(
    arguments: Mapping[str, Any], answer: object, caller: Caller
) -> Iterable[QuotedSource]:
    """The paper that was asked for."""
    return [QuotedSource("paper", str(arguments["paper_id"]))]


class PaperResources:
    """The resources of the room; texts are cut at DEFAULT_MAX_CHARS with a note of the rest."""

    def __init__(self, papers: Papers) -> None:
        self._papers = papers

    async def complete(self, request: CompletionRequest, call: Call) -> Completion:
        """Paper ids by id or title; templates and languages of the paper that was chosen."""
        if request.argument == "paper_id":
            found, total = await self._papers.ids_like(request.value, MAX_COMPLETION_VALUES)
            return Completion(tuple(found), total)
        if "paper_id" not in request.given:
            return NO_COMPLETION
        try:
            facts = await self._papers.stored_metadata(request.given["paper_id"])
        except PaperNotFoundError:
            return NO_COMPLETION
        known = (
            facts.available_summary_templates
            if request.argument == "template"
            else facts.available_translations
        )
        return complete_from(known, request.value)

    @resource(
        "paper://{paper_id}/metadata",
        title="Paper metadata",
        description="Fields of a paper and its summary templates.",
        scopes=SCOPES,
        media_type="application/json",
        quotes=named_paper,
        complete=complete,
    )
    async def paper_metadata(self, variables: Mapping[str, str], call: Call) -> Text:
        metadata = await self._papers.metadata(variables["paper_id"])
        return Text(metadata.model_dump_json(), "application/json")

    @resource(
        "paper://{paper_id}/summary",
        title="Paper summary",
        description=f"The preferred summary as JSON. {_CUT}",
        scopes=SCOPES,
        media_type="application/json",
        quotes=named_paper,
        complete=complete,
    )
    async def paper_summary(self, variables: Mapping[str, str], call: Call) -> Text:
        return await self._papers.summary(variables["paper_id"], None)

    @resource(
        "paper://{paper_id}/summary/{template}",
        title="Paper summary by template",
        description=f"One summary as JSON. {_CUT}",
        scopes=SCOPES,
        media_type="application/json",
        quotes=named_paper,
        complete=complete,
    )
    async def paper_summary_by_template(self, variables: Mapping[str, str], call: Call) -> Text:
        return await self._papers.summary(variables["paper_id"], variables["template"])

    @resource(
        "paper://{paper_id}/source",
        title="Paper source",
        description=f"The full text as Markdown. {_CUT}",
        scopes=SCOPES,
        media_type="text/markdown",
        quotes=named_paper,
        complete=complete,
    )
    async def paper_source(self, variables: Mapping[str, str], call: Call) -> Text:
        return await self._papers.source(variables["paper_id"])

    @resource(
        "paper://{paper_id}/translation/{lang}",
        title="Paper translation",
        description=f"A translation as Markdown. {_CUT}",
        scopes=SCOPES,
        media_type="text/markdown",
        quotes=named_paper,
        complete=complete,
    )
    async def paper_translation(self, variables: Mapping[str, str], call: Call) -> Text:
        return await self._papers.translation(variables["paper_id"], variables["lang"])
