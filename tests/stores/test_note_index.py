"""The index of notes is a cache: it follows its store, survives what can happen to files, and its
word weights come only from what a reader may see.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.query.notes import parse_note_question
from carrel.rooms.knowledge.notes import (
    FoundIds,
    Insert,
    Mine,
    MineAndTeam,
    Note,
    Proposals,
    RankedSearch,
    Remove,
    Replace,
    Shelf,
    Team,
)
from carrel.rooms.knowledge.ports import NoteStore
from carrel.stores.search.notes.finder import IndexedNotes
from carrel.stores.sqlite.knowledge import sqlite_knowledge
from tests.processes import warm
from tests.stores.contracts.knowledge import a_note, at

Work = Callable[[NoteStore, IndexedNotes], Awaitable[Any]]


def run(folder: Path, work: Work) -> Any:
    """Work with the store and the index in a folder, opened as a process of its own would."""

    async def whole() -> Any:
        stores = sqlite_knowledge(folder / "knowledge.sqlite")
        index = IndexedNotes(stores.notes.note_changes, folder / "cache")
        try:
            return await work(stores.notes, index)
        finally:
            await index.close()
            await stores.notes.close()

    return asyncio.run(whole())


async def search(index: IndexedNotes, query: str, shelf: Shelf | None = None) -> FoundIds:
    asked = RankedSearch(parse_note_question(query), shelf or MineAndTeam("ada"), "best", 100)
    return await index.search(asked)


async def found(index: IndexedNotes, query: str, shelf: Shelf | None = None) -> list[str]:
    return [each.id for each in (await search(index, query, shelf)).ranked]


def numbered(count: int, first: int = 0) -> list[Note]:
    return [
        a_note(first + number, f"note {number}", f"common word{first + number}")
        for number in range(count)
    ]


async def fill(store: NoteStore, index: IndexedNotes) -> None:
    await store.write([Insert(note, "ada") for note in numbered(20)])
    assert len(await found(index, "text:common")) == 20


async def check(store: NoteStore, index: IndexedNotes) -> None:
    assert len(await found(index, "text:common")) == 20
    (one,) = await found(index, "text:word7")
    assert one == numbered(20)[7].id
    await store.write([Insert(a_note(99, "later", "common"), "ada")])
    assert len(await found(index, "text:common")) == 21


@pytest.mark.promise("K8")
def test_the_next_search_sees_every_acknowledged_write(tmp_path: Path) -> None:
    async def work(store: NoteStore, index: IndexedNotes) -> None:
        note = a_note(1, "one", "magnesium")
        await store.write([Insert(note, "ada")])
        assert await found(index, "text:magnesium") == [note.id]
        changed = replace(note, content="calcium", updated_at=at(2))
        await store.write([Replace(changed, note.updated_at, "ada")])
        assert await found(index, "text:magnesium") == []
        assert await found(index, "text:calcium") == [note.id]
        team = replace(changed, source="team", status="promoted", updated_at=at(3))
        await store.write([Replace(team, changed.updated_at, "ada")])
        assert await found(index, "text:calcium", Mine("ada")) == []
        assert await found(index, "text:calcium", Team()) == [note.id]
        await store.write([Remove(note.id, team.updated_at)])
        assert await found(index, "text:calcium", Team()) == []

    run(tmp_path, work)


@pytest.mark.promise("K8")
def test_two_openings_of_one_index_see_each_others_writes(tmp_path: Path) -> None:
    async def work(store: NoteStore, index: IndexedNotes) -> None:
        other_stores = sqlite_knowledge(tmp_path / "knowledge.sqlite")
        other = IndexedNotes(other_stores.notes.note_changes, tmp_path / "cache")
        try:
            for number in range(12):
                note = a_note(number, f"n{number}", "magnesium")
                writer, reader = (store, other) if number % 2 else (other_stores.notes, index)
                await writer.write([Insert(note, "ada")])
                assert len(await found(reader, "text:magnesium")) == number + 1
        finally:
            await other.close()
            await other_stores.notes.close()

    run(tmp_path, work)


def _remove_index(folder: Path) -> None:
    shutil.rmtree(folder / "cache")


def _remove_current(folder: Path) -> None:
    next((folder / "cache").rglob("current")).unlink()


def _write_nonsense(folder: Path) -> None:
    next((folder / "cache").rglob("current")).write_bytes(b"\xff\x00../../etc")


def _remove_part(folder: Path) -> None:
    shutil.rmtree(next((folder / "cache").rglob("parts")))


def _damage_state(folder: Path) -> None:
    state = next((folder / "cache").rglob("state.sqlite"))
    for file in state.parent.glob("state.sqlite-*"):
        file.unlink()
    state.write_bytes(b"no database at all" * 1000)


def _empty_state(folder: Path) -> None:
    for file in list((folder / "cache").rglob("state.sqlite*")):
        file.unlink()


def _cut_segments(folder: Path) -> None:
    for file in [*(folder / "cache").rglob("*.term"), *(folder / "cache").rglob("*.idx")]:
        with suppress(FileNotFoundError):
            file.write_bytes(file.read_bytes()[:7])


def _remove_segments(folder: Path) -> None:
    for file in [*(folder / "cache").rglob("*.store"), *(folder / "cache").rglob("*.term")]:
        file.unlink(missing_ok=True)


def _damage_list(folder: Path) -> None:
    for file in (folder / "cache").rglob("meta.json"):
        file.write_text("{")


def _remove_views(folder: Path) -> None:
    for views in list((folder / "cache").rglob("views")):
        shutil.rmtree(views)


@pytest.mark.promise("K8")
@pytest.mark.parametrize(
    "damage",
    [
        _remove_index,
        _remove_current,
        _write_nonsense,
        _remove_part,
        _damage_state,
        _empty_state,
        _cut_segments,
        _remove_segments,
        _damage_list,
        _remove_views,
    ],
)
def test_a_lost_or_damaged_index_is_built_again(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    run(tmp_path, fill)
    damage(tmp_path)
    run(tmp_path, check)


@pytest.mark.promise("K8")
def test_an_index_that_is_removed_while_it_is_open_is_built_again(tmp_path: Path) -> None:
    async def work(store: NoteStore, index: IndexedNotes) -> None:
        await fill(store, index)
        _remove_index(tmp_path)
        await check(store, index)

    run(tmp_path, work)


@pytest.mark.promise("K8", "Q1")
def test_a_restored_database_is_followed_even_when_it_has_been_written_since(
    tmp_path: Path,
) -> None:
    async def one_more(store: NoteStore, index: IndexedNotes) -> None:
        await store.write([Insert(a_note(50, "lost", "magnesium common"), "ada")])
        assert len(await found(index, "text:common")) == 21

    run(tmp_path, fill)
    with sqlite3.connect(tmp_path / "knowledge.sqlite") as source:
        source.execute("VACUUM INTO ?", (str(tmp_path / "backup.sqlite"),))
    run(tmp_path, one_more)
    for file in tmp_path.glob("knowledge.sqlite*"):
        file.unlink()
    shutil.move(tmp_path / "backup.sqlite", tmp_path / "knowledge.sqlite")

    async def another(store: NoteStore, index: IndexedNotes) -> None:
        # As many changes as the database had that the index followed, and more.
        for number in (60, 61, 62):
            await store.write([Insert(a_note(number, f"kept {number}", "calcium common"), "ada")])
        assert await found(index, "text:magnesium") == []
        assert len(await found(index, "text:calcium")) == 3
        assert len(await found(index, "text:common")) == 23

    run(tmp_path, another)


_WRITER = """
import asyncio, sys
from pathlib import Path
from tests.stores.test_note_index import numbered, found, run
from carrel.rooms.knowledge.notes import Insert

async def work(store, index):
    first, count = int(sys.argv[2]), int(sys.argv[3])
    for note in numbered(count, first):
        await store.write([Insert(note, "ada")])
        print(note.id, flush=True)
        await found(index, "text:common")

run(Path(sys.argv[1]), work)
"""


def _start_writer(folder: Path, first: int, count: int) -> subprocess.Popen[str]:
    return warm.start(
        [sys.executable, "-c", _WRITER, str(folder), str(first), str(count)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(["src", "."])},
    )


@pytest.mark.promise("K8", "Q1")
@pytest.mark.timeout(300)
def test_killed_at_any_moment_the_index_holds_every_acknowledged_note_once(tmp_path: Path) -> None:
    chance, acknowledged = random.Random(11), set[str]()
    for number in range(6):
        process = _start_writer(tmp_path, number * 100, 60)
        assert process.stdout is not None
        for _ in range(chance.randint(1, 25)):
            acknowledged.add(process.stdout.readline().strip())
        process.send_signal(signal.SIGKILL)
        acknowledged |= {line.strip() for line in process.stdout}
        process.wait()

    async def work(store: NoteStore, index: IndexedNotes) -> None:
        stored = [note.id async for note in store.everything(Mine("ada"))]
        hits = await search(index, "text:common", Mine("ada"))
        assert hits.total == len(stored) and acknowledged <= set(stored)
        for note_id in stored:
            assert await found(index, f"text:word{int(note_id[4:])}") == [note_id]

    run(tmp_path, work)


@pytest.mark.promise("K8", "Q1")
@pytest.mark.timeout(300)
def test_processes_that_write_and_search_at_once_miss_nothing(tmp_path: Path) -> None:
    writers = [_start_writer(tmp_path, number * 1000, 25) for number in range(3)]
    written = {line.strip() for writer in writers for line in writer.stdout or ()}
    assert [writer.wait() for writer in writers] == [0, 0, 0]

    async def work(store: NoteStore, index: IndexedNotes) -> None:
        hits = await search(index, "text:common", Mine("ada"))
        assert {each.id for each in hits.ranked} == written and hits.total == 75

    run(tmp_path, work)


def test_where_the_cache_cannot_be_written_a_folder_of_the_process_serves(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file stands in the way")

    async def work(store: NoteStore, index: IndexedNotes) -> None:
        await fill(store, index)
        await check(store, index)

    run(tmp_path, work)


WORDS = ("magnesium", "migraine", "channel", "ion", "sleep", "知識", "müller")
USERS = ("ada", "bob", "cyd")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
drafts = st.tuples(
    texts, texts, st.sampled_from((*USERS, "team")), st.sampled_from(("draft", "proposed"))
)
QUESTIONS = (
    "magnesium migraine",
    "ion channel sleep",
    "müller",
    "知識 ion",
    "text:ion",
    "*",
    "sleap",
)


@pytest.mark.promise("K8")
@settings(max_examples=15, deadline=None)
@given(
    written=st.lists(drafts, min_size=1, max_size=14),
    reader=st.sampled_from(USERS),
    turns=st.randoms(use_true_random=False),
)
def test_ranks_of_a_reader_depend_only_on_what_the_reader_may_see(
    written: list[tuple[str, str, str, str]], reader: str, turns: random.Random
) -> None:
    notes = [_make(number, *draft) for number, draft in enumerate(written)]
    visible = [note for note in notes if note.source == "team" or note.user_id == reader]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        alone = run(Path(one), lambda store, index: _answers(store, index, visible, reader, turns))
        among = run(Path(other), lambda store, index: _answers(store, index, notes, reader, turns))
    assert alone == among


def _make(number: int, title: str, content: str, owner: str, status: str) -> Note:
    is_team = owner == "team"
    return a_note(
        number,
        title,
        content,
        user="chief" if is_team else owner,
        source="team" if is_team else "personal",
        status="promoted" if is_team else status,
    )


async def _answers(
    store: NoteStore, index: IndexedNotes, notes: list[Note], reader: str, turns: random.Random
) -> list[FoundIds]:
    for note in notes:
        await store.write([Insert(note, "x")])
        # The index is cut into other pieces by every search of others in between.
        if note.user_id not in {reader, "chief"} and turns.random() < 0.5:
            await search(index, "ion", Mine(note.user_id))
            await search(index, "ion", Proposals())
    shelves = (Mine(reader), Team(), MineAndTeam(reader))
    return [await search(index, query, shelf) for query in QUESTIONS for shelf in shelves]
