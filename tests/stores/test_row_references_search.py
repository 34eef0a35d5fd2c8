"""Libraries that are rows as documents of search bodies: each for its owner, and followed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from carrel.core.caller import Caller, library_name
from carrel.rooms.knowledge.documents import (
    Checkpoint,
    Document,
    DocumentChange,
    Drop,
    Put,
    Reset,
    library_of,
)
from carrel.rooms.references.items import Item
from carrel.rooms.references.ports import Change
from carrel.settings import Settings
from carrel.stores.sql.driver import Driver
from carrel.stores.sql.references.libraries import RowLibraries
from carrel.stores.sql.references.library_ends import RowLibraryEnds
from carrel.stores.sql.references.search_documents import RowReferences
from carrel.stores.sqlite.driver import SqliteDriver
from tests.rooms.knowledge.desk import Ask, at_the_desk, caller
from tests.rooms.papers.cluster import clean, cluster_settings
from tests.stores.conftest import postgres_server_url, postgres_url

__all__ = ["postgres_server_url", "postgres_url"]

ADA, BOB = Caller("ada", frozenset()), Caller("bob", frozenset())
OpenDriver = Callable[[], Driver]


@pytest.fixture(params=["sqlite", "postgres"])
def open_driver(request: pytest.FixtureRequest, tmp_path: Path) -> OpenDriver:
    steps = RowLibraries.schema_steps
    if request.param == "sqlite":
        return lambda: SqliteDriver(tmp_path / "rows.sqlite", steps)
    pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")
    from carrel.stores.postgres.database import PostgresDatabase

    url = request.getfixturevalue("postgres_url")
    return lambda: PostgresDatabase(url, "references", steps)


def item(name: str, title: str) -> Item:
    return {"id": name, "type": "book", "title": title}


class Index:
    """What an index holds that takes every change."""

    def __init__(self) -> None:
        self.documents: dict[str, Document] = {}
        self.cursor: str | None = None
        self.told: list[DocumentChange] = []

    async def follow(self, source: RowReferences) -> None:
        self.told = [change async for change in source.changes(self.cursor)]
        for change in self.told:
            match change:
                case Reset():
                    self.documents.clear()
                case Put(document):
                    self.documents[document.id] = document
                case Drop(name):
                    self.documents.pop(name, None)
                case Checkpoint(cursor):
                    self.cursor = cursor

    @property
    def titles(self) -> dict[str, object]:
        return {name: each.fields["title"] for name, each in self.documents.items()}


@pytest.mark.promise("L10")
def test_any_process_goes_on_where_the_last_one_was(
    open_driver: OpenDriver, tmp_path: Path
) -> None:
    async def whole() -> None:
        libraries = RowLibraries(open_driver(), tmp_path / "cache")
        ada, bob = libraries.of(ADA), libraries.of(BOB)
        index = Index()
        await index.follow(RowReferences(open_driver()))
        assert index.documents == {}
        await ada.add((), lambda known: [item("same", "Of Ada"), item("gone", "Soon away")])
        await bob.add((), lambda known: [item("same", "Of Bob")])
        await index.follow(RowReferences(open_driver()))
        hers, his = library_name("ada"), library_name("bob")
        assert index.titles == {
            f"{hers}/same": "Of Ada",
            f"{hers}/gone": "Soon away",
            f"{his}/same": "Of Bob",
        }
        assert index.documents[f"{hers}/same"].readers == (library_of("ada"),)
        assert index.documents[f"{his}/same"].readers == (library_of("bob"),)
        await ada.remove("gone")
        await bob.change("same", lambda before: Change({"title": "Changed"}))
        another = RowReferences(open_driver())
        await index.follow(another)
        assert not any(isinstance(change, Reset) for change in index.told)
        assert index.titles == {f"{hers}/same": "Of Ada", f"{his}/same": "Changed"}
        await index.follow(another)
        assert index.told == []
        await ada.add((), lambda known: [item("gone", "Back again")])
        await index.follow(another)
        assert index.titles[f"{hers}/gone"] == "Back again"
        await libraries.close()

    asyncio.run(whole())


def test_what_somebody_leaves_is_no_longer_in_the_index(
    open_driver: OpenDriver, tmp_path: Path
) -> None:
    """Nor does somebody find it who is given the same name later."""

    async def whole() -> None:
        libraries, ends = (
            RowLibraries(open_driver(), tmp_path / "cache"),
            RowLibraryEnds(open_driver()),
        )
        index = Index()
        for owner in (ADA, BOB):
            await libraries.of(owner).add((), lambda known: [item("one", "A book")])
        await index.follow(RowReferences(open_driver()))
        assert len(index.documents) == 2
        await ends.remove_library("ada")
        # As many libraries as before, and more changes of them.
        cleo = libraries.of(Caller("cleo", frozenset()))
        await cleo.add((), lambda known: [item("c0", "Of Cleo")])
        await cleo.change("c0", lambda before: Change({"title": "Changed"}))
        await cleo.change("c0", lambda before: Change({"title": "Again"}))
        await index.follow(RowReferences(open_driver()))
        assert {library.partition("/")[0] for library in index.documents} == {
            library_name("bob"),
            library_name("cleo"),
        }
        await ends.remove_library("nobody")
        await index.follow(RowReferences(open_driver()))
        assert index.told == []
        await libraries.close()
        await ends.close()

    asyncio.run(whole())


def test_an_index_is_made_anew_after_the_libraries_went_back(
    open_driver: OpenDriver, tmp_path: Path
) -> None:
    """As by a database that was restored from its backup of before."""

    async def whole() -> None:
        driver = open_driver()
        libraries = RowLibraries(driver, tmp_path / "cache")
        await libraries.of(ADA).add((), lambda known: [item("kept", "Kept")])
        index = Index()
        await index.follow(RowReferences(driver))
        await libraries.of(ADA).add((), lambda known: [item("lost", "Lost again")])
        await index.follow(RowReferences(driver))
        assert len(index.documents) == 2
        for sql in (
            "DELETE FROM reference_items WHERE id = 'lost'",
            "DELETE FROM reference_versions WHERE id = 'lost'",
            "DELETE FROM reference_changes WHERE revision = 2",
            "UPDATE reference_libraries SET revision = 1",
        ):
            await driver.run((sql, {}))
        await index.follow(RowReferences(driver))
        assert list(index.titles.values()) == ["Kept"]
        await libraries.close()

    asyncio.run(whole())


@pytest.mark.parametrize("locale", ["LOCALE 'C'", "LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"])
def test_everything_is_sent_whatever_the_language_of_the_database(
    postgres_url: str, tmp_path: Path, locale: str
) -> None:
    """In English `own-~` comes before `own-0`."""
    psycopg = pytest.importorskip("psycopg")
    from carrel.stores.postgres.database import PostgresDatabase

    name = f"{postgres_url.rpartition('/')[2]}_sorted"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 {locale}")
    url = f"{postgres_url.rpartition('/')[0]}/{name}"

    async def whole() -> None:
        libraries = RowLibraries(
            PostgresDatabase(url, "references", RowLibraries.schema_steps), tmp_path / "cache"
        )
        names = ["b", "A", "a-1", "~", "ä", "_z"]
        await libraries.of(ADA).add((), lambda known: [item(each, each) for each in names])
        index = Index()
        await index.follow(
            RowReferences(PostgresDatabase(url, "references", RowLibraries.schema_steps))
        )
        assert sorted(map(str, index.titles.values())) == sorted(names)
        await libraries.close()

    try:
        asyncio.run(whole())
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    chosen = cluster_settings(tmp_path / "home")
    yield chosen
    asyncio.run(clean(chosen))


@pytest.mark.promise("K6", "L10")
def test_nobody_learns_of_anothers_references_by_hits_counts_or_scores(
    settings: Settings, postgres_url: str, tmp_path: Path
) -> None:
    surroundings = {
        "CARREL_ROOMS": "references,knowledge",
        "DATABASE_URL": postgres_url,
        "CARREL_ELASTICSEARCH_URL": str(settings.elasticsearch.url),
        "CARREL_ELASTICSEARCH_PREFIX": settings.elasticsearch.prefix,
    }
    scopes = ("knowledge:read", "knowledge:write", "references:read", "references:write")
    ada, bob = caller("ada", *scopes), caller("bob", *scopes)
    about_magnesium = {"query": {"match": {"title": "magnesium"}}}
    counted = {**about_magnesium, "size": 0, "aggs": {"n": {"terms": {"field": "type"}}}}

    async def first_server(ask: Ask) -> None:
        for number in range(3):
            text = f"@book{{b{number}, title={{Magnesium and migraine {number}}}}}"
            await ask(bob, "add_references", input=text)
        await ask(ada, "add_references", input="@book{a, title={Magnesium alone}}")

    async def second_server(ask: Ask) -> None:
        hers = await ask(ada, "elasticsearch", index="references", query=about_magnesium)
        assert [hit["_source"]["title"] for hit in hers.hits["hits"]] == ["Magnesium alone"]
        assert hers.hits["total"]["value"] == 1
        alone = hers.hits["max_score"]
        told = await ask(ada, "elasticsearch", index="references", query=counted)
        assert [each["doc_count"] for each in told.aggregations["n"]["buckets"]] == [1]
        nobody = caller("eve", "knowledge:read", "references:read")
        nothing = await ask(nobody, "elasticsearch", index="references", query=about_magnesium)
        assert nothing.hits["total"]["value"] == 0
        his = await ask(bob, "elasticsearch", index="references", query=about_magnesium)
        assert his.hits["total"]["value"] == 3
        for hit in his.hits["hits"]:
            await ask(bob, "remove_reference", id=hit["_source"]["reference_id"], force=True)
        # Gone at once, and Ada's score is what it was.
        gone = await ask(bob, "elasticsearch", index="references", query=about_magnesium)
        assert gone.hits["total"]["value"] == 0
        again = await ask(ada, "elasticsearch", index="references", query=about_magnesium)
        assert again.hits["max_score"] == alone

    at_the_desk(tmp_path / "one", first_server, **surroundings)
    at_the_desk(tmp_path / "two", second_server, **surroundings)
