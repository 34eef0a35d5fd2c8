"""A real Elasticsearch with the papers of one snapshot, for as long as a test needs it."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from carrel.core.clock import SystemClock
from carrel.settings import Settings, read_settings
from carrel.stores.corpus.folder import CorpusFolder
from carrel.stores.corpus.indexed_version import indexed_corpus
from carrel.stores.indexed_papers import OpenIndexedVersion
from carrel.stores.search.snapshot_version import indexed_snapshot
from carrel.stores.sqlite.papers.search import OpenRanking
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot

if TYPE_CHECKING:
    from carrel.stores.elasticsearch.papers.cluster import PaperCluster
    from carrel.stores.elasticsearch.writing import Synced


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
    source = PaperSnapshot(snapshot)
    try:
        return (await put(settings, partial(indexed_snapshot, source))).put
    finally:
        source.close()


async def fill_from_corpus(settings: Settings, corpus: Path) -> Synced:
    """Brings the cluster up to a corpus of segments."""
    folder = CorpusFolder(corpus)
    try:
        return await put(settings, partial(indexed_corpus, folder))
    finally:
        folder.close()


async def put(
    settings: Settings,
    open_version: OpenIndexedVersion,
    *,
    rebuild: bool = False,
    at_once: int = 20,
) -> Synced:
    """Brings the cluster up to a version of a corpus."""
    from carrel.stores.elasticsearch.papers.sync import PaperIndices
    from carrel.wiring.knowledge import elasticsearch_client

    client, name = elasticsearch_client(settings), f"{settings.elasticsearch.prefix}papers"
    try:
        papers = PaperIndices(open_version, papers_at_once=at_once)
        return await papers.sync(client, name, lambda count: None, rebuild=rebuild)
    finally:
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
    cluster = open_cluster(settings)
    try:
        asyncio.run(fill(settings, snapshot))
        yield cluster.open_ranking
    finally:
        cluster.close()
        asyncio.run(clean(settings))


@contextmanager
def corpus_in_cluster(corpus: Path) -> Iterator[PaperCluster]:
    """A cluster that holds a corpus of segments whole, gone afterwards; whoever takes it closes."""
    settings = cluster_settings(corpus.parent)
    try:
        asyncio.run(fill_from_corpus(settings, corpus))
        yield open_cluster(settings)
    finally:
        asyncio.run(clean(settings))


def open_cluster(settings: Settings) -> PaperCluster:
    from carrel.stores.elasticsearch.papers.cluster import PaperCluster

    chosen = settings.elasticsearch
    assert chosen.address is not None
    return PaperCluster(
        chosen.address, chosen.api_key, chosen.prefix, chosen.timeout, SystemClock()
    )
