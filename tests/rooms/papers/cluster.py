"""A real Elasticsearch with the papers of one snapshot, for as long as a test needs it."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from carrel.settings import Settings, read_settings
from carrel.stores.sqlite.papers.documents import ranked_snapshot
from carrel.stores.sqlite.papers.search import OpenRanking
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot


def cluster_settings(home: Path, prefix: str | None = None) -> Settings:
    """Settings for the cluster that tests may use; skips where there is none."""
    url = os.environ.get("CARREL_TEST_ELASTICSEARCH_URL")
    if not url:
        pytest.skip("CARREL_TEST_ELASTICSEARCH_URL is not set")
    pytest.importorskip("elasticsearch", reason="the extra `elasticsearch` is not installed")
    return read_settings(
        environment={
            "CARREL_HOME": str(home),
            "CARREL_PAPERS_SEARCH": "elasticsearch",
            "CARREL_ELASTICSEARCH_URL": url,
            "CARREL_ELASTICSEARCH_PREFIX": prefix or f"carrel-test-{uuid.uuid4().hex[:8]}-",
            "CARREL_AUDIT_ENABLED": "false",
        }
    )


async def fill(settings: Settings, snapshot: Path) -> int:
    """Brings the cluster up to a snapshot; how many papers were written."""
    from carrel.stores.elasticsearch.papers import RankedPapers
    from carrel.stores.elasticsearch.sync import sync
    from carrel.wiring.knowledge import elasticsearch_client

    source, client = PaperSnapshot(snapshot), elasticsearch_client(settings)
    papers = RankedPapers(partial(ranked_snapshot, source))
    try:
        return (
            await sync(client, papers, f"{settings.elasticsearch.prefix}papers", lambda count: None)
        ).put
    finally:
        source.close()
        await client.close()


async def clean(settings: Settings) -> None:
    from carrel.wiring.knowledge import elasticsearch_client

    client = elasticsearch_client(settings)
    try:
        found = await client.indices.get(index=f"{settings.elasticsearch.prefix}*")
        for name in dict(found):
            await client.indices.delete(index=name)
    finally:
        await client.close()


@contextmanager
def filled_cluster(snapshot: Path) -> Iterator[OpenRanking]:
    """The ranking over a cluster that holds this snapshot, gone afterwards."""
    settings = cluster_settings(snapshot.parent)
    from carrel.stores.elasticsearch.papers import PaperCluster

    chosen = settings.elasticsearch
    assert chosen.address is not None
    cluster = PaperCluster(chosen.address, chosen.api_key, chosen.prefix, chosen.timeout)
    try:
        asyncio.run(fill(settings, snapshot))
        yield cluster.open_ranking
    finally:
        cluster.close()
        asyncio.run(clean(settings))
