"""The operations of the knowledge room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from carrel.core.answer import Explained
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.knowledge.models import (
    AskElasticsearch,
    ChangeNote,
    DeletedNote,
    FoundNote,
    FullNote,
    GetKnowledgeHistory,
    NoteVersion,
    OneNote,
    PromotedNote,
    ProposedNote,
    RetrievedNodes,
    RetrieveNodes,
    SavedNote,
    SaveKnowledge,
    SearchAnswer,
    SearchKnowledge,
)
from carrel.rooms.knowledge.nodes import Nodes
from carrel.rooms.knowledge.service import Knowledge

READ = frozenset({"knowledge:read"})
WRITE = frozenset({"knowledge:write"})
PROMOTE = frozenset({"knowledge:promote"})


# What answers quote; the caller's own notes are no quotation.


def _quote_notes(
    arguments: Mapping[str, Any], answer: Sequence[FoundNote], caller: Caller
) -> Iterable[QuotedSource]:
    return [
        QuotedSource("note", note.id, note.title)
        for note in answer
        if note.author != caller.user_id
    ]


def _quote_note(
    arguments: Mapping[str, Any], answer: FullNote, caller: Caller
) -> Iterable[QuotedSource]:
    return (
        [QuotedSource("note", answer.id, answer.title)] if answer.user_id != caller.user_id else []
    )


def _quote_versions(
    arguments: Mapping[str, Any], answer: Sequence[NoteVersion], caller: Caller
) -> Iterable[QuotedSource]:
    is_others = any(version.changed_by != caller.user_id for version in answer)
    return [QuotedSource("note", str(arguments["id"]))] if is_others else []


def _quote_nodes(
    arguments: Mapping[str, Any], answer: RetrievedNodes, caller: Caller
) -> Iterable[QuotedSource]:
    return [
        QuotedSource("node", node.node_name) for node in answer.results if node.similarity_score > 0
    ]


def _quote_index(
    arguments: Mapping[str, Any], answer: SearchAnswer, caller: Caller
) -> Iterable[QuotedSource]:
    has_words = answer.hits.get("hits") or answer.aggregations
    return [QuotedSource("index", str(arguments["index"]))] if has_words else []


class KnowledgeOperations:
    """The operations of the knowledge room, over its two services."""

    def __init__(self, knowledge: Knowledge, nodes: Nodes) -> None:
        self._knowledge = knowledge
        self._nodes = nodes

    @operation(
        title="Save knowledge",
        description=(
            "Save a note. Without title the content's beginning is used. To change one, send "
            "its id, last updated_at and the whole content; title and tags left out stay. Answers "
            "with its tags and where its links lead (id null: to nothing)."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        command="save",
        next_command=(
            "carrel knowledge propose ID offers it to the team, carrel knowledge promote ID "
            "shares it."
        ),
        phrases=(
            "save a note; write something down; remember this; keep this finding; edit a note; "
            "change a note; make a note of this; write down what a reviewer wants; write "
            "down that …; remember that …; note that …; "
            "keep in mind that …; new note on …; link a note to a paper; connect a note with an "
            "article; link two notes; tag a note; set the tags of a note; change the text of a "
            "note; reading notes on a paper; comment on a paper; annotate an article; write my "
            "thoughts on a study down; keep notes on an article; create a new note about …"
        ),
    )
    async def save_knowledge(self, question: SaveKnowledge, call: Call) -> SavedNote:
        return await self._knowledge.save_and_resolve(question, call)

    @operation(
        title="Search knowledge",
        description=(
            "Ask notes a plain question, or find them by the beginning of a title, by #tag (and "
            'the tags below it), text:words that must all be there, "a phrase", or * for all. '
            "Long notes come as their best passage; get_knowledge has the whole."
        ),
        scopes=READ,
        quotes=_quote_notes,
        command="search",
        phrases=(
            "find a note; search my notes; what did I write about; what did we note about; notes "
            "with a tag; my notes on …; what did I note about …; what do my notes say about …; "
            "list all my notes; all notes with the tag …; proposed notes that wait for approval; "
            "which notes mention this paper; notes about a paper; recent notes"
        ),
    )
    async def search_knowledge(
        self, question: SearchKnowledge, call: Call
    ) -> list[FoundNote] | Explained:
        return await self._knowledge.search(
            question.query,
            call.caller,
            whose=question.whose,
            order=question.order,
            limit=question.limit,
        )

    @operation(
        title="Get knowledge",
        description=(
            "One note whole: content, tags, author, status, times, where its links lead and which "
            "notes link to it."
        ),
        scopes=READ,
        quotes=_quote_note,
        command="show",
        phrases=(
            "open a note; read a whole note; show one note with its links; show me the whole "
            "note; read the note with this id; where do the links of a note lead; which papers "
            "does a note link to; backlinks of a note; notes that link to this note; tags of a "
            "note; what does this note say"
        ),
    )
    async def get_knowledge(self, question: OneNote, call: Call) -> FullNote:
        return await self._knowledge.get(question.id, call)

    @operation(
        title="Get knowledge history",
        description="Earlier states of a note, newest first, with who changed what and when.",
        scopes=READ,
        quotes=_quote_versions,
        command="history",
        is_listed=False,
        phrases=(
            "earlier versions of a note; who changed a note; history of a note; what a note said "
            "before it was changed; how did this note look last week; older version of a note; "
            "when was a note changed; undo an edit of a note; restore the old text of a note; "
            "previous wording of a note; what I wrote before"
        ),
    )
    async def get_knowledge_history(
        self, question: GetKnowledgeHistory, call: Call
    ) -> list[NoteVersion]:
        return await self._knowledge.history(question.id, call.caller, question.limit)

    @operation(
        title="Delete knowledge",
        description=(
            "Delete a note and its history for good. A team note needs knowledge:promote."
        ),
        scopes=WRITE,
        effect=Effect.DESTROYS,
        command="delete",
        phrases=(
            "delete a note; throw a note away; forget what I told you about …; delete my note "
            "about …; remove a note; get rid of a note; a note is no longer needed; this note is "
            "out of date, drop it"
        ),
    )
    async def delete_knowledge(self, question: ChangeNote, call: Call) -> DeletedNote:
        await self._knowledge.delete(question.id, call.caller, question.updated_at)
        return DeletedNote(id=question.id)

    @operation(
        title="Propose knowledge",
        description="Offer your own draft note to the team; somebody who may promote decides.",
        scopes=WRITE,
        effect=Effect.WRITES,
        command="propose",
        next_command="carrel knowledge promote ID shares it with the team.",
        phrases=(
            "propose a note to the team; suggest a note to the team; hand in a note for review; "
            "offer a note to the team; ask that my note be shared; let somebody else decide "
            "whether the note is shared; ask for approval of a note"
        ),
    )
    async def propose_knowledge(self, question: ChangeNote, call: Call) -> ProposedNote:
        note = await self._knowledge.propose(question.id, call.caller, question.updated_at)
        return ProposedNote(id=note.id, title=note.title, updated_at=note.updated_at.isoformat())

    @operation(
        title="Promote knowledge",
        description=(
            "Make a proposed note the team's. search_knowledge with whose=proposed lists what "
            "waits."
        ),
        scopes=PROMOTE,
        effect=Effect.WRITES,
        command="promote",
        phrases=(
            "share a note with the team; publish a note for everybody; accept a proposed note; "
            "make a suggested note official; approve a proposed note for the team; make a note "
            "visible to the whole lab; accept the note that a colleague proposed"
        ),
    )
    async def promote_knowledge(self, question: ChangeNote, call: Call) -> PromotedNote:
        note = await self._knowledge.promote(question.id, call.caller, question.updated_at)
        return PromotedNote(
            id=note.id,
            title=note.title,
            promoted_from_id=question.id,
            updated_at=note.updated_at.isoformat(),
        )

    @operation(
        title="Retrieve node knowledge",
        description=(
            "What is known of named things (up to 100), in the order asked. A miss says so, "
            "scores 0 and suggests names."
        ),
        scopes=READ,
        quotes=_quote_nodes,
        command="nodes",
        phrases=(
            "look up a named entity; what do we know about a named thing; facts about a node; "
            "retrieve nodes by name; what is known about the entities …; facts about named things "
            "…; background facts about genes, proteins or other entities; what does the knowledge "
            "graph know about …"
        ),
    )
    async def node_knowledge_retriever(self, question: RetrieveNodes, call: Call) -> RetrievedNodes:
        return await self._nodes.retrieve(
            question.node_names, call.caller, with_metadata=question.include_metadata
        )

    @operation(
        title="Elasticsearch",
        description=(
            "Ask an index with an Elasticsearch search body and get its answer. Indices: "
            "papers, references, knowledge, nodes, or those the operator connected. No scripts; "
            "size at most 100."
        ),
        scopes=READ,
        reaches_outside=True,
        quotes=_quote_index,
        command="elasticsearch",
        phrases=(
            "run an Elasticsearch query; search with a query body; aggregate notes or papers; "
            "query DSL; bool query with must and filter; aggregation over notes; terms "
            "aggregation; count notes per tag"
        ),
    )
    async def elasticsearch(self, question: AskElasticsearch, call: Call) -> SearchAnswer:
        return await self._knowledge.ask(question.index, question.query, call.caller)
