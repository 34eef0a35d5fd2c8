"""How fast notes are found: the same notes and questions on SQLite, PostgreSQL and Firestore's
emulator.

python -m benchmarks.bench_knowledge --notes 100000
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from carrel.core.clock import SystemClock
from carrel.libraries.query.notes import (
    Condition,
    Tagged,
    TextMatch,
    TitlePrefix,
    parse_note_question,
)
from carrel.rooms.knowledge.documents import NoteDocuments
from carrel.rooms.knowledge.notes import (
    Insert,
    MineAndTeam,
    Note,
    NoteSearch,
    Order,
    RankedSearch,
    Replace,
)
from carrel.rooms.knowledge.ports import NoteStore
from carrel.stores.search.notes.finder import IndexedNotes
from carrel.stores.sqlite.database import DerivedDatabase
from carrel.stores.sqlite.knowledge import sqlite_knowledge
from carrel.stores.sqlite.search import STEPS as SEARCH_STEPS
from carrel.stores.sqlite.search import EmbeddedSearch
from tests.stores.firestore_emulator import NoEmulatorError, empty, firestore_emulator
from tests.stores.postgres_server import NoPostgresError, postgres_server

Work = Callable[[], Awaitable[object]]
ME = MineAndTeam("ada")
_BEGAN = datetime(2020, 1, 1, tzinfo=UTC)
_SYLLABLES = [first + vowel for first in "bcdfglmnprstvz" for vowel in "aeiou"]


def notes(count: int) -> list[Note]:
    """Notes of made-up words, some frequent and most rare, as in real text; the same for every
    run.
    """
    chance = random.Random(7)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(20_000)]
    weights = [1.0 / (rank + 1) for rank in range(len(words))]
    text = chance.choices(words, weights, k=count * 60)
    tags = chance.choices(
        [f"tag{number}" for number in range(500)],
        [1.0 / (rank + 1) for rank in range(500)],
        k=count * 3,
    )
    made = []
    for number in range(count):
        moment = _BEGAN + timedelta(seconds=number)
        own = text[number * 60 : (number + 1) * 60]
        title = " ".join(chance.choices(words, k=3))
        team = number % 5 == 0
        made.append(
            Note(
                f"{number:020d}",
                title,
                " ".join(own),
                "ada" if number % 2 == 0 else f"user{number % 50}",
                "team" if team else "personal",
                "promoted" if team else "draft",
                tuple(dict.fromkeys(tags[number * 3 : number * 3 + 3])),
                moment,
                moment,
            )
        )
    return made


def questions(made: list[Note]) -> dict[str, list[tuple[Condition, Order]]]:
    chance = random.Random(11)
    some = chance.sample(made, 200)
    frequent = [word for word, _ in _counted(made[:2000])[:20]]
    return {
        "prefix of 3 characters": [(TitlePrefix(note.title[:3]), "best") for note in some],
        "prefix of 3, newest": [(TitlePrefix(note.title[:3]), "newest") for note in some],
        "prefix of 1, newest": [(TitlePrefix(note.title[:1]), "newest") for note in some],
        "whole title": [(TitlePrefix(note.title), "best") for note in some],
        "frequent tag": [(Tagged((f"tag{number % 5}",)), "best") for number in range(200)],
        "rare tag": [(Tagged((f"tag{400 + number % 100}",)), "best") for number in range(200)],
        "two tags": [
            (Tagged((f"tag{number % 3}", f"tag{3 + number % 20}")), "best") for number in range(200)
        ],
        "two rare words": [
            (TextMatch(((note.content.split()[5],), (note.content.split()[9],))), "best")
            for note in some
        ],
        "one frequent word": [
            (TextMatch(((frequent[number % 20],),)), "best") for number in range(40)
        ],
    }


def _counted(made: list[Note]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for note in made:
        for word in note.content.split():
            counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda pair: -pair[1])


async def measure(
    name: str, store: NoteStore, made: list[Note], group: int, most: int = 200
) -> dict[str, tuple[float, float]]:
    began = time.perf_counter()
    for start in range(0, len(made), group):
        await store.write([Insert(note, note.user_id) for note in made[start : start + group]])
    spent = time.perf_counter() - began
    print(
        f"{name}: {len(made)} notes in {spent:.1f} s ({len(made) / spent:.0f} a second)", flush=True
    )
    found: dict[str, tuple[float, float]] = {}
    for what, asked in questions(made).items():
        works: list[Work] = [
            partial(store.search, NoteSearch(condition, ME, order, 10))
            for condition, order in asked[:most]
        ]
        found[what] = await timed(works)
        print(f"  {name}, {what}: {found[what][0]:.2f} / {found[what][1]:.2f} ms", flush=True)
    chance = random.Random(3)
    some = chance.sample(made, 200)
    found["find by id"] = await timed([partial(store.find, note.id) for note in some])
    later = timedelta(days=3000)
    found["save a change"] = await timed(
        [
            partial(store.write, [Replace(_later(note, later), note.updated_at, note.user_id)])
            for note in some
        ],
        warm=0,
    )
    return found


def _later(note: Note, by: timedelta) -> Note:
    return Note(
        note.id,
        note.title,
        note.content,
        note.user_id,
        note.source,
        note.status,
        note.tags,
        note.created_at,
        note.updated_at + by,
    )


async def timed(works: Sequence[Work], *, warm: int = 5) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds, after a warm start; a refusal counts as what it
    takes.
    """
    spent = []
    for work in (*works[:warm], *works):
        began = time.perf_counter()
        try:
            await work()
        except Exception as error:
            if type(error).__name__ != "SearchTooBroadError":
                raise
            return float("nan"), float("nan")
        spent.append((time.perf_counter() - began) * 1000)
    spent = spent[warm:]
    return statistics.median(spent), statistics.quantiles(spent, n=20)[-1]


@asynccontextmanager
async def sqlite_store(folder: Path) -> AsyncIterator[NoteStore]:
    store = sqlite_knowledge(folder / "knowledge.sqlite")[0]
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def postgres_store() -> AsyncIterator[NoteStore]:
    from carrel.stores.postgres.knowledge import postgres_knowledge

    with postgres_server() as url:
        store, _ = postgres_knowledge(url)
        try:
            yield store
        finally:
            await store.close()


@asynccontextmanager
async def firestore_store() -> AsyncIterator[NoteStore]:
    from google.cloud.firestore_v1 import AsyncClient

    from carrel.stores.firestore.knowledge import FirestoreNoteStore

    with firestore_emulator() as host:
        os.environ["FIRESTORE_EMULATOR_HOST"] = host
        empty(host, "carrel-bench")
        store = FirestoreNoteStore(lambda: AsyncClient(project="carrel-bench"), wait_seconds=120.0)
        try:
            yield store
        finally:
            await store.close()


async def index_search(
    store: NoteStore, folder: Path, made: list[Note]
) -> dict[str, tuple[float, float]]:
    """Plain questions over the index of notes, and the first search after a saved note."""
    index = IndexedNotes(store.note_changes, folder / "cache", build_seconds=3600)

    async def ask(query: str) -> object:
        return await index.search(RankedSearch(parse_note_question(query), ME, "best", 10))

    began, spent = time.perf_counter(), time.process_time()
    await ask("anything")
    print(
        f"index of notes: {len(made)} notes in {time.perf_counter() - began:.1f} s, "
        f"{time.process_time() - spent:.1f} s of CPU",
        flush=True,
    )
    some = random.Random(5).sample(made, 100)
    found = {
        "five words": await timed([partial(ask, _some_words(note, 5)) for note in some]),
        "one word": await timed([partial(ask, _some_words(note, 1)) for note in some]),
        "text: two words": await timed(
            [partial(ask, f"text:{_some_words(note, 2)}") for note in some]
        ),
        "a tag and two words": await timed(
            [partial(ask, f"#{note.tags[0]} {_some_words(note, 2)}") for note in some]
        ),
    }

    async def save_and_ask(note: Note) -> None:
        current = await store.find(note.id)
        assert current is not None
        changed = _later(current, timedelta(days=1))
        await store.write([Replace(changed, current.updated_at, current.user_id)])
        await ask(f"text:{_some_words(note, 2)}")

    spent = time.process_time()
    found["save, then search"] = await timed([partial(save_and_ask, note) for note in some], warm=0)
    each = (time.process_time() - spent) / len(some)
    print(f"  a saved note and the search after it: {each * 1000:.1f} ms of CPU", flush=True)
    await index.close()
    return found


def plain_fts5(folder: Path, made: list[Note]) -> dict[str, tuple[float, float]]:
    """The same questions to a table of FTS5 with porter stems, any word, ranked by bm25."""
    visible = [note for note in made if note.source == "team" or note.user_id == "ada"]
    with closing(sqlite3.connect(folder / "fts5.sqlite")) as connection:
        connection.execute("CREATE VIRTUAL TABLE n USING fts5 (title, body, tokenize = 'porter')")
        connection.executemany(
            "INSERT INTO n VALUES (?, ?)", [(note.title, note.content) for note in visible]
        )
        connection.commit()
        some, found = random.Random(5).sample(made, 100), dict[str, tuple[float, float]]()
        for what, count in (("five words", 5), ("one word", 1)):
            spent = []
            for note in some:
                query = " OR ".join(_some_words(note, count).split())
                began = time.perf_counter()
                connection.execute(
                    "SELECT rowid FROM n WHERE n MATCH ? ORDER BY bm25(n) LIMIT 10", (query,)
                ).fetchall()
                spent.append((time.perf_counter() - began) * 1000)
            found[what] = statistics.median(spent), statistics.quantiles(spent, n=20)[-1]
    return found


def _some_words(note: Note, count: int) -> str:
    return " ".join(note.content.split()[20 : 20 + count])


async def embedded_search(
    store: NoteStore, folder: Path, made: list[Note]
) -> dict[str, tuple[float, float]]:
    """The `elasticsearch` tool without a server, over the same notes."""
    engine = EmbeddedSearch(
        DerivedDatabase(folder / "search.sqlite", SEARCH_STEPS),
        [NoteDocuments(store.changes)],
        SystemClock(),
        build_seconds=600,
    )
    readers = frozenset({"team", "user:ada"})
    began = time.perf_counter()
    await engine.search("knowledge", {"size": 0}, readers)
    print(
        f"embedded search: {len(made)} notes indexed in {time.perf_counter() - began:.1f} s",
        flush=True,
    )
    some = random.Random(5).sample(made, 50)
    bodies: dict[str, list[dict[str, Any]]] = {
        "match two words": [
            {"query": {"match": {"content": " ".join(note.content.split()[20:22])}}}
            for note in some
        ],
        "match_phrase": [
            {"query": {"match_phrase": {"content": " ".join(note.content.split()[20:22])}}}
            for note in some
        ],
        "term and range": [
            {
                "query": {
                    "bool": {
                        "filter": [
                            {"term": {"tags": "tag7"}},
                            {"range": {"created_at": {"gte": "2020-01-01"}}},
                        ]
                    }
                }
            }
        ]
        * 20,
        "terms aggregation": [{"size": 0, "aggs": {"tags": {"terms": {"field": "tags"}}}}] * 10,
    }
    found = {}
    for what, asked in bodies.items():
        found[what] = await timed(
            [partial(engine.search, "knowledge", body, readers) for body in asked]
        )
    await engine.close()
    return found


def table(results: dict[str, dict[str, tuple[float, float]]]) -> None:
    columns = list(results)
    print(
        "\n| question (median / 95th, ms) | "
        + " | ".join(columns)
        + " |\n|---|"
        + "---|" * len(columns)
    )
    for what in results[columns[0]]:
        cells = [f"{results[name][what][0]:.2f} / {results[name][what][1]:.2f}" for name in columns]
        print(f"| {what} | " + " | ".join(cells) + " |")


async def main(count: int, chosen: list[str]) -> None:
    made = notes(count)
    folder = Path(tempfile.mkdtemp(prefix="carrel-bench-"))
    results: dict[str, dict[str, tuple[float, float]]] = {}
    try:
        if "sqlite" in chosen:
            async with sqlite_store(folder) as store:
                results["SQLite"] = await measure("SQLite", store, made, 500)
                search = await embedded_search(store, folder, made)
                ranked = await index_search(store, folder, made)
                plain = await asyncio.to_thread(plain_fts5, folder, made)
        if "postgres" in chosen:
            try:
                async with postgres_store() as store:
                    results["PostgreSQL"] = await measure("PostgreSQL", store, made, 500)
            except NoPostgresError as reason:
                print(f"PostgreSQL left out: {reason}")
        if "firestore" in chosen:
            try:
                async with firestore_store() as store:
                    results["Firestore emulator"] = await measure(
                        "Firestore emulator", store, made, 100, most=20
                    )
            except NoEmulatorError as reason:
                print(f"Firestore left out: {reason}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    table(results)
    if "sqlite" in chosen:
        table({"embedded search": search})
        table({"index of notes": ranked})
        table({"plain FTS5": plain})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--stores", default="sqlite,postgres,firestore")
    options = parser.parse_args()
    asyncio.run(main(options.notes, options.stores.split(",")))
