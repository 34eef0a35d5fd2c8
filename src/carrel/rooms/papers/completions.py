"""Suggestions for the arguments of `paper://` addresses."""

from __future__ import annotations

from carrel.core.caller import Call
from carrel.core.completion import (
    MAX_COMPLETION_VALUES,
    NO_COMPLETION,
    Complete,
    Completion,
    CompletionRequest,
    complete_from,
)
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.service import Papers


def paper_completions(papers: Papers) -> Complete:
    """Paper ids by id or title, and the summary templates and languages of the paper that was
    chosen.
    """

    async def complete(request: CompletionRequest, call: Call) -> Completion:
        if request.argument == "paper_id":
            found, total = await papers.ids_like(request.value, MAX_COMPLETION_VALUES)
            return Completion(tuple(found), total)
        if "paper_id" not in request.given:
            return NO_COMPLETION
        try:
            facts = await papers.stored_metadata(request.given["paper_id"])
        except PaperNotFoundError:
            return NO_COMPLETION
        known = (
            facts.available_summary_templates
            if request.argument == "template"
            else facts.available_translations
        )
        return complete_from(known, request.value)

    return complete
