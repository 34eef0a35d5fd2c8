"""Notes and nodes in SQLite."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from carrel.libraries.query.notes import Condition, Tagged, TextMatch, TitlePrefix, parse_note_query
from carrel.libraries.text.tokenizer import case_key, index_terms
from carrel.rooms.knowledge.documents import Drop
from carrel.rooms.knowledge.errors import KnowledgeStoreError
from carrel.rooms.knowledge.notes import Insert, Mine, MineAndTeam, NoteSearch, Remove
from carrel.rooms.knowledge.ports import NodeStore, NoteStore
from carrel.stores.database_identity import DatabaseReplacedError
from carrel.stores.sqlite.connection import drive
from carrel.stores.sqlite.database import Database
from carrel.stores.sqlite.driver import SqliteDriver
from carrel.stores.sqlite.knowledge import STEPS, SqliteNoteStore, sqlite_knowledge
from tests.processes import warm
from tests.stores.contracts.knowledge import KnowledgeStoreContract, a_note
from tests.stores.query_plans import Statements


class TestSqliteKnowledge(KnowledgeStoreContract):
    @pytest.fixture
    def stores(self, tmp_path: Path) -> Callable[[], Awaitable[tuple[NoteStore, NodeStore]]]:
        async def opened() -> tuple[NoteStore, NodeStore]:
            return sqlite_knowledge(tmp_path / "home" / "knowledge.sqlite")

        return opened


_WRITER = """
import asyncio, sys
from pathlib import Path
from carrel.rooms.knowledge.notes import Insert
from carrel.stores.sqlite.knowledge import sqlite_knowledge
from tests.stores.contracts.knowledge import a_note

async def main():
    store, _ = sqlite_knowledge(Path(sys.argv[1]))
    async def one(number):
        await store.write([Insert(a_note(number, f"t{number}", "word " * 200, tags=("a", "b")), "ada")])
        print(number, flush=True)
    for start in range(0, 1_000_000, 8):
        await asyncio.gather(*(one(start + place) for place in range(8)))

asyncio.run(main())
"""  # noqa: E501


@pytest.mark.promise("K2")
def test_what_was_saved_before_a_kill_is_there_after_it_and_the_file_is_sound(
    tmp_path: Path,
) -> None:
    file = tmp_path / "knowledge.sqlite"
    root = Path(__file__).parents[2]
    writer = warm.start(
        [sys.executable, "-c", _WRITER, str(file)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={"PYTHONPATH": "src:."},
    )
    assert writer.stdout is not None
    saved = [int(next(writer.stdout)) for _ in range(100)]
    writer.send_signal(signal.SIGKILL)
    saved += [int(line) for line in writer.stdout.read().splitlines() if line]
    writer.wait()

    async def check() -> None:
        store, _ = sqlite_knowledge(file)
        for number in saved:
            assert await store.find(a_note(number, "").id) is not None
        await store.write([Insert(a_note(9_999_999, "after"), "ada")])
        assert await store.search(NoteSearch(TitlePrefix("after"), Mine("ada"), "best", 1))
        await store.close()

    asyncio.run(check())
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        counts = connection.execute(
            "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM note_history), (SELECT "
            "count(*) FROM note_shelf_words)"
        ).fetchone()
        assert len(set(counts)) == 1


def test_a_file_that_is_no_database_is_told_plainly_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "knowledge.sqlite"
    file.write_bytes(b"not a database, but somebody's text" * 100)
    before = file.read_bytes()

    async def ask() -> None:
        store, _ = sqlite_knowledge(file)
        with pytest.raises(DatabaseReplacedError, match="not a database"):
            await store.find("x")
        with pytest.raises(DatabaseReplacedError, match="not a database"):
            await store.write([Insert(a_note(1, "t"), "ada")])
        await store.close()

    asyncio.run(ask())
    assert file.read_bytes() == before


def test_a_file_of_a_newer_carrel_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "knowledge.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")

    async def ask() -> None:
        store, _ = sqlite_knowledge(file)
        with pytest.raises(KnowledgeStoreError, match="newer Carrel"):
            await store.check()
        await store.close()

    asyncio.run(ask())


def test_an_older_file_is_copied_before_it_is_brought_forward(tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite"

    async def upgrade() -> None:
        old = Database(file, ["CREATE TABLE a (x)"])
        await old.write(lambda connection: connection.execute("INSERT INTO a VALUES (1)").rowcount)
        await old.close()
        new = Database(file, ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y"])
        assert await new.read(
            lambda connection: connection.execute("SELECT x, y FROM a").fetchall()
        ) == [(1, None)]
        await new.close()

    asyncio.run(upgrade())
    with sqlite3.connect(tmp_path / "old.before-v1-to-v2.sqlite") as copy:
        assert copy.execute("SELECT * FROM a").fetchall() == [(1,)]


def test_two_processes_may_share_the_file(tmp_path: Path) -> None:
    async def both() -> None:
        first, second = (sqlite_knowledge(tmp_path / "k.sqlite")[0] for _ in range(2))
        writes = [
            store.write([Insert(a_note(number * 2 + place, "t"), "ada")])
            for place, store in enumerate((first, second))
            for number in range(50)
        ]
        await asyncio.gather(*writes)
        assert (await first.check()).startswith("100 notes")
        await first.close()
        await second.close()

    asyncio.run(both())


@pytest.mark.promise("Q11", "K7")
def test_a_file_of_the_first_version_finds_its_words_and_originals_whose_team_copy_is_gone(
    tmp_path: Path,
) -> None:
    file = tmp_path / "knowledge.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        first_script = STEPS[0]
        assert isinstance(first_script, str)
        for statement in first_script.split(";\n"):
            connection.execute(statement)
        connection.execute("PRAGMA user_version = 1")
        for name in ("Ørsted", "Orsted"):
            connection.execute(
                "INSERT INTO nodes (name_key, name, node_type, description, content, metadata) "
                "VALUES (?, ?, '', '', '', '{}')",
                (case_key(name), name),
            )
        columns = (
            "id, title, title_key, content, user_id, source, status, tags, schema_version, "
            "created_at, updated_at, shelf"
        )
        rows = [
            (
                "kept",
                "Kept",
                "kept",
                "magnesium calms",
                "ada",
                "personal",
                "promoted",
                '["ion"]',
                "done:ada",
                "copy",
            ),
            (
                "copy",
                "Kept",
                "kept",
                "magnesium calms",
                "ada",
                "team",
                "promoted",
                '["ion"]',
                "team",
                None,
            ),
            (
                "lost",
                "Lost",
                "lost",
                "migraine and magnesium",
                "ada",
                "personal",
                "promoted",
                '["ion"]',
                "done:ada",
                "gone",
            ),
            ("mine", "", "", "müller 知識", "ada", "personal", "draft", "[]", "open:ada", None),
            (
                "danish",
                "Ørsted",
                "ørsted",
                "smørrebrød",
                "ada",
                "personal",
                "draft",
                '["Ål"]',
                "open:ada",
                None,
            ),
        ]
        for number, (
            id_,
            title,
            key,
            content,
            user,
            source,
            status,
            tags,
            shelf,
            copy,
        ) in enumerate(rows, 1):
            connection.execute(
                f"INSERT INTO notes (number, {columns}, promoted_to_id) VALUES (?, ?, ?, ?, ?, ?, "
                f"?, ?, ?, 1, 5, 5, ?, ?)",
                (number, id_, title, key, content, user, source, status, tags, shelf, copy),
            )
            if tags != "[]":
                tag = case_key(json.loads(tags)[0])
                row = (tag, shelf, number)
                connection.execute("INSERT INTO note_tags VALUES (?, ?, 5, ?)", row)
            # The words of that version kept letters like ø.
            body = content if id_ == "danish" else " ".join(index_terms(content))
            connection.execute(
                "INSERT INTO note_words (rowid, title, body) VALUES (?, ?, ?)", (number, key, body)
            )
            connection.execute(
                "INSERT INTO changes (kind, key, is_removed) VALUES ('note', ?, 0)", (id_,)
            )

    async def check() -> None:
        store, nodes = sqlite_knowledge(file)

        async def found(condition: Condition) -> list[str]:
            return sorted(
                hit.note.id
                for hit in await store.search(NoteSearch(condition, MineAndTeam("ada"), "best", 10))
            )

        assert await found(TextMatch((("magnesium",),))) == ["copy", "lost"]
        assert await found(TextMatch((("and", "magnesium"),))) == ["lost"]
        assert await found(TextMatch((("知識",), ("muller",)))) == ["mine"]
        assert await found(Tagged(("ion",))) == ["copy", "lost"]
        assert await found(TitlePrefix("lost")) == ["lost"]
        for query in ("orsted", "Ørsted", "#al", "text:smorrebrod", "text:orsted"):
            assert await found(parse_note_query(query)) == ["danish"], query
        assert {
            name: node.name for name, node in (await nodes.find(["ørsted", "orsted"])).items()
        } == {
            "ørsted": "Ørsted",
            "orsted": "Orsted",
        }
        assert "Ørsted" in await nodes.near("orstedt", 5)
        lost = await store.find("lost")
        assert lost is not None and (lost.status, lost.promoted_to_id) == ("draft", None)
        await store.write([Remove("lost", lost.updated_at)])
        assert await found(TextMatch((("magnesium",),))) == ["copy"]
        told = [change async for change in store.changes("5")]
        assert Drop("lost") in told
        await store.close()

    asyncio.run(check())


def _quoted(text: str) -> NoteSearch:
    return NoteSearch(TextMatch((tuple(index_terms(text)),)), Mine("ada"), "best", 10)


@pytest.mark.promise("K7")
def test_a_phrase_is_looked_up_once_however_many_notes_hold_its_words(tmp_path: Path) -> None:
    """Asked again for each note, a phrase took 2 s of 5,000 notes, and one of eighty words more
    than thirty.
    """

    async def whole() -> None:
        database = Database(tmp_path / "knowledge.sqlite", STEPS)
        store = SqliteNoteStore(SqliteDriver(database.path, STEPS))
        await store.write(
            [
                Insert(a_note(number, f"t{number}", "alpha beta gamma"), "ada")
                for number in range(20)
            ]
        )

        def looked(connection: sqlite3.Connection) -> tuple[int, list[str]]:
            with Statements(connection) as statements:
                found = drive(connection, store.search_statements(_quoted("alpha beta")))
            return len(found), statements.asking_by_row()

        assert await database.read(looked) == (10, [])
        await store.close()
        await database.close()

    asyncio.run(whole())


@pytest.mark.promise("K7")
@pytest.mark.parametrize("count", [1, 2, 32, 33, 64, 65, 120, 200])
def test_a_long_sentence_can_be_searched_for_word_by_word(tmp_path: Path, count: int) -> None:
    """SQLite joins at most 64 tables; a quotation of more different words was answered with 503."""

    async def whole() -> None:
        store, _ = sqlite_knowledge(tmp_path / "knowledge.sqlite")
        sentence = " ".join(f"w{number}" for number in range(count))
        backwards = " ".join(reversed(sentence.split()))
        await store.write(
            [
                Insert(a_note(1, "right", sentence), "ada"),
                Insert(a_note(2, "wrong", backwards), "ada"),
            ]
        )
        found = {one.note.title for one in await store.search(_quoted(sentence))}
        assert found == ({"right", "wrong"} if count == 1 else {"right"})
        await store.close()

    asyncio.run(whole())
