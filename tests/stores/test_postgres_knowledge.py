"""Notes and nodes in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from carrel.libraries.query.notes import parse_note_query
from carrel.rooms.knowledge.errors import KnowledgeStoreError
from carrel.rooms.knowledge.notes import Insert, Mine, NoteSearch, Remove
from carrel.rooms.knowledge.ports import NodeStore, NoteStore
from carrel.settings import SettingsError
from tests.rooms.knowledge.desk import ADA, BOB, Ask, at_the_desk
from tests.stores.contracts.knowledge import KnowledgeStoreContract, a_note, told
from tests.stores.postgres_server import NoPostgresError, postgres_server

psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.knowledge import STEPS, postgres_knowledge  # noqa: E402
from carrel.stores.postgres.pool import PoolOptions  # noqa: E402


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    server = postgres_server()
    try:
        url = server.__enter__()
    except NoPostgresError as reason:
        pytest.skip(str(reason))
    try:
        yield url
    finally:
        server.__exit__(None, None, None)


class TestPostgresKnowledge(KnowledgeStoreContract):
    @pytest.fixture
    def stores(self, postgres_url: str) -> Callable[[], Awaitable[tuple[NoteStore, NodeStore]]]:
        async def opened() -> tuple[NoteStore, NodeStore]:
            async with await psycopg.AsyncConnection.connect(
                postgres_url, autocommit=True
            ) as connection:
                await connection.execute("DROP SCHEMA public CASCADE")
                await connection.execute("CREATE SCHEMA public")
            return postgres_knowledge(postgres_url)

        return opened


def test_a_server_that_is_not_there_is_told_plainly_without_its_address() -> None:
    async def ask() -> None:
        store, _ = postgres_knowledge(
            "postgresql://u:secret@127.0.0.1:9/x", PoolOptions(wait_seconds=0.2)
        )
        with pytest.raises(KnowledgeStoreError) as refused:
            await store.find("x")
        assert "secret" not in refused.value.message
        await store.close()

    asyncio.run(ask())


def test_tables_of_a_newer_carrel_are_left_alone(postgres_url: str) -> None:
    async def ask() -> None:
        async with await psycopg.AsyncConnection.connect(
            postgres_url, autocommit=True
        ) as connection:
            await connection.execute("DROP SCHEMA public CASCADE")
            await connection.execute("CREATE SCHEMA public")
            await connection.execute(
                "CREATE TABLE carrel_versions (part text PRIMARY KEY, version integer NOT NULL)"
            )
            await connection.execute("INSERT INTO carrel_versions VALUES ('knowledge', 99)")
        store, _ = postgres_knowledge(postgres_url)
        with pytest.raises(KnowledgeStoreError):
            await store.check()
        await store.close()

    asyncio.run(ask())


def test_the_store_without_an_address_is_refused_before_anything_starts(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        raise AssertionError("nothing may start")

    with pytest.raises(SettingsError, match="no database is named"):
        at_the_desk(tmp_path, work, CARREL_KNOWLEDGE_STORE="postgres")


@pytest.mark.promise("K2")
def test_the_whole_room_works_on_this_store(tmp_path: Path, postgres_url: str) -> None:
    async def clean() -> None:
        async with await psycopg.AsyncConnection.connect(
            postgres_url, autocommit=True
        ) as connection:
            await connection.execute("DROP SCHEMA public CASCADE")
            await connection.execute("CREATE SCHEMA public")

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

    asyncio.run(clean())
    at_the_desk(tmp_path, work, CARREL_KNOWLEDGE_STORE="postgres", DATABASE_URL=postgres_url)


@pytest.mark.promise("K7")
def test_tables_of_an_earlier_version_find_letters_under_the_fold_of_all_rooms(
    postgres_url: str,
) -> None:
    async def work() -> None:
        async with await psycopg.AsyncConnection.connect(
            postgres_url, autocommit=True
        ) as connection:
            await connection.execute("DROP SCHEMA public CASCADE")
            await connection.execute("CREATE SCHEMA public")
            for step in STEPS[:2]:
                assert isinstance(step, str)
                await connection.execute(step.encode())
            await connection.execute(
                "CREATE TABLE carrel_versions (part text PRIMARY KEY, version integer NOT NULL)"
            )
            await connection.execute("INSERT INTO carrel_versions VALUES ('knowledge', 2)")
            await connection.execute(
                "INSERT INTO knowledge_notes (id, title, title_key, content, user_id, source, "
                "status, tags, schema_version, created_at, updated_at, shelf, words) VALUES "
                "('n', 'Ørsted', 'ørsted', 'smørrebrød', 'ada', 'personal', 'draft', "
                "ARRAY['Ål'], 1, now(), now(), 'open:ada', 'ørsted:1A smørrebrød:3')"
            )
            await connection.execute(
                "INSERT INTO knowledge_note_tags SELECT 'ål', shelf, created_at, id "
                "FROM knowledge_notes"
            )
            await connection.execute(
                "INSERT INTO knowledge_nodes (name_key, name, node_type, description, content, "
                "metadata, grams) VALUES ('ørsted', 'Ørsted', '', '', '', '{}', ARRAY['ørs'])"
            )
        notes, nodes = postgres_knowledge(postgres_url)
        for query in ("orsted", "Ørsted", "#al", "text:smorrebrod", "text:orsted"):
            search = NoteSearch(parse_note_query(query), Mine("ada"), "best", 5)
            assert [hit.note.id for hit in await notes.search(search)] == ["n"], query
        assert list(await nodes.find(["orsted"])) == ["orsted"]
        assert await nodes.near("orstedt", 5) == ["Ørsted"]
        await notes.close()

    asyncio.run(work())


@pytest.mark.promise("K8")
def test_a_transaction_that_commits_late_is_told_after_later_ones(postgres_url: str) -> None:
    async def work() -> None:
        store, _ = postgres_knowledge(postgres_url)
        try:
            slow, quick = a_note(901, "slow"), a_note(902, "quick")
            await store.write([Insert(slow, "ada")])
            with psycopg.connect(postgres_url) as open_transaction:
                open_transaction.execute(
                    "UPDATE knowledge_notes SET title = 'slow at last', "
                    "changed_in = pg_current_xact_id() WHERE id = %s",
                    (slow.id,),
                )
                await store.write([Insert(quick, "ada")])
                cursor, puts, _ = await told(store, None)
                assert {"slow", "quick"} <= puts
                open_transaction.commit()
            _, puts, _ = await told(store, cursor)
            assert "slow at last" in puts
            await store.write([Remove(quick.id, quick.updated_at)])
            _, _, drops = await told(store, cursor)
            assert quick.id in drops
        finally:
            await store.close()

    asyncio.run(work())


@pytest.mark.promise("K8")
def test_rows_that_a_restore_brought_from_a_busier_server_are_told_once(postgres_url: str) -> None:
    async def work() -> None:
        store, _ = postgres_knowledge(postgres_url)
        try:
            note = a_note(903, "restored")
            await store.write([Insert(note, "ada")])
            cursor, _, _ = await told(store, None)
            with psycopg.connect(postgres_url) as restoring:
                # A restore writes the file of the table anew and keeps the numbers of its origin.
                restoring.execute("CREATE TEMPORARY TABLE kept AS SELECT * FROM knowledge_notes")
                restoring.execute("TRUNCATE knowledge_notes CASCADE")
                restoring.execute("UPDATE kept SET changed_in = '99999999999'::xid8")
                restoring.execute("INSERT INTO knowledge_notes SELECT * FROM kept")
            cursor, puts, _ = await told(store, cursor)
            assert "restored" in puts
            await store.write([Insert(a_note(904, "after"), "ada")])
            _, puts, _ = await told(store, cursor)
            assert "after" in puts
        finally:
            await store.close()

    asyncio.run(work())
