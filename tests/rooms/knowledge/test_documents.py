"""Documents of a collection: after the first reading, only what changed is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from carrel.rooms.knowledge.documents import (
    Checkpoint,
    DiffedDocuments,
    Document,
    DocumentChange,
    Drop,
    NodeDocuments,
    NoteDocuments,
    Put,
    Reset,
    is_public,
    library_of,
    node_document,
    node_id,
    note_document,
    owner,
)
from carrel.rooms.knowledge.notes import Node, Origin
from tests.stores.contracts.knowledge import a_note


class Shelf:
    """A collection whose documents a test sets."""

    def __init__(self) -> None:
        self.name = ""
        self.documents: list[Document] = []

    def put(self, name: str, *documents: Document) -> None:
        self.name, self.documents = name, list(documents)

    async def state(self) -> str:
        return self.name

    async def everything(self) -> AsyncIterator[Document]:
        for document in self.documents:
            yield document


def a_document(document_id: str, title: str, *readers: str) -> Document:
    return Document(document_id, {"title": title}, readers or ("everyone",))


def changes(source: DiffedDocuments, since: str | None) -> list[DocumentChange]:
    async def run() -> list[DocumentChange]:
        return [change async for change in source.changes(since)]

    return asyncio.run(run())


def test_a_collection_is_told_whole_once_and_then_by_what_changed() -> None:
    shelf = Shelf()
    source = DiffedDocuments("papers", {"title": "text"}, shelf)
    a, b, c = a_document("a", "A"), a_document("b", "B"), a_document("c", "C")
    shelf.put("1", a, b)
    assert changes(source, None) == [Reset(), Put(a), Put(b), Checkpoint("1")]
    assert changes(source, "1") == []
    moved, private = a_document("a", "A, changed"), a_document("b", "B", "ada")
    shelf.put("2", moved, b, c)
    assert changes(source, "1") == [Put(moved), Put(c), Checkpoint("2")]
    shelf.put("3", private, c)
    assert changes(source, "2") == [Put(private), Drop("a"), Checkpoint("3")]
    shelf.put("4")
    assert changes(source, "3") == [Drop("b"), Drop("c"), Checkpoint("4")]


def test_a_cursor_of_another_process_or_of_an_older_reading_means_all_again() -> None:
    shelf = Shelf()
    source = DiffedDocuments("papers", {"title": "text"}, shelf)
    a = a_document("a", "A")
    shelf.put("2", a)
    assert changes(source, "1") == [Reset(), Put(a), Checkpoint("2")]
    shelf.put("3", a)
    assert changes(source, "1") == [Reset(), Put(a), Checkpoint("3")]
    assert changes(source, None) == [Reset(), Put(a), Checkpoint("3")]


def test_of_several_documents_of_one_id_the_first_counts() -> None:
    shelf = Shelf()
    source = DiffedDocuments("papers", {"title": "text"}, shelf)
    first, second = a_document("a", "first"), a_document("a", "second")
    shelf.put("1", first, second)
    assert changes(source, None) == [Reset(), Put(first), Checkpoint("1")]
    shelf.put("2", first, second)
    assert changes(source, "1") == [Checkpoint("2")]


def test_a_note_names_its_readers_and_says_only_what_it_has() -> None:
    draft = note_document(a_note(1, "T", "text", tags=("a",)))
    assert draft.readers == (owner("ada"),) == ("user:ada",)
    assert (draft.fields["title"], draft.fields["tags"]) == ("T", ["a"])
    assert not {"path", "promoted_from_id"} & set(draft.fields)
    proposal = note_document(a_note(1, "T", status="proposed"))
    assert proposal.readers == ("user:ada", "promoters")
    team = a_note(1, "T", source="team", status="promoted", promoted_from_id="other")
    assert note_document(team).readers == ("team",)
    assert note_document(team).fields["promoted_from_id"] == "other"
    # A team note is the team's, whatever step it is marked with.
    assert note_document(a_note(1, "T", source="team", status="proposed")).readers == ("team",)
    came = a_note(1, "T", origin=Origin("vault/a.md", "", "", "body"))
    assert note_document(came).fields["path"] == "vault/a.md"


def test_a_node_has_one_document_for_all_cases_of_its_name_and_is_public() -> None:
    assert node_id("Magnesium") == node_id("MAGNESIUM") != node_id("Manganese")
    document = node_document(Node("Ion", "kind", "about", "text", {"group": 2}))
    assert document.id == node_id("ion") and document.readers == ("everyone",)
    assert document.fields == {
        "name": "Ion",
        "node_type": "kind",
        "description": "about",
        "content": "text",
        "metadata": {"group": 2},
    }

    async def none(since: str | None) -> AsyncIterator[DocumentChange]:
        return
        yield

    assert is_public(NodeDocuments(none)) is True
    assert is_public(NoteDocuments(none)) is False


def test_the_reader_of_a_library_does_not_tell_whose_it_is() -> None:
    assert library_of("ada") == library_of("ada") != library_of("bob")
    assert library_of("ada").startswith("library:") and "ada" not in library_of("ada")
