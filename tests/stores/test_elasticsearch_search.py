"""A real Elasticsearch: the same questions, filled by sync; and what must never get past the
allow-list.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from carrel.core.errors import CarrelError, ConflictError, NotConfiguredError, UnavailableError
from carrel.rooms.knowledge.documents import Checkpoint, Document, DocumentChange, Drop, Put
from carrel.rooms.knowledge.errors import IndexNotAllowedError
from carrel.rooms.knowledge.ports import Searcher
from tests.stores.contracts.search import FIELDS, TEAM, Documents, NewerSearchContract, ids

elasticsearch = pytest.importorskip(
    "elasticsearch", reason="the extra `elasticsearch` is not installed"
)

from carrel.stores.elasticsearch.fields import READERS  # noqa: E402
from carrel.stores.elasticsearch.search import RemoteSearch  # noqa: E402
from carrel.stores.elasticsearch.sync import IndexOutdatedError, sync  # noqa: E402


@pytest.fixture(scope="module")
def url() -> str:
    given = os.environ.get("CARREL_TEST_ELASTICSEARCH_URL")
    if not given:
        pytest.skip("CARREL_TEST_ELASTICSEARCH_URL is not set")
    return given


@pytest.fixture(scope="module")
def prefix(url: str) -> Iterator[str]:
    """Names of our own for this run, gone afterwards."""
    ours = f"carrel-test-{uuid.uuid4().hex[:8]}-"
    yield ours

    async def clean() -> None:
        async with elasticsearch.AsyncElasticsearch(url) as client:
            for index in await client.cat.indices(index=f"{ours}*", format="json"):
                await client.indices.delete(index=index["index"])

    asyncio.run(clean())


@pytest.fixture(scope="module")
def filled(url: str, prefix: str) -> str:
    async def fill() -> None:
        async with elasticsearch.AsyncElasticsearch(url) as client:
            await sync(client, Documents(), f"{prefix}knowledge", lambda count: None)

    asyncio.run(fill())
    return f"{prefix}knowledge"


def remote(url: str, own: dict[str, str], allowed: tuple[str, ...] = ()) -> RemoteSearch:
    return RemoteSearch(
        lambda: elasticsearch.AsyncElasticsearch(url), allowed=allowed, own=own, timeout_seconds=5.0
    )


class TestRemoteSearch(NewerSearchContract):
    @pytest.fixture
    def searcher(self, url: str, filled: str) -> Callable[[], Awaitable[Searcher]]:
        async def opened() -> Searcher:
            return remote(url, {"knowledge": filled})

        return opened


@pytest.mark.promise("K6")
def test_patterns_and_aliases_reach_only_what_is_allowed(url: str, prefix: str) -> None:
    async def whole() -> None:
        async with elasticsearch.AsyncElasticsearch(url) as client:
            for name in ("public-1", "public-2", "private"):
                await client.index(
                    index=f"{prefix}{name}", id="1", document={"x": name}, refresh=True
                )
            await client.indices.put_alias(index=f"{prefix}private", name=f"{prefix}public-alias")
            await client.indices.put_alias(index=f"{prefix}public-1", name=f"{prefix}good")
            await client.indices.put_alias(
                index=f"{prefix}private",
                name=f"{prefix}narrow",
                filter={"term": {"x.keyword": "nothing"}},
            )
        engine = remote(url, {}, (f"{prefix}public-*", f"{prefix}narrow"))
        for refused in (
            f"{prefix}private",
            f"{prefix}*",
            "*",
            "_all",
            f"*,-{prefix}private",
            f"{prefix}public-1,{prefix}private",
            f"{prefix}public-alias",
            f"{prefix}pri*",
            f"{prefix}absent*",
            f"<{prefix}private>",
            f"{prefix}public-1/_doc",
            f"cluster:{prefix}public-1",
            ",",
        ):
            with pytest.raises(CarrelError) as error:
                await engine.search(refused, {}, TEAM)
            assert error.value.code in {"index_not_allowed", "resource_not_found"}, refused
        for allowed, count in (
            (f"{prefix}public-1", 1),
            (f"{prefix}public-1,{prefix}public-2", 2),
            (f"{prefix}good", 1),
            (f"{prefix}narrow", 0),
        ):
            answer = await engine.search(allowed, {}, TEAM)
            assert answer.hits["total"]["value"] == count, allowed
        await engine.close()

    asyncio.run(whole())


def test_counting_outside_the_query_is_refused(url: str, filled: str) -> None:
    async def whole() -> None:
        engine = remote(url, {"knowledge": filled})
        bodies: tuple[dict[str, Any], ...] = (
            {"aggs": {"x": {"terms": {"field": "tags", "min_doc_count": 0}}}},
            {"aggs": {"x": {"significant_terms": {"field": "tags"}}}},
            {"aggs": {"x": {"filter": {"match_all": {}}, "aggs": {"y": {"global": {}}}}}},
            {"aggs": {"x": {"terms": {"field": "tags", "size": 10_000}}}},
            {"query": {"wildcard": {"title": "*x"}}},
            {"query": {"function_score": {"query": {"match_all": {}}}}},
            {"query": {"nested": {"path": "x", "query": {"script": {}}}}},
            {"highlight": {"fields": {"title": {"highlight_query": {"script": {}}}}}},
        )
        for body in bodies:
            with pytest.raises(CarrelError) as refused:
                await engine.search("knowledge", body, TEAM)
            assert refused.value.code == "refused_clause", body
        assert ids(
            await engine.search("knowledge", {"wildcard": {"title.keyword": "Fish*"}}, TEAM)
        ) == {"fish"}
        answer = await engine.search(
            "knowledge", {"fields": ["*"], "docvalue_fields": [READERS]}, TEAM
        )
        assert READERS not in str(answer.hits)
        await engine.close()

    asyncio.run(whole())


class Told:
    index = "knowledge"
    fields = FIELDS

    def __init__(self) -> None:
        self.next: list[DocumentChange] = []
        self.asked: list[str | None] = []

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        self.asked.append(since)
        for change in self.next:
            yield change


@pytest.mark.promise("K6")
def test_sync_goes_on_where_it_stopped_and_drops_what_is_gone(url: str, prefix: str) -> None:
    async def whole() -> None:
        name = f"{prefix}resumed"
        source = Told()
        async with elasticsearch.AsyncElasticsearch(url) as client:
            source.next = [
                Put(Document(str(number), {"title": f"t{number}"}, ("team",)))
                for number in range(1200)
            ]
            source.next.append(Checkpoint("m1"))
            seen: list[int] = []
            done = await sync(client, source, name, seen.append)
            assert (done.put, done.dropped) == (1200, 0)
            assert seen == sorted(seen) and seen[-1] == 1200
            source.next = [
                Drop("3"),
                Drop("never"),
                Put(Document("4", {"title": "new"}, ("team",))),
                Checkpoint("m2"),
            ]
            done = await sync(client, source, name, seen.append)
            assert (done.put, done.dropped) == (1, 2)
            assert source.asked == [None, "m1"]
            assert (await client.count(index=name))["count"] == 1199
        engine = remote(url, {"knowledge": name})
        assert ids(
            await engine.search("knowledge", {"query": {"match": {"title": "new"}}}, TEAM)
        ) == {"4"}
        await engine.close()

    asyncio.run(whole())


def test_sync_leaves_an_index_of_somebody_else_alone(url: str, prefix: str) -> None:
    async def whole() -> None:
        async with elasticsearch.AsyncElasticsearch(url) as client:
            await client.index(index=f"{prefix}theirs", id="1", document={"x": 1}, refresh=True)
            with pytest.raises(ConflictError):
                await sync(client, Documents(), f"{prefix}theirs", lambda count: None)
            assert (await client.count(index=f"{prefix}theirs"))["count"] == 1

    asyncio.run(whole())


def test_a_server_that_is_not_there_is_told_plainly() -> None:
    async def whole() -> None:
        engine = remote("http://127.0.0.1:9", {"knowledge": "x"})
        with pytest.raises(UnavailableError) as refused:
            await engine.search("knowledge", {}, TEAM)
        assert "127.0.0.1" not in refused.value.message
        await engine.close()

    asyncio.run(whole())


def test_a_server_of_another_product_gets_a_clear_no() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"version": {"distribution": "opensearch", "number": "2.11.0"}}'
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            % len(body)
            + body
        )
        await writer.drain()
        writer.close()

    async def whole() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        engine = remote(f"http://127.0.0.1:{port}", {"knowledge": "x"})
        with pytest.raises(NotConfiguredError, match="OpenSearch"):
            await engine.search("knowledge", {}, TEAM)
        await engine.close()
        server.close()

    asyncio.run(whole())


def test_an_empty_allow_list_allows_nothing_else(url: str) -> None:
    async def whole() -> None:
        engine = remote(url, {})
        with pytest.raises(IndexNotAllowedError):
            await engine.search("anything", {}, TEAM)
        await engine.close()

    asyncio.run(whole())


class Several:
    """A source whose documents a test changes; every change is told once, by its number."""

    index = "knowledge"
    fields = FIELDS

    def __init__(self, *changes: DocumentChange) -> None:
        self.told: list[DocumentChange] = list(changes)

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        for change in self.told[int(since or 0) :]:
            yield change
        if len(self.told) > int(since or 0):
            yield Checkpoint(str(len(self.told)))


def kept_fresh(url: str, name: str, source: Several) -> RemoteSearch:
    return RemoteSearch(
        lambda: elasticsearch.AsyncElasticsearch(url),
        allowed=(),
        own={"knowledge": name},
        timeout_seconds=5.0,
        sources=[source],
    )


def a_text(id: str, content: str, *readers: str) -> Put:
    facts: dict[str, object] = {
        "title": content[:12],
        "content": content,
        "tags": content.split()[:2],
        "source": "team",
    }
    return Put(Document(id, facts, readers or ("team",)))


VISIBLE = [
    a_text("one", "magnesium calms the nerves"),
    a_text("two", "magnesium magnesium and the migraine"),
    a_text("three", "the channel of the ion", "user:ada"),
    a_text("four", "magnesium calms the nerves"),
    a_text("five", "migraine of the channel", "user:ada"),
]
HIDDEN = [
    a_text(f"h{number}", "magnesium nerves migran magnesian channel", "user:bob")
    for number in range(40)
]
BODIES: list[dict[str, Any]] = [
    {"query": {"match": {"content": "magnesium"}}},
    {"query": {"match": {"content": "the magnesium migraine"}}},
    {"query": {"match_phrase": {"content": "the channel"}}},
    {
        "query": {
            "multi_match": {"query": "magnesium nerves", "fields": ["title^2", "content", "tags"]}
        }
    },
    {
        "query": {
            "multi_match": {
                "query": "magnesium nerves",
                "type": "cross_fields",
                "fields": ["title", "content"],
            }
        }
    },
    {"query": {"term": {"tags": "magnesium"}}},
    {"query": {"terms": {"tags": ["magnesium", "the"]}}},
    {"query": {"match_bool_prefix": {"content": "the magn"}}},
    {"query": {"prefix": {"content": "m"}}},
    {"query": {"wildcard": {"content": "mag*"}}},
    {"query": {"simple_query_string": {"query": "magnesium | nerves", "fields": ["content"]}}},
    {
        "query": {
            "dis_max": {
                "queries": [{"match": {"content": "channel"}}, {"match": {"title": "magnesium"}}]
            }
        }
    },
    {
        "query": {"bool": {"should": [{"match": {"content": "the"}}, {"term": {"tags": "the"}}]}},
        "min_score": 0.1,
    },
    {"query": {"match_all": {}}, "sort": [{"source": "asc"}], "size": 2},
    {
        "size": 0,
        "aggs": {"t": {"terms": {"field": "tags"}}, "c": {"cardinality": {"field": "tags"}}},
    },
    {
        "query": {"match": {"content": "channel"}},
        "highlight": {"fields": {"content": {}}},
        "version": True,
    },
]


@pytest.mark.promise("K8", "A6")
def test_documents_of_others_change_no_answer_of_the_cluster(url: str, prefix: str) -> None:
    alone, beside = Several(*VISIBLE), Several(*HIDDEN[:20], *VISIBLE, *HIDDEN[20:])

    async def answers(name: str, source: Several) -> list[object]:
        engine = kept_fresh(url, f"{prefix}{name}", source)
        told: list[object] = []
        for body in BODIES:
            answer = await engine.search("knowledge", body, TEAM)
            told.append((answer.hits, answer.aggregations, answer.shards))
        await engine.close()
        return told

    async def whole() -> None:
        one, other = await answers("alone", alone), await answers("beside", beside)
        for body, before, after in zip(BODIES, one, other, strict=True):
            assert before == after, body
        assert ids_in_order(one[0])[:1] == ["two"]

    asyncio.run(whole())


def ids_in_order(told: Any) -> list[str]:
    return [hit["_id"] for hit in told[0]["hits"]]


@pytest.mark.promise("K8")
@pytest.mark.parametrize(
    "body",
    [
        {"query": {"match": {"content": "magnesium"}}, "explain": True},
        {"query": {"match_all": {}}, "sort": ["_doc"]},
        {"query": {"match_all": {}}, "sort": [{"_shard_doc": "asc"}]},
        {"query": {"fuzzy": {"content": "magnesium"}}},
        {"query": {"match": {"content": {"query": "magnesium", "fuzziness": 1}}}},
        {"query": {"match_phrase_prefix": {"content": "the mag"}}},
        {
            "query": {
                "multi_match": {"query": "the mag", "type": "phrase_prefix", "fields": ["content"]}
            }
        },
        {"query": {"combined_fields": {"query": "magnesium", "fields": ["title", "content"]}}},
        {"query": {"simple_query_string": {"query": "magnesum~1", "fields": ["content"]}}},
        {"query": {"prefix": {"content": {"value": "m", "rewrite": "top_terms_1"}}}},
        {"query": {"match_all": {}}, "post_filter": {"fuzzy": {"content": "x"}}},
        {"aggs": {"x": {"filter": {"fuzzy": {"content": "x"}}}}},
        {"query": {"more_like_this": {"fields": ["content"], "like": "magnesium"}}},
        {"query": {"match_all": {}}, "profile": True},
        {
            "query": {"match_all": {}},
            "suggest": {"s": {"text": "magn", "term": {"field": "content"}}},
        },
    ],
)
def test_what_would_tell_of_others_documents_is_refused(
    url: str, prefix: str, body: dict[str, Any]
) -> None:
    async def whole() -> None:
        engine = kept_fresh(url, f"{prefix}refusing", Several(*VISIBLE))
        with pytest.raises(CarrelError) as refused:
            await engine.search("knowledge", body, TEAM)
        assert refused.value.code == "refused_clause"
        await engine.close()

    asyncio.run(whole())


@pytest.mark.promise("K6", "K8")
def test_a_deletion_and_a_change_of_readers_reach_the_cluster_at_once(
    url: str, prefix: str
) -> None:
    name = f"{prefix}fresh"

    async def whole() -> None:
        source = Several(*VISIBLE)
        engine = kept_fresh(url, name, source)
        assert ids(
            await engine.search("knowledge", {"query": {"match": {"content": "magnesium"}}}, TEAM)
        ) == {
            "one",
            "two",
            "four",
        }
        source.told += [
            Drop("one"),
            a_text("two", "magnesium magnesium and the migraine", "user:bob"),
        ]
        await engine.notes_changed()
        async with elasticsearch.AsyncElasticsearch(url) as client:
            assert not (await client.exists(index=name, id="one"))
        assert ids(
            await engine.search("knowledge", {"query": {"match": {"content": "magnesium"}}}, TEAM)
        ) == {"four"}
        # Nobody called: the next question still knows.
        source.told.append(Drop("four"))
        assert (
            ids(
                await engine.search(
                    "knowledge", {"query": {"match": {"content": "magnesium"}}}, TEAM
                )
            )
            == set()
        )
        await engine.close()

    asyncio.run(whole())


@pytest.mark.promise("K8")
def test_a_cluster_that_takes_no_writes_never_answers_with_what_was_deleted(
    url: str, prefix: str
) -> None:
    name = f"{prefix}stuck"

    async def whole() -> None:
        source = Several(*VISIBLE)
        engine = kept_fresh(url, name, source)
        assert len(ids(await engine.search("knowledge", {}, TEAM))) == 5
        async with elasticsearch.AsyncElasticsearch(url) as client:
            await client.indices.put_settings(index=name, settings={"index.blocks.write": True})
            source.told += [Drop("one"), a_text("three", "private now", "user:bob")]
            await engine.notes_changed()
            answer = await engine.search(
                "knowledge", {"aggs": {"t": {"terms": {"field": "tags"}}}}, TEAM
            )
            assert ids(answer) == {"two", "four", "five"} and answer.hits["total"]["value"] == 3
            assert answer.warning is not None and "left out" in answer.warning
            await client.indices.put_settings(index=name, settings={"index.blocks.write": False})
        assert (await engine.search("knowledge", {}, TEAM)).warning is None
        await engine.close()

    asyncio.run(whole())


@pytest.mark.promise("Q11")
def test_an_index_of_an_older_version_is_made_anew_or_refused(url: str, prefix: str) -> None:
    name = f"{prefix}older"

    async def whole() -> None:
        async with elasticsearch.AsyncElasticsearch(url) as client:
            meta = {"carrel": {"fields": dict(FIELDS), "cursor": "5"}}
            await client.indices.create(
                index=name, mappings={"_meta": meta, "properties": {READERS: {"type": "keyword"}}}
            )
            engine = remote(url, {"knowledge": name})
            with pytest.raises(IndexOutdatedError):
                await engine.search("knowledge", {}, TEAM)
            await engine.close()
        engine = kept_fresh(url, name, Several(*VISIBLE))
        assert len(ids(await engine.search("knowledge", {}, TEAM))) == 5
        await engine.close()

    asyncio.run(whole())
