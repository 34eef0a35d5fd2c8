"""A real Elasticsearch: the same questions, filled by sync; and what must never get past the allow-list."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from carrel.core.errors import CarrelError, ConflictError, NotConfiguredError, UnavailableError
from carrel.rooms.knowledge.documents import Document, DocumentChange, Drop, Mark, Put
from carrel.rooms.knowledge.errors import IndexNotAllowedError
from carrel.rooms.knowledge.ports import Searcher
from tests.stores.contracts.search import FIELDS, TEAM, Documents, SearchContract, ids

elasticsearch = pytest.importorskip("elasticsearch", reason="the extra `elasticsearch` is not installed")

from carrel.stores.elasticsearch.search import READERS, RemoteSearch  # noqa: E402
from carrel.stores.elasticsearch.sync import sync  # noqa: E402


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
    return RemoteSearch(lambda: elasticsearch.AsyncElasticsearch(url), allowed=allowed, own=own, timeout_seconds=5.0)


class TestRemoteSearch(SearchContract):
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
                await client.index(index=f"{prefix}{name}", id="1", document={"x": name}, refresh=True)
            await client.indices.put_alias(index=f"{prefix}private", name=f"{prefix}public-alias")
            await client.indices.put_alias(index=f"{prefix}public-1", name=f"{prefix}good")
            await client.indices.put_alias(
                index=f"{prefix}private", name=f"{prefix}narrow", filter={"term": {"x.keyword": "nothing"}}
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
        assert ids(await engine.search("knowledge", {"wildcard": {"title.keyword": "Fish*"}}, TEAM)) == {"fish"}
        answer = await engine.search("knowledge", {"fields": ["*"], "docvalue_fields": [READERS]}, TEAM)
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
            source.next = [Put(Document(str(number), {"title": f"t{number}"}, ("team",))) for number in range(1200)]
            source.next.append(Mark("m1"))
            seen: list[int] = []
            done = await sync(client, source, name, seen.append)
            assert (done.put, done.dropped) == (1200, 0)
            assert seen == sorted(seen) and seen[-1] == 1200
            source.next = [Drop("3"), Drop("never"), Put(Document("4", {"title": "new"}, ("team",))), Mark("m2")]
            done = await sync(client, source, name, seen.append)
            assert (done.put, done.dropped) == (1, 2)
            assert source.asked == [None, "m1"]
            assert (await client.count(index=name))["count"] == 1199
        engine = remote(url, {"knowledge": name})
        assert ids(await engine.search("knowledge", {"query": {"match": {"title": "new"}}}, TEAM)) == {"4"}
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
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
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
