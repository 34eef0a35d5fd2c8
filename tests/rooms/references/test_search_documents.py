"""References as documents of a search index: what is said of each, and for whom."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from carrel.core.caller import LOCAL_USER, library_name
from carrel.rooms.knowledge.documents import (
    Checkpoint,
    Document,
    DocumentChange,
    DocumentSource,
    Put,
    Reset,
    library_reader,
)
from carrel.stores.csl_json.library_places import LIBRARY_NAME
from carrel.stores.csl_json.search_documents import (
    AllReferences,
    PersonalReferences,
    reference_document,
)


async def told(source: DocumentSource, since: str | None = None) -> list[DocumentChange]:
    return [change async for change in source.changes(since)]


def documents(changes: list[DocumentChange]) -> list[Document]:
    return [change.document for change in changes if isinstance(change, Put)]


def test_a_reference_says_what_it_has_and_only_its_owner_may_read_it() -> None:
    item = {
        "id": "smith",
        "type": "book",
        "title": "On cells",
        "author": [{"family": "Smith", "given": "Ann"}, {"literal": "WHO"}, {}],
        "issued": {"date-parts": [[2024]]},
        "container-title": "Cell",
        "DOI": "10.1234/A",
        "keyword": "a; b",
        "custom": {"tags": ["t"]},
    }
    document = reference_document(item, "lib")
    assert (document.id, document.readers) == ("smith", (library_reader("lib"),))
    assert document.fields == {
        "reference_id": "smith",
        "type": "book",
        "title": "On cells",
        "authors": ["Ann Smith", "WHO"],
        "venue": "Cell",
        "year": 2024,
        "keywords": ["a", "b"],
        "tags": ["t"],
        "doi": "10.1234/a",
    }


@pytest.mark.parametrize(
    ("year", "said"), [(100_000, 100_000), (-100_000, -100_000), (100_001, None), (None, None)]
)
def test_a_year_that_no_index_takes_is_left_out(year: int | None, said: int | None) -> None:
    issued = {} if year is None else {"issued": {"date-parts": [[year]]}}
    assert reference_document({"id": "a", **issued}, "lib").fields.get("year") == said


def test_ids_and_texts_that_no_index_takes_are_made_fit() -> None:
    longest = "x" * 400
    assert reference_document({"id": longest}, "lib").id == longest
    longer = reference_document({"id": longest + "x"}, "lib")
    assert len(longer.id) == 64 and longer.fields["reference_id"] == longest + "x"
    odd = reference_document({"id": "a\ud800", "keyword": "k\ud800", "title": "t\udfff"}, "lib")
    assert (odd.id, odd.fields["keywords"], odd.fields["title"]) == ("a?", ["k?"], "t?")


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """The local user's library, and the folder of the others'."""
    local, users = tmp_path / "library.json", tmp_path / "users"
    local.write_text(json.dumps([{"id": "same", "title": "local"}]))
    ada = users / library_name("ada") / LIBRARY_NAME
    ada.parent.mkdir(parents=True)
    ada.write_text(json.dumps([{"id": "same", "title": "of Ada"}]))
    return local, users


def test_everybody_has_an_index_of_their_own_and_nobody_else_has_any(
    places: tuple[Path, Path],
) -> None:
    async def work() -> None:
        references = PersonalReferences(*places)

        def of(*names: str) -> DocumentSource | None:
            return references.of(frozenset(library_reader(name) for name in names))

        ada, local = library_name("ada"), library_name(LOCAL_USER)
        own = references.of(frozenset({library_reader(ada), "everyone", "user:ada"}))
        assert own is not None and own.index == f"references/{ada}"
        first = await told(own)
        assert [one.fields["title"] for one in documents(first)] == ["of Ada"]
        assert first[0] == Reset() and isinstance(first[-1], Checkpoint)
        assert of(ada) is own, "what was told is remembered"
        assert await told(own, first[-1].cursor) == []
        (places[1] / ada / LIBRARY_NAME).write_text(json.dumps([{"id": "same", "title": "new"}]))
        later = await told(own, first[-1].cursor)
        assert [one.fields["title"] for one in documents(later)] == ["new"]
        assert len(later) == 2, "only what changed is told, and how far"
        mine = of(local)
        assert mine is not None
        assert [one.fields["title"] for one in documents(await told(mine))] == ["local"]
        stranger = of(library_name("bob"))
        assert stranger is not None and documents(await told(stranger)) == []
        assert references.of(frozenset({"everyone"})) is None
        assert of(ada, local) is None
        await references.close()

    asyncio.run(work())


def test_all_libraries_together_keep_owners_and_ids_apart(places: tuple[Path, Path]) -> None:
    async def work() -> None:
        everything = AllReferences(*places)
        source = everything.source
        changes = await told(source)
        found = {one.id: (one.fields["title"], one.readers) for one in documents(changes)}
        ada, local = library_name("ada"), library_name(LOCAL_USER)
        assert found == {
            f"{ada}/same": ("of Ada", (library_reader(ada),)),
            f"{local}/same": ("local", (library_reader(local),)),
        }
        checkpoint = changes[-1]
        assert isinstance(checkpoint, Checkpoint)
        assert await told(source, checkpoint.cursor) == []
        places[0].write_text(json.dumps([{"id": "same", "title": "changed"}]))
        later = await told(source, checkpoint.cursor)
        assert [one.id for one in documents(later)] == [f"{local}/same"]
        await everything.close()

    asyncio.run(work())
