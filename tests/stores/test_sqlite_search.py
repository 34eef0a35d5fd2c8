"""The embedded search."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError, InvalidInputError, TimedOutError
from carrel.libraries.query.elasticsearch.parser import parse_search_body as parse_search
from carrel.rooms.knowledge.documents import Checkpoint, Document, DocumentChange, Drop, Put, Reset
from carrel.rooms.knowledge.errors import IndexBuildingError
from carrel.rooms.knowledge.ports import Searcher
from carrel.stores.sqlite.database import DerivedDatabase
from carrel.stores.sqlite.search import STEPS, EmbeddedSearch
from carrel.stores.sqlite.search.answer import search_index as answer_of
from carrel.stores.sqlite.search.index import find_index
from tests.stores.contracts.search import FIELDS, TEAM, Documents, NewerSearchContract, ids
from tests.stores.query_plans import Statements


class TestEmbeddedSearch(NewerSearchContract):
    @pytest.fixture
    def searcher(self, tmp_path: Path) -> Callable[[], Awaitable[Searcher]]:
        async def opened() -> Searcher:
            return EmbeddedSearch(
                DerivedDatabase(tmp_path / "search.sqlite", STEPS), [Documents()], SystemClock()
            )

        return opened

    @pytest.mark.parametrize(
        ("body", "clause"),
        [
            ({"query": {"span_term": {"title": "x"}}}, "span_term"),
            ({"query": {"match": {"title": {"query": "x", "analyzer": "standard"}}}}, "analyzer"),
            ({"query": {"range": {"year": {"gte": 1, "time_zone": "Europe/Berlin"}}}}, "time_zone"),
            (
                {"query": {"range": {"created_at": {"gte": "1", "format": "dd.MM."}}}},
                "format dd.MM.",
            ),
            ({"query": {"bool": {"must": [], "boos": 1}}}, "boos"),
            ({"aggs": {"x": {"percentiles": {"field": "year"}}}}, "percentiles"),
            ({"aggs": {"x": {"terms": {"field": "tags", "include": "a.*"}}}}, "include"),
            ({"collapse": {"field": "x"}}, "collapse"),
            ({"highlight": {"fields": {"title": {"boundary_chars": "."}}}}, "boundary_chars"),
        ],
    )
    def test_what_the_embedded_part_does_not_know_is_named(
        self, ask: Callable[..., Any], body: dict[str, Any], clause: str
    ) -> None:
        with pytest.raises(CarrelError) as refused:
            ask(body)
        assert (refused.value.code, refused.value.details["clause"]) == (
            "unsupported_clause",
            clause,
        )

    @pytest.mark.parametrize(
        "body",
        [
            {"sort": ["title"]},
            {"sort": ["nowhere"]},
            {"aggs": {"x": {"terms": {"field": "title"}}}},
            {"query": {"range": {"title": {"gt": "a"}}}},
        ],
    )
    def test_a_text_field_cannot_be_sorted_and_the_error_says_what_can(
        self, ask: Callable[..., Any], body: dict[str, Any]
    ) -> None:
        with pytest.raises(CarrelError) as refused:
            ask(body)
        assert refused.value.next_step


class Told:
    """A source whose next changes a test decides."""

    index = "knowledge"
    fields = FIELDS

    def __init__(self) -> None:
        self.next: list[DocumentChange] = []
        self.asked: list[str | None] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        self.asked.append(since)
        for change in self.next:
            await self.gate.wait()
            yield change


def a_text(id: str, title: str) -> Document:
    return Document(id, {"title": title, "tags": ["a"]}, ("team",))


def test_the_index_follows_its_source(tmp_path: Path) -> None:
    async def whole() -> None:
        source = Told()
        engine = EmbeddedSearch(
            DerivedDatabase(tmp_path / "s.sqlite", STEPS), [source], SystemClock()
        )

        async def found(word: str) -> set[str]:
            return ids(
                await engine.search("knowledge", {"query": {"match": {"title": word}}}, TEAM)
            )

        source.next = [Put(a_text("1", "one")), Put(a_text("2", "two")), Checkpoint("m1")]
        assert await found("one") == {"1"}
        source.next = [Put(a_text("1", "changed")), Drop("2"), Checkpoint("m2")]
        assert (await found("one"), await found("two"), await found("changed")) == (
            set(),
            set(),
            {"1"},
        )
        source.next = [Reset(), Put(a_text("3", "three")), Checkpoint("m3")]
        assert (await found("changed"), await found("three")) == (set(), {"3"})
        assert source.asked[:3] == [None, "m1", "m2"]
        await engine.close()
        again = EmbeddedSearch(
            DerivedDatabase(tmp_path / "s.sqlite", STEPS), [source], SystemClock()
        )
        source.next = []
        assert ids(await again.search("knowledge", {}, TEAM)) == {"3"}
        assert source.asked[-1] == "m3"
        await again.close()

    asyncio.run(whole())


@pytest.mark.promise("K6")
def test_two_processes_that_begin_anew_at_once_take_nothing_from_each_other(tmp_path: Path) -> None:
    async def whole() -> None:
        documents = [Put(a_text(str(number), "kept")) for number in range(500)]

        class Halting(Told):
            """Stops half-way until the gate is open, when most of what it told has been written."""

            def __init__(self, told: list[Put]) -> None:
                super().__init__()
                self.told = told
                self.is_half_way = asyncio.Event()
                self.gate.clear()

            async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
                if since == "m2":
                    return
                yield Reset()
                for place, change in enumerate(self.told):
                    if place == 300:
                        self.is_half_way.set()
                        await self.gate.wait()
                    yield change
                yield Checkpoint("m2")

        sources = Halting(documents), Halting(documents[::-1])
        first, second = (
            EmbeddedSearch(DerivedDatabase(tmp_path / "s.sqlite", STEPS), [one], SystemClock())
            for one in sources
        )

        async def count(engine: EmbeddedSearch) -> object:
            return (
                await engine.search("knowledge", {"query": {"match": {"title": "kept"}}}, TEAM)
            ).hits["total"]["value"]

        answers = []
        for engine, source in zip((first, second), sources, strict=True):
            answers.append(asyncio.create_task(count(engine)))
            await source.is_half_way.wait()
        sources[0].gate.set()
        assert await answers[0] == 500
        sources[1].gate.set()
        assert await answers[1] == 500
        await first.close()
        await second.close()

    asyncio.run(whole())


def test_an_index_that_is_still_being_built_says_so_and_goes_on(tmp_path: Path) -> None:
    async def whole() -> None:
        source = Told()
        source.next = [Put(a_text("1", "one")), Checkpoint("m")]
        source.gate.clear()
        engine = EmbeddedSearch(
            DerivedDatabase(tmp_path / "s.sqlite", STEPS),
            [source],
            SystemClock(),
            build_seconds=0.05,
        )
        with pytest.raises(IndexBuildingError):
            await engine.search("knowledge", {}, TEAM)
        source.gate.set()
        while True:
            try:
                answer = await engine.search("knowledge", {}, TEAM)
            except IndexBuildingError:
                continue
            break
        assert ids(answer) == {"1"}
        assert source.asked[0] is None and set(source.asked[1:]) <= {"m"}
        await engine.close()

    asyncio.run(whole())


def test_several_indices_are_answered_together(tmp_path: Path) -> None:
    class Others(Documents):
        index = "nodes"

    async def whole() -> None:
        engine = EmbeddedSearch(
            DerivedDatabase(tmp_path / "s.sqlite", STEPS), [Documents(), Others()], SystemClock()
        )
        for name in ("knowledge,nodes", "*", "_all", "n*,knowledge"):
            answer = await engine.search(
                name,
                {"sort": ["year"], "size": 4, "aggs": {"t": {"terms": {"field": "tags"}}}},
                TEAM,
            )
            assert answer.hits["total"]["value"] == 12
            assert sorted((hit["_index"], hit["_id"]) for hit in answer.hits["hits"]) == [
                ("knowledge", "fish"),
                ("knowledge", "mg"),
                ("nodes", "fish"),
                ("nodes", "mg"),
            ]
            assert answer.aggregations is not None
            assert answer.aggregations["t"]["buckets"][0] == {"key": "ion", "doc_count": 4}
        await engine.close()

    asyncio.run(whole())


class Hurrying:
    """A clock by which every look takes a minute."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        self.seconds += 60.0
        return self.seconds


@pytest.mark.promise("K6")
def test_a_question_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    async def whole() -> None:
        many = Documents([a_text(str(number), "same words in every one") for number in range(3000)])
        engine = EmbeddedSearch(DerivedDatabase(tmp_path / "s.sqlite", STEPS), [many], Hurrying())
        with pytest.raises(TimedOutError):
            await engine.search(
                "knowledge", {"query": {"match": {"title": "same words in every one"}}}, TEAM
            )
        await engine.close()

    asyncio.run(whole())


@pytest.mark.promise("K6")
def test_a_phrase_is_looked_up_once_however_many_documents_have_the_field(tmp_path: Path) -> None:
    """Asked again for each document, `match_phrase` with words that nobody wrote took 10 s of
    23,000 references.
    """

    async def whole() -> None:
        many = Documents([a_text(str(number), "same words in every one") for number in range(50)])
        database = DerivedDatabase(tmp_path / "s.sqlite", STEPS)
        engine = EmbeddedSearch(database, [many], SystemClock())
        body = {"query": {"match_phrase": {"title": "words in"}}}
        assert (await engine.search("knowledge", body, TEAM)).hits["total"]["value"] == 50

        def looked(connection: sqlite3.Connection) -> list[str]:
            known = find_index(connection, "knowledge", many.fields)
            assert known is not None
            with Statements(connection) as statements:
                found = answer_of(
                    connection, known[0], parse_search(body), TEAM, datetime(2024, 1, 1, tzinfo=UTC)
                )
                assert found.total == 50
            return statements.asking_by_row()

        assert await database.read(looked) == []
        await engine.close()

    asyncio.run(whole())


@pytest.mark.promise("K6")
@pytest.mark.parametrize(
    "query",
    [
        {
            "multi_match": {
                "query": " ".join(f"w{number}" for number in range(300)),
                "fields": ["*"] * 50,
            }
        },
        {
            "multi_match": {
                "query": " ".join(f"w{number}" for number in range(300)),
                "fields": ["*"] * 50,
                "type": "phrase",
            }
        },
        {"bool": {"should": [{"match": {"title": "a b c d e f g h"}} for _ in range(190)]}},
    ],
)
def test_words_count_once_for_each_field_they_are_looked_for_in(
    tmp_path: Path, query: dict[str, Any]
) -> None:
    """Fifty times all fields and 300 words were within every bound, and took 29 s that nothing
    could interrupt.
    """

    async def whole() -> None:
        engine = EmbeddedSearch(
            DerivedDatabase(tmp_path / "s.sqlite", STEPS), [Documents()], SystemClock()
        )
        with pytest.raises(InvalidInputError, match="1024 words"):
            await engine.search("knowledge", {"query": query}, TEAM)
        await engine.close()

    asyncio.run(whole())


def test_a_query_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async def whole() -> None:
        engine = EmbeddedSearch(
            DerivedDatabase(tmp_path / "s.sqlite", STEPS), [Documents()], SystemClock()
        )
        too_many = {"bool": {"should": [{"term": {"tags": str(number)}} for number in range(201)]}}
        values = [str(number) for number in range(1024)]
        bodies: list[dict[str, Any]] = [
            too_many,
            {"match": {"title": "x " * 1001}},
            {"terms": {"tags": [*values, "one more"]}},
        ]
        for query in bodies:
            with pytest.raises(InvalidInputError):
                await engine.search("knowledge", {"query": query}, TEAM)
        as_many_as_may_be = {
            "bool": {
                "should": [
                    {"multi_match": {"query": "a " * 999, "fields": ["*"]}} for _ in range(199)
                ]
            }
        }
        assert ids(await engine.search("knowledge", {"query": as_many_as_may_be}, TEAM)) == {"nmda"}
        await engine.close()

    asyncio.run(whole())
