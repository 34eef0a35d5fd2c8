"""Notes and nodes in Firestore, against Google's emulator; and the indexes that the real service
needs.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.libraries.query.notes import Tagged, TitlePrefix, parse_note_query
from carrel.rooms.knowledge.documents import node_id
from carrel.rooms.knowledge.errors import KnowledgeStoreError, NoteChangedError
from carrel.rooms.knowledge.notes import (
    Insert,
    Mine,
    MineAndTeam,
    Node,
    NoteSearch,
    Proposals,
    Replace,
    Team,
)
from carrel.rooms.knowledge.ports import NodeStore, NoteStore
from tests.rooms.knowledge.desk import ADA, BOB, Ask, at_the_desk
from tests.stores.contracts.knowledge import KnowledgeStoreContract, a_note
from tests.stores.firestore_emulator import NoEmulatorError, empty, firestore_emulator

firestore = pytest.importorskip(
    "google.cloud.firestore_v1", reason="the extra `firestore` is not installed"
)

from carrel.stores.firestore.knowledge import FirestoreNodeStore, FirestoreNoteStore, documents  # noqa: E402

PROJECT = "carrel-test"
READS_AT_MOST = 150
TITLES = {"title", "title_key"}
INDEXES = Path(__file__).parents[2] / "deployments" / "firestore.indexes.json"


@pytest.fixture(scope="module")
def emulator() -> Iterator[str]:
    running = firestore_emulator()
    try:
        host = running.__enter__()
    except NoEmulatorError as reason:
        pytest.skip(str(reason))
    before = os.environ.get("FIRESTORE_EMULATOR_HOST")
    os.environ["FIRESTORE_EMULATOR_HOST"] = host
    try:
        yield host
    finally:
        running.__exit__(None, None, None)
        os.environ.pop("FIRESTORE_EMULATOR_HOST")
        if before is not None:
            os.environ["FIRESTORE_EMULATOR_HOST"] = before


def a_store() -> FirestoreNoteStore:
    return FirestoreNoteStore(
        lambda: firestore.AsyncClient(project=PROJECT), reads_at_most=READS_AT_MOST
    )


class TestFirestoreKnowledge(KnowledgeStoreContract):
    @pytest.fixture
    def stores(self, emulator: str) -> Callable[[], Awaitable[tuple[NoteStore, NodeStore]]]:
        async def opened() -> tuple[NoteStore, NodeStore]:
            empty(emulator, PROJECT)
            notes = a_store()
            return notes, FirestoreNodeStore(notes)

        return opened


@pytest.mark.promise("K2")
def test_the_document_has_the_ten_fields_of_the_specification(emulator: str) -> None:
    async def ask() -> dict[str, Any]:
        empty(emulator, PROJECT)
        store = a_store()
        note = a_note(1, "Title", "Content", tags=("tag",))
        await store.write([Insert(note, "ada")])
        raw = await store.client.collection("knowledge").document(note.id).get()
        await store.close()
        return dict(raw.to_dict() or {})

    raw = asyncio.run(ask())
    kinds = {
        "title": str,
        "content": str,
        "user_id": str,
        "source": str,
        "status": str,
        "tags": list,
        "schema_version": int,
    }
    assert all(isinstance(raw[name], kind) for name, kind in kinds.items())
    assert isinstance(raw["created_at"], datetime) and isinstance(raw["updated_at"], datetime)
    assert (raw["source"], raw["status"], raw["schema_version"]) == ("personal", "draft", 1)


@pytest.mark.promise("K2")
def test_notes_that_another_program_wrote_are_found_and_can_be_read(emulator: str) -> None:
    foreign = {
        "title": "Written elsewhere",
        "content": "by a program that knows ten fields",
        "user_id": "ada",
        "source": "personal",
        "status": "draft",
        "tags": ["Elsewhere"],
        "schema_version": 1,
        "created_at": datetime(2026, 1, 1, 12, tzinfo=UTC),
        "updated_at": datetime(2026, 1, 1, 12, tzinfo=UTC),
    }

    async def ask() -> tuple[list[str], list[str]]:
        empty(emulator, PROJECT)
        store = a_store()
        await store.client.collection("knowledge").document("foreign").set(foreign)
        by_title = await store.search(
            NoteSearch(TitlePrefix("written", "Written"), Mine("ada"), "best", 5)
        )
        by_tag = await store.search(
            NoteSearch(Tagged(("elsewhere",), ("Elsewhere",)), Mine("ada"), "best", 5)
        )
        note = await store.find("foreign")
        assert note is not None and note.updated_at == foreign["updated_at"]
        await store.close()
        return [hit.note.id for hit in by_title], [hit.note.id for hit in by_tag]

    assert asyncio.run(ask()) == (["foreign"], ["foreign"])


@pytest.mark.promise("K2")
def test_the_whole_room_works_on_this_store(tmp_path: Path, emulator: str) -> None:
    async def work(ask: Ask) -> None:
        saved = await ask(
            ADA, "save_knowledge", title="Magnesium", content="Blocks NMDA.", tags=["ion"]
        )
        for query in ("magn", "#ion", "text:nmda"):
            assert [hit.id for hit in await ask(ADA, "search_knowledge", query=query)] == [saved.id]
            assert await ask(BOB, "search_knowledge", query=query) == []
        answer = await ask(
            ADA, "elasticsearch", index="knowledge", query={"match": {"content": "nmda"}}
        )
        assert [hit["_id"] for hit in answer.hits["hits"]] == [saved.id]
        await ask(ADA, "delete_knowledge", id=saved.id)
        assert (await ask(ADA, "elasticsearch", index="knowledge", query={})).hits["total"][
            "value"
        ] == 0

    empty(emulator, PROJECT)
    at_the_desk(tmp_path, work, CARREL_KNOWLEDGE_STORE="firestore", GOOGLE_CLOUD_PROJECT=PROJECT)


def test_a_service_that_is_not_there_is_told_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:9")

    async def ask() -> None:
        store = FirestoreNoteStore(lambda: firestore.AsyncClient(project=PROJECT), wait_seconds=0.3)
        with pytest.raises(KnowledgeStoreError, match="no answer in time"):
            await store.find("x")
        await store.close()

    asyncio.run(ask())


def needed_index(query: Any) -> list[tuple[str, str]]:
    """The composite index that Firestore asks for: equalities, then the list, then the order, as
    its documentation says.
    """
    structured = query._to_protobuf()
    equal, contained = set(), set()
    where = structured.where
    filters = where.composite_filter.filters if "composite_filter" in where else [where]
    for one in filters:
        field, operator = one.field_filter.field.field_path, one.field_filter.op.name
        if operator in {"EQUAL", "IN"}:
            equal.add(field)
        elif operator == "ARRAY_CONTAINS":
            contained.add(field)
    order = [(part.field.field_path, part.direction.name) for part in structured.order_by]
    return [
        *((name, "ASCENDING") for name in sorted(equal, key=lambda name: (name in TITLES, name))),
        *((name, "CONTAINS") for name in sorted(contained)),
        *(
            (name, direction)
            for name, direction in order
            if name not in equal and name != "__name__"
        ),
    ]


@pytest.mark.promise("K2")
def test_every_question_we_ask_has_its_index_in_the_file_that_is_deployed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = json.loads(INDEXES.read_text(encoding="utf-8"))
    shipped = set()
    for index in file["indexes"]:
        assert set(index) == {"collectionGroup", "queryScope", "fields"}
        assert index["queryScope"] == "COLLECTION"
        for field in index["fields"]:
            assert set(field) in ({"fieldPath", "order"}, {"fieldPath", "arrayConfig"})
            assert field.get("order") in {None, "ASCENDING", "DESCENDING"} and field.get(
                "arrayConfig"
            ) in {None, "CONTAINS"}
        fields = tuple(
            (field["fieldPath"], field.get("order") or field["arrayConfig"])
            for field in index["fields"]
        )
        shipped.add((index["collectionGroup"], _normal(fields)))
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:9")
    notes = firestore.AsyncClient(project=PROJECT).collection("knowledge")
    asked = []
    for shelf in (Mine("ada"), Team(), MineAndTeam("ada"), Proposals()):
        for place in documents.shelf_filters(shelf):
            asked.append(documents.newest_notes(notes, place))
            asked += [
                documents.notes_with_value(notes, place, field, "x")
                for field in ("tags", "tag_keys", "words")
            ]
            asked += [
                documents.notes_with_titles(notes, place, field, ["x"])
                for field in ("title", "title_key")
            ]
            asked += [
                documents.notes_with_prefix(notes, place, field, "x", order)
                for field in ("title", "title_key")
                for order in ("best", "newest")
            ]
    missing = {
        _normal(needed_index(query))
        for query in asked
        if ("knowledge", _normal(needed_index(query))) not in shipped
    }
    assert not missing
    for facts in ([("tags", "CONTAINS")], [("user_id", "ASCENDING")], [("status", "ASCENDING")]):
        assert ("knowledge", _normal([*facts, ("created_at", "DESCENDING")])) in shipped


def _normal(fields: Any) -> tuple[Any, ...]:
    """Fields that are compared for equality may stand in any order before the rest."""
    fields = list(fields)
    split = next(
        (place for place, (_, kind) in enumerate(fields) if kind in {"CONTAINS", "DESCENDING"}),
        len(fields),
    )
    head, tail = fields[:split], fields[split:]
    if head and head[-1][0] in TITLES and tail:
        tail = [head.pop(), *tail]
    return (*sorted(head), *tail)


@pytest.mark.promise("K2")
def test_writers_who_crowd_on_one_note_are_told_of_a_conflict_and_never_of_a_bug(
    emulator: str, tmp_path: Path
) -> None:
    """The client's own transactions gave up after 11 seconds with an error that no door knew."""
    empty(emulator, PROJECT)

    async def work(ask: Ask) -> tuple[list[str], int]:
        saved = await ask(ADA, "save_knowledge", title="Contended", content="before")
        outcomes: list[str] = []

        async def write(number: int) -> None:
            for _ in range(3):
                try:
                    seen = await ask(ADA, "get_knowledge", id=saved.id)
                    await ask(
                        ADA,
                        "save_knowledge",
                        id=saved.id,
                        updated_at=seen.updated_at,
                        content=f"by {number}",
                    )
                    outcomes.append("saved")
                except CarrelError as error:
                    outcomes.append(error.code)

        await asyncio.gather(*(write(number) for number in range(20)))
        return outcomes, len(await ask(ADA, "get_knowledge_history", id=saved.id, limit=100))

    outcomes, versions = at_the_desk(
        tmp_path,
        work,
        CARREL_KNOWLEDGE_STORE="firestore",
        GOOGLE_CLOUD_PROJECT=PROJECT,
        FIRESTORE_EMULATOR_HOST=emulator,
    )
    assert set(outcomes) <= {"saved", "conflict", "unavailable"}
    assert 1 <= outcomes.count("saved") == versions - 1


@pytest.mark.promise("K2")
def test_writers_who_read_again_after_a_conflict_all_get_their_turn(emulator: str) -> None:
    empty(emulator, PROJECT)

    async def work() -> list[str]:
        store = a_store()
        first = a_note(1, "Counted", "0")
        await store.write([Insert(first, "ada")])

        async def add_one(number: int) -> None:
            while True:
                present = await store.find(first.id)
                assert present is not None
                later = max(present.updated_at + timedelta(microseconds=1), first.updated_at)
                changed = replace(present, content=str(int(present.content) + 1), updated_at=later)
                try:
                    await store.write([Replace(changed, present.updated_at, f"writer {number}")])
                except (NoteChangedError, KnowledgeStoreError):
                    continue
                return

        await asyncio.gather(*(add_one(number) for number in range(12)))
        found = await store.find(first.id)
        history = await store.history(first.id, 100)
        await store.close()
        assert found is not None and found.content == "12"
        return [version.by for version in history]

    assert sorted(asyncio.run(work())) == sorted(
        ["ada", *(f"writer {number}" for number in range(12))]
    )


@pytest.mark.promise("K2")
def test_documents_of_an_earlier_version_are_found_under_the_fold_of_all_rooms(
    emulator: str,
) -> None:
    empty(emulator, PROJECT)

    async def work() -> None:
        store = a_store()
        note = a_note(1, "Ørsted", "smørrebrød", tags=("Ål",))
        await store.write([Insert(note, "ada")])
        await FirestoreNodeStore(store).put([Node("Ørsted")])
        document = store.client.collection("knowledge").document(note.id)
        older = {"title_key": "ørsted", "tag_keys": ["ål"], "words": ["ørsted", "smørrebrød"]}
        await document.update(older)
        foreign = {"title": "Ørsted elsewhere", "user_id": "ada", "source": "personal"}
        await store.client.collection("knowledge").document("foreign").set(foreign)
        await (
            store.client.collection("knowledge_nodes")
            .document(node_id("Ørsted"))
            .update({"search_key": firestore.DELETE_FIELD, "grams": ["ørs"]})
        )
        await store.close()
        for _ in range(2):
            store = a_store()
            nodes = FirestoreNodeStore(store)
            assert list(await nodes.find(["orsted"])) == ["orsted"]
            for query in ("orsted", "Ørsted", "#al", "text:smorrebrod"):
                search = NoteSearch(parse_note_query(query), Mine("ada"), "best", 5)
                assert [hit.note.id for hit in await store.search(search)] == [note.id], query
            assert await nodes.near("orstedt", 5) == ["Ørsted"]
            left = await store.client.collection("knowledge").document("foreign").get()
            assert left.to_dict() == foreign
            await store.close()

    asyncio.run(work())
