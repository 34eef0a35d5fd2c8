"""The operations that complete records; for people, who decide what is filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.literature.completion import Completion
from carrel.rooms.literature.completion_models import (
    CompleteRecords,
    ListCompletions,
    RecordsCompleted,
)

_DESCRIPTION = (
    "Finds {what} with gaps (abstract, authors, venue, pages, year …), asks literature services by "
    "identifier and proposes what fills them, with the origin of each value; apply fills in, undo "
    "takes back. Nothing that is there is changed."
)


def _quoted(
    arguments: Mapping[str, Any], answer: RecordsCompleted, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource(answer.target, each.id, each.title) for each in answer.entries]


class CompletionOperations:
    """Completing papers and references."""

    def __init__(self, papers: Completion, references: Completion) -> None:
        self._papers = papers
        self._references = references

    @operation(
        title="Complete papers",
        description=_DESCRIPTION.format(what="papers"),
        scopes=frozenset({"literature:write", "papers:write"}),
        effect=Effect.WRITES,
        reaches_outside=True,
        cost=5.0,
        timeout_seconds=600.0,
        quotes=_quoted,
        command="complete-papers",
        is_listed=False,
        is_for_people=True,
        phrases=(
            "fill in missing metadata of papers; complete the records of my corpus; papers "
            "without abstract or DOI; look up what is missing"
        ),
    )
    async def complete_papers(self, question: CompleteRecords, call: Call) -> RecordsCompleted:
        return await self._papers.complete(question, call)

    @operation(
        title="Complete references",
        description=_DESCRIPTION.format(what="references"),
        scopes=frozenset({"literature:write", "references:write"}),
        effect=Effect.WRITES,
        reaches_outside=True,
        cost=5.0,
        timeout_seconds=600.0,
        quotes=_quoted,
        command="complete-references",
        is_listed=False,
        is_for_people=True,
        phrases=(
            "fill in missing fields of my references; complete my bibliography; references "
            "without pages, volume or abstract"
        ),
    )
    async def complete_references(self, question: CompleteRecords, call: Call) -> RecordsCompleted:
        return await self._references.complete(question, call)

    @operation(
        title="List completions",
        description="Proposals for gaps of papers or references that wait for a decision, or what "
        "was filled in; no service is asked.",
        scopes=frozenset({"literature:read"}),
        quotes=_quoted,
        command="list-completions",
        is_listed=False,
        is_for_people=True,
    )
    async def list_completions(self, question: ListCompletions, call: Call) -> RecordsCompleted:
        kept = self._papers if question.target == "paper" else self._references
        return await kept.list_entries(question, call)
