"""Both engines answer the same bodies alike: the embedded search and a real Elasticsearch."""

from __future__ import annotations

import asyncio
import json
import os
import random
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

elasticsearch = pytest.importorskip("elasticsearch")

from carrel.core.clock import SystemClock  # noqa: E402
from carrel.core.errors import CarrelError  # noqa: E402
from carrel.rooms.knowledge.models import SearchAnswer  # noqa: E402
from carrel.rooms.knowledge.ports import Searcher  # noqa: E402
from carrel.stores.elasticsearch.search import RemoteSearch  # noqa: E402
from carrel.stores.elasticsearch.sync import sync  # noqa: E402
from carrel.stores.sqlite.search.engine import EmbeddedSearch, search_cache  # noqa: E402
from tests.stores.search_agreement import SHARED, BodyMaker, GivenDocuments, real_sources  # noqa: E402

READERS = frozenset({"everyone"})
# So many bodies for each index and seed.
BODIES = 60
SEEDS = (1, 2, 3)
# Scores nearer than this share are not held to one order.
CLEARLY = 0.02
LEAST_AGREEMENT = 0.99


@pytest.fixture(scope="module")
def url() -> str:
    given = os.environ.get("CARREL_TEST_ELASTICSEARCH_URL")
    if not given:
        pytest.skip("CARREL_TEST_ELASTICSEARCH_URL is not set")
    if not SHARED.exists():
        pytest.skip("the shared data are not beside the checkout")
    return given


async def answer_or_none(engine: Searcher, index: str, body: dict[str, Any]) -> SearchAnswer | None:
    try:
        return await engine.search(index, body, READERS)
    except CarrelError:
        return None


@pytest.mark.promise("K6")
@pytest.mark.timeout(120)
def test_random_bodies_find_the_same_here_and_there(url: str, tmp_path: Path) -> None:
    asyncio.run(_compare(url, tmp_path))


async def _compare(url: str, folder: Path) -> None:
    sources = real_sources()
    prefix = f"carrel-test-{uuid.uuid4().hex[:8]}-"
    own = {source.index: f"{prefix}{source.index}" for source in sources}
    here = EmbeddedSearch(
        search_cache(folder / "search.sqlite"),
        sources,
        SystemClock(),
        build_seconds=400.0,
        query_seconds=60.0,
    )
    there = RemoteSearch(
        lambda: elasticsearch.AsyncElasticsearch(url),
        allowed=(),
        own=own,
        timeout_seconds=60.0,
        public=frozenset({"papers"}),
    )
    async with elasticsearch.AsyncElasticsearch(url, request_timeout=60) as client:
        try:
            for source in sources:
                await sync(client, source, own[source.index], lambda count: None)
            compared, differing = 0, list[str]()
            for source in sources:
                for seed in SEEDS:
                    count, found = await _compare_source(here, there, source, seed)
                    compared, differing = compared + count, differing + found
        finally:
            await here.close()
            await there.close()
            # The names are aliases; what they name is removed.
            for name in dict(await client.indices.get(index=[f"{one}*" for one in own.values()])):
                await client.indices.delete(index=name)
    assert compared > len(sources) * len(SEEDS) * BODIES * 0.8
    assert len(differing) <= compared * (1 - LEAST_AGREEMENT), "\n".join(differing)


async def _compare_source(
    here: Searcher, there: Searcher, source: GivenDocuments, seed: int
) -> tuple[int, list[str]]:
    maker = BodyMaker(source, random.Random(f"{seed} {source.index}"), source.is_public)
    compared, differing = 0, list[str]()
    for _ in range(BODIES):
        body = maker.body()
        ours = await answer_or_none(here, source.index, body)
        theirs = await answer_or_none(there, source.index, body)
        if ours is None and theirs is None:
            continue
        compared += 1
        if ours is None or theirs is None or not agree(ours, theirs, body, source.is_public):
            differing.append(
                f"{source.index} {_total(ours)} {_total(theirs)} "
                f"{json.dumps(body, ensure_ascii=False)}"
            )
    return compared, differing


def _total(answer: SearchAnswer | None) -> str:
    return "refused" if answer is None else str(answer.hits["total"]["value"])


def agree(
    ours: SearchAnswer, theirs: SearchAnswer, body: Mapping[str, Any], is_public: bool
) -> bool:
    """The same total; where documents weigh alike, the same order of what scores differently."""
    if ours.hits["total"]["value"] != theirs.hits["total"]["value"]:
        return False
    # In private indices a cluster may not weigh words by how many documents hold them.
    return not is_public or "sort" in body or same_order(ours.hits["hits"], theirs.hits["hits"])


def same_order(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> bool:
    place = {hit["_id"]: number for number, hit in enumerate(ours)}
    known = [hit for hit in theirs if hit["_id"] in place]
    return all(
        place[one["_id"]] < place[other["_id"]]
        for number, one in enumerate(known)
        for other in known[number + 1 :]
        if one["_score"] > other["_score"] * (1 + CLEARLY)
    )
