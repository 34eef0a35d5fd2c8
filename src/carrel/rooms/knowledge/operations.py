"""The knowledge room as the catalogue shows it: every tool described once."""

from __future__ import annotations

from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.operation import Effect, Operation
from carrel.rooms.knowledge.models import (
    AskElasticsearch,
    ChangeNote,
    DeletedNote,
    FoundNote,
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
    WholeNote,
)
from carrel.rooms.knowledge.nodes import Nodes
from carrel.rooms.knowledge.quoting import (
    quoted_index,
    quoted_nodes,
    quoted_note,
    quoted_notes,
    quoted_versions,
)
from carrel.rooms.knowledge.service import Knowledge

READ = frozenset({"knowledge:read"})
WRITE = frozenset({"knowledge:write"})
PROMOTE = frozenset({"knowledge:promote"})


def room(knowledge: Knowledge, nodes: Nodes) -> Room:
    """The room over its two services."""

    async def save_knowledge(question: SaveKnowledge, call: Call) -> SavedNote:
        note = await knowledge.save(question, call.caller)
        return SavedNote(id=note.id, title=note.title, updated_at=note.updated_at.isoformat())

    async def search_knowledge(question: SearchKnowledge, call: Call) -> list[FoundNote]:
        return await knowledge.search(
            question.query,
            call.caller,
            whose=question.whose,
            order=question.order,
            limit=question.limit,
        )

    async def get_knowledge(question: OneNote, call: Call) -> WholeNote:
        return await knowledge.get(question.id, call.caller)

    async def get_knowledge_history(question: GetKnowledgeHistory, call: Call) -> list[NoteVersion]:
        return await knowledge.history(question.id, call.caller, question.limit)

    async def delete_knowledge(question: ChangeNote, call: Call) -> DeletedNote:
        await knowledge.delete(question.id, call.caller, question.updated_at)
        return DeletedNote(id=question.id)

    async def propose_knowledge(question: ChangeNote, call: Call) -> ProposedNote:
        note = await knowledge.propose(question.id, call.caller, question.updated_at)
        return ProposedNote(id=note.id, title=note.title, updated_at=note.updated_at.isoformat())

    async def promote_knowledge(question: ChangeNote, call: Call) -> PromotedNote:
        note = await knowledge.promote(question.id, call.caller, question.updated_at)
        return PromotedNote(
            id=note.id,
            title=note.title,
            promoted_from_id=question.id,
            updated_at=note.updated_at.isoformat(),
        )

    async def node_knowledge_retriever(question: RetrieveNodes, call: Call) -> RetrievedNodes:
        return await nodes.retrieve(
            question.node_names, call.caller, with_metadata=question.include_metadata
        )

    async def elasticsearch(question: AskElasticsearch, call: Call) -> SearchAnswer:
        return await knowledge.ask(question.index, question.query, call.caller)

    return Room(
        name="knowledge",
        title="Knowledge",
        purpose="Keep notes, find them again, share them with the team, and look up named things.",
        operations=(
            Operation(
                name="save_knowledge",
                phrases=(
                    "save a note",
                    "write something down",
                    "remember this",
                    "keep this finding",
                    "edit a note",
                    "change a note",
                    "make a note of this",
                    "write down that …",
                    "remember that …",
                    "note that …",
                    "keep in mind that …",
                    "new note on …",
                ),
                room="knowledge",
                title="Save knowledge",
                description=(
                    "Save a note. Without title the content's beginning is used. To change one, "
                    "send its id and last updated_at."
                ),
                question=SaveKnowledge,
                answer=SavedNote,
                run=save_knowledge,
                scopes=WRITE,
                effect=Effect.WRITES,
                command="save",
            ),
            Operation(
                name="search_knowledge",
                phrases=(
                    "find a note",
                    "search my notes",
                    "what did I write about",
                    "what did we note about",
                    "notes with a tag",
                    "my notes on …",
                    "what did I note about …",
                    "what do my notes say about …",
                ),
                room="knowledge",
                title="Search knowledge",
                description=(
                    "Find notes by the beginning of their title, by #tag (several: all of them), "
                    "by text:words in the "
                    'content, text:"a phrase", or * for all.'
                ),
                question=SearchKnowledge,
                answer=list[FoundNote],
                run=search_knowledge,
                quotes=quoted_notes,
                scopes=READ,
                command="search",
            ),
            Operation(
                name="get_knowledge",
                phrases=(
                    "open a note",
                    "read a whole note",
                    "show one note with its links",
                    "show me the whole note",
                    "read the note with this id",
                ),
                room="knowledge",
                title="Get knowledge",
                description="One note whole: content, tags, author, status, times, and where its "
                "[[links]] lead.",
                question=OneNote,
                answer=WholeNote,
                run=get_knowledge,
                quotes=quoted_note,
                scopes=READ,
                command="show",
            ),
            Operation(
                name="get_knowledge_history",
                phrases=(
                    "earlier versions of a note",
                    "who changed a note",
                    "history of a note",
                    "what a note said before it was changed",
                    "how did this note look last week",
                    "older version of a note",
                    "when was a note changed",
                ),
                is_listed=False,
                room="knowledge",
                title="Get knowledge history",
                description="Earlier states of a note, newest first, with who changed what and "
                "when.",
                question=GetKnowledgeHistory,
                answer=list[NoteVersion],
                run=get_knowledge_history,
                quotes=quoted_versions,
                scopes=READ,
                command="history",
            ),
            Operation(
                name="delete_knowledge",
                phrases=(
                    "delete a note",
                    "throw a note away",
                    "forget what I told you about …",
                    "delete my note about …",
                    "remove a note",
                ),
                room="knowledge",
                title="Delete knowledge",
                description="Delete a note and its history for good. A team note needs "
                "knowledge:promote.",
                question=ChangeNote,
                answer=DeletedNote,
                run=delete_knowledge,
                scopes=WRITE,
                effect=Effect.DESTROYS,
                command="delete",
            ),
            Operation(
                name="propose_knowledge",
                phrases=(
                    "propose a note to the team",
                    "suggest a note for sharing",
                    "hand in a note for review",
                    "offer a note to the team",
                    "ask that my note be shared",
                ),
                room="knowledge",
                title="Propose knowledge",
                description="Offer your own draft note to the team; somebody who may promote "
                "decides.",
                question=ChangeNote,
                answer=ProposedNote,
                run=propose_knowledge,
                scopes=WRITE,
                effect=Effect.WRITES,
                command="propose",
            ),
            Operation(
                name="promote_knowledge",
                phrases=(
                    "share a note with the team",
                    "publish a note for everybody",
                    "accept a proposed note",
                    "make a suggested note official",
                    "approve a proposed note for the team",
                ),
                room="knowledge",
                title="Promote knowledge",
                description="Make a proposed note the team's. search_knowledge with "
                "whose=proposed lists what waits.",
                question=ChangeNote,
                answer=PromotedNote,
                run=promote_knowledge,
                scopes=PROMOTE,
                effect=Effect.WRITES,
                command="promote",
            ),
            Operation(
                name="node_knowledge_retriever",
                phrases=(
                    "look up a named entity",
                    "what do we know about a named thing",
                    "facts about a node",
                    "retrieve nodes by name",
                    "what is known about the entities …",
                    "facts about named things …",
                ),
                room="knowledge",
                title="Retrieve node knowledge",
                description=(
                    "What is known of named things (up to 100), in the order asked. A miss says "
                    "so, scores 0 and suggests names."
                ),
                question=RetrieveNodes,
                answer=RetrievedNodes,
                run=node_knowledge_retriever,
                quotes=quoted_nodes,
                scopes=READ,
                command="nodes",
            ),
            Operation(
                name="elasticsearch",
                phrases=(
                    "run an Elasticsearch query",
                    "search with a query body",
                    "aggregate notes or papers",
                    "query DSL",
                ),
                room="knowledge",
                title="Elasticsearch",
                description=(
                    "Ask an index with an Elasticsearch search body and get its answer. Indices: "
                    "papers, references, knowledge, "
                    "nodes, or those the operator connected. No scripts; size at most 100."
                ),
                question=AskElasticsearch,
                answer=SearchAnswer,
                run=elasticsearch,
                quotes=quoted_index,
                scopes=READ,
                reaches_outside=True,
                command="elasticsearch",
            ),
        ),
    )
