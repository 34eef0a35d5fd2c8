"""Operations for people who look through notes: lists, graphs, and the answer to a proposal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Explained
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.knowledge.list_models import (
    GetKnowledgeGraph,
    KnowledgeGraph,
    KnowledgeList,
    ListKnowledge,
)
from carrel.rooms.knowledge.models import ChangeNote, DeclinedNote
from carrel.rooms.knowledge.operations import PROMOTE, READ
from carrel.rooms.knowledge.service import Knowledge


def _quote_listed(
    arguments: Mapping[str, Any], answer: KnowledgeList, caller: Caller
) -> Iterable[QuotedSource]:
    return [
        QuotedSource("note", note.id, note.title)
        for note in answer.notes
        if note.author != caller.user_id
    ]


def _quote_things(
    arguments: Mapping[str, Any], answer: KnowledgeGraph, caller: Caller
) -> Iterable[QuotedSource]:
    return [
        QuotedSource(thing.kind, thing.id, thing.title)
        for thing in answer.things
        if thing.id is not None
    ]


class KnowledgeListOperations:
    """Lists and graphs of notes, and the step that declines one; for people, not for MCP."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    @operation(
        title="List knowledge",
        description=(
            "A page of notes with tags, author, status and times, how many there are, and how "
            "often each tag is among them. The query is as for search_knowledge."
        ),
        scopes=READ,
        quotes=_quote_listed,
        command="list",
        is_listed=False,
        is_for_people=True,
        phrases="list notes page by page; browse notes by tag; how many notes have a tag",
    )
    async def list_knowledge(
        self, question: ListKnowledge, call: Call
    ) -> KnowledgeList | Explained:
        return await self._knowledge.list_notes(question, call.caller)

    @operation(
        title="Get knowledge graph",
        description="What a note links to and what links to it, one or two links away.",
        scopes=READ,
        quotes=_quote_things,
        command="graph",
        is_listed=False,
        is_for_people=True,
        phrases="graph of a note; what lies around a note; neighbours of a note",
    )
    async def get_knowledge_graph(self, question: GetKnowledgeGraph, call: Call) -> KnowledgeGraph:
        return await self._knowledge.find_graph(question, call)

    @operation(
        title="Decline knowledge",
        description="Make a proposed note its author's draft again.",
        scopes=PROMOTE,
        effect=Effect.WRITES,
        command="decline",
        is_listed=False,
        is_for_people=True,
        phrases="decline a proposed note; turn a proposal down; hand a proposed note back",
    )
    async def decline_knowledge(self, question: ChangeNote, call: Call) -> DeclinedNote:
        note = await self._knowledge.decline(question.id, call.caller, question.updated_at)
        return DeclinedNote(id=note.id, title=note.title, updated_at=note.updated_at.isoformat())
