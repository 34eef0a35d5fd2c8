"""A server keeps the cluster as its stores are: one writer, failures told and tried again."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

elasticsearch = pytest.importorskip("elasticsearch")

from carrel.rooms.knowledge.documents import (  # noqa: E402
    Checkpoint,
    Document,
    DocumentChange,
    FieldKind,
    Put,
    Reset,
)
from carrel.stores.elasticsearch.follow import (  # noqa: E402
    LEASE_SECONDS,
    MAX_WAIT_SECONDS,
    ClusterFollower,
    ClusterLease,
)
from carrel.stores.elasticsearch.sync import sync  # noqa: E402


class HandClock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2024, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds


class Shelf:
    """A store whose documents are all sent again whenever one of them changes."""

    index = "references"
    fields: dict[str, FieldKind] = {"title": "text"}  # noqa: RUF012

    def __init__(self, **titles: str) -> None:
        self.titles = titles

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        state = str(sorted(self.titles.items()))
        if state == since:
            return
        yield Reset()
        for name, title in self.titles.items():
            yield Put(Document(name, {"title": title}))
        yield Checkpoint(state)


class Follower:
    """A follower as one process has it."""

    def __init__(self, client: Any, shelf: Shelf, prefix: str, holder: str) -> None:
        self.clock = HandClock()
        lease = ClusterLease(lambda: client, f"{prefix}lease", holder, self.clock)
        names = {"references": f"{prefix}references"}
        self.follower = ClusterFollower(lambda: client, [shelf], names, lease, self.clock)


def with_cluster(test: Callable[[Any, str], Awaitable[None]]) -> None:
    url = os.environ.get("CARREL_TEST_ELASTICSEARCH_URL")
    if not url:
        pytest.skip("CARREL_TEST_ELASTICSEARCH_URL is not set")
    prefix = f"carrel-test-{uuid.uuid4().hex[:8]}-"

    async def whole() -> None:
        async with elasticsearch.AsyncElasticsearch(url) as client:
            try:
                await test(client, prefix)
            finally:
                for name in dict(await client.indices.get(index=f"{prefix}*")):
                    await client.indices.delete(index=name)

    asyncio.run(whole())


async def titles(client: Any, prefix: str) -> dict[str, str]:
    await client.indices.refresh(index=f"{prefix}references")
    found = await client.search(index=f"{prefix}references", size=100)
    return {hit["_id"]: hit["_source"]["title"] for hit in found["hits"]["hits"]}


def test_what_changes_in_a_store_is_in_the_cluster_after_the_next_round() -> None:
    async def test(client: Any, prefix: str) -> None:
        shelf = Shelf(a="Fish oil", b="Magnesium")
        one = Follower(client, shelf, prefix, "one").follower
        await one.follow_once()
        assert await titles(client, prefix) == shelf.titles
        shelf.titles = {"a": "Fish oil", "c": "Migraine"}
        await one.follow_once()
        assert await titles(client, prefix) == shelf.titles
        assert (await one.health()).says == "following references"
        assert (await one.describe()).note == ""
        shelf.titles = {"c": "Migraine"}
        assert (await one.describe()).note == "sync_behind"

    with_cluster(test)


def test_one_of_two_processes_writes_and_the_other_takes_over() -> None:
    async def test(client: Any, prefix: str) -> None:
        first = Follower(client, Shelf(a="of the first"), prefix, "first")
        second = Follower(client, Shelf(a="of the second"), prefix, "second")
        await first.follower.follow_once()
        await second.follower.follow_once()
        assert await titles(client, prefix) == {"a": "of the first"}
        assert (first.follower.leads, second.follower.leads) == (True, False)
        # The first has died: its lease stands still for longer than it may.
        second.clock.seconds += LEASE_SECONDS + 1
        await second.follower.follow_once()
        assert second.follower.leads
        assert await titles(client, prefix) == {"a": "of the second"}
        # One that ends in order lets the next begin at once.
        await second.follower.close()
        await first.follower.follow_once()
        assert first.follower.leads

    with_cluster(test)


def test_a_store_that_sends_everything_again_rewrites_only_what_differs() -> None:
    async def test(client: Any, prefix: str) -> None:
        shelf = Shelf(a="one", b="two", c="three")
        name = f"{prefix}references"
        assert (await sync(client, shelf, name, lambda count: None)).put == 3
        shelf.titles = {"a": "one", "b": "changed"}
        done = await sync(client, shelf, name, lambda count: None)
        assert (done.put, done.dropped) == (1, 1)
        assert await titles(client, prefix) == shelf.titles

    with_cluster(test)


def test_a_cluster_that_is_away_is_told_and_tried_again_less_and_less_often() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"

    async def whole() -> None:
        async with elasticsearch.AsyncElasticsearch(address, max_retries=0) as client:
            one = Follower(client, Shelf(a="x"), "p-", "one")
            for _ in range(10):
                await one.follower.follow_once()
                one.clock.seconds = one.follower.of_lease.next_try
            health = await one.follower.health()
            assert (health.is_well, health.note) == (True, "sync_failing")
            assert "cannot be reached" in health.says and address not in health.says
            assert one.follower.of_lease.failures == 10
            # Asked again before its time it does not try.
            one.clock.seconds = MAX_WAIT_SECONDS
            await one.follower.follow_once()
            assert one.follower.of_lease.failures == 10
            told = await one.follower.describe()
            assert not told.is_well and "cannot be reached" in told.says

    asyncio.run(whole())


def test_an_index_that_somebody_removed_is_filled_again() -> None:
    async def test(client: Any, prefix: str) -> None:
        shelf = Shelf(a="Fish oil")
        one = Follower(client, shelf, prefix, "one").follower
        await one.follow_once()
        (name,) = dict(await client.indices.get_alias(name=f"{prefix}references"))
        await client.indices.delete(index=name)
        await one.follow_once()
        assert await titles(client, prefix) == shelf.titles

    with_cluster(test)


class HalfShelf(Shelf):
    """A store that tells of no reset to somebody who knows nothing, and may end on the way."""

    is_whole = False

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        if since not in {None, "1"} or (since == "1" and self.is_whole):
            return
        if since == "1":
            yield Reset()
        for name, title in self.titles.items():
            yield Put(Document(name, {"title": title}))
            if since == "1":
                raise PowerCutError
        yield Checkpoint("2" if self.is_whole else "1")


class PowerCutError(Exception):
    """The run ends here."""


def test_what_a_broken_run_left_behind_is_gone_after_the_next() -> None:
    async def test(client: Any, prefix: str) -> None:
        shelf, name = HalfShelf(a="one", b="two"), f"{prefix}references"
        await sync(client, shelf, name, lambda count: None)
        shelf.titles = {"a": "one", "c": "three"}
        with pytest.raises(PowerCutError):
            await sync(client, shelf, name, lambda count: None)
        assert await titles(client, prefix) == {"a": "one", "b": "two"}
        shelf.is_whole = True
        done = await sync(client, shelf, name, lambda count: None)
        assert await titles(client, prefix) == shelf.titles
        assert (done.put, done.dropped) == (1, 1)

    with_cluster(test)


def test_trouble_that_is_over_is_told_no_more() -> None:
    async def test(client: Any, prefix: str) -> None:
        shelf = Shelf(a="Fish oil")
        one = Follower(client, shelf, prefix, "one")
        await one.follower.follow_once()
        await client.indices.put_settings(
            index=f"{prefix}references", settings={"index.blocks.write": True}
        )
        shelf.titles = {"a": "Magnesium"}
        await one.follower.follow_once()
        assert (await one.follower.health()).note == "sync_failing"
        await client.indices.put_settings(
            index=f"{prefix}references", settings={"index.blocks.write": None}
        )
        await one.follower.follow_once()
        assert (await one.follower.health()).note == "sync_failing"
        one.clock.seconds = MAX_WAIT_SECONDS
        await one.follower.follow_once()
        assert (await one.follower.health()).note == ""
        assert await titles(client, prefix) == shelf.titles

    with_cluster(test)
