"""Papers in a real cluster, whole: read and searched without a corpus, followed, made anew."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from carrel.core.errors import CarrelError
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.papers.ports import PaperStore
from carrel.settings import Settings, SettingsError, read_settings
from carrel.stores.corpus.folder import CorpusFolder
from carrel.stores.corpus.indexed_version import indexed_corpus
from carrel.stores.indexed_papers import IndexedVersion
from carrel.wiring.knowledge import elasticsearch_client
from carrel.wiring.papers import open_corpus, open_papers
from tests.rooms.papers.cluster import clean, cluster_settings, fill_from_corpus, put
from tests.rooms.papers.desk import CALL
from tests.stores.corpora import CorpusOnDisk, Texts, random_paper, random_papers
from tests.stores.test_corpus_store import ask_segments, read_everything

pytest.importorskip("elasticsearch", reason="the extra `elasticsearch` is not installed")

pytestmark = pytest.mark.promise("K6-papers")

QUERIES = (
    "deep learning",
    "krill memory folding",
    "plasma membrane field",
    '"deep field" OR plasma',
    "author:lee year:2015..",
    "title:plasma -deep",
    "neural* protein",
    "深度学习",
)


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    chosen = cluster_settings(tmp_path / "replica")
    yield chosen.model_copy(
        update={"papers": chosen.papers.model_copy(update={"store": "elasticsearch"})}
    )
    asyncio.run(clean(chosen))


def ask(settings: Settings, question: Callable[[PaperStore], Awaitable[Any]]) -> Any:
    async def asked() -> Any:
        corpus = open_corpus(settings)
        try:
            return await question(corpus.store)
        finally:
            await corpus.close()

    return asyncio.run(asked())


async def found(store: PaperStore) -> dict[str, list[str]]:
    return {
        query: [
            hit.paper_id for hit in await store.search(parse_paper_query(query), first=0, count=100)
        ]
        for query in QUERIES
    }


def test_without_an_address_the_setting_is_refused(tmp_path: Path) -> None:
    chosen = read_settings(
        environment={"CARREL_HOME": str(tmp_path), "CARREL_PAPERS_STORE": "elasticsearch"}
    )
    with pytest.raises(SettingsError, match=r"papers\.store is elasticsearch"):
        open_corpus(chosen)


def test_a_cluster_that_is_away_or_empty_is_unavailable_and_never_an_empty_list(
    settings: Settings,
) -> None:
    async def search(store: PaperStore) -> object:
        return await store.search(parse_paper_query("plasma"), first=0, count=5)

    async def passages(store: Any) -> object:
        return await store.search_passages(parse_paper_query("x"), within=(), first=0, count=5)

    async def one(store: PaperStore) -> object:
        return await store.find("0" * 32)

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        away = settings.model_copy(
            update={"elasticsearch": settings.elasticsearch.model_copy(update={"url": url})}
        )
        for chosen in (settings, away):
            for question in (search, passages, one):
                with pytest.raises(CarrelError) as refused:
                    ask(chosen, question)
                assert refused.value.code == "unavailable" and refused.value.is_retryable
                assert refused.value.next_step and "127.0.0.1" not in refused.value.message


def test_a_server_that_only_reads_adds_nothing_and_says_where_to_ask(settings: Settings) -> None:
    async def asked() -> tuple[CarrelError, bool]:
        corpus = open_corpus(settings)
        opened = open_papers(settings, corpus)
        operations = {each.name: each for each in opened.room.operations}
        add = operations["add_paper"]
        try:
            with pytest.raises(CarrelError) as refused:
                await add.run(add.question.model_validate({"identifier": "10.1000/1"}), CALL)
            assert opened.probes is not None
            health = await opened.probes["papers"]()
        finally:
            assert opened.close is not None
            await opened.close()
            await corpus.close()
        return refused.value, health.is_well

    error, is_ready = asyncio.run(asked())
    assert error.code == "read_only_corpus" and "papers.store" in str(error.details)
    assert not is_ready
    assert not (settings.home / "papers").exists()


def test_a_cluster_answers_as_the_corpus_it_was_filled_from(
    tmp_path: Path, settings: Settings
) -> None:
    texts = Texts()
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    papers = random_papers(7, 40, texts)
    for first in range(0, 40, 15):
        corpus.put(papers[first : first + 15])
    done = asyncio.run(fill_from_corpus(settings, corpus.folder))
    assert (done.put, done.dropped) == (40, 0)
    told, asked = ask_segments(corpus.folder, read_everything), ask(settings, read_everything)
    for name in told:
        assert asked[name] == told[name], name
    told, asked = ask_segments(corpus.folder, found), ask(settings, found)
    for query in QUERIES:
        assert asked[query] == told[query], query
    assert any(told.values())


def test_changes_of_the_corpus_are_in_the_cluster_after_the_next_run(
    tmp_path: Path, settings: Settings
) -> None:
    chance, texts = random.Random(3), Texts()
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    papers = random_papers(3, 30, texts)
    corpus.put(papers)
    asyncio.run(fill_from_corpus(settings, corpus.folder))
    corpus.put([random_paper(chance, texts, 5, edition=2), random_paper(chance, texts, 31)])
    corpus.remove([papers[0].paper_id, papers[20].paper_id])
    corpus.compact()
    done = asyncio.run(fill_from_corpus(settings, corpus.folder))
    assert (done.put, done.dropped) == (2, 3)
    told, asked = ask_segments(corpus.folder, read_everything), ask(settings, read_everything)
    for name in told:
        assert asked[name] == told[name], name
    # What was deleted still counts for the rarity of words where it lies, until it is merged away.
    told, asked = ask_segments(corpus.folder, found), ask(settings, found)
    assert {query: set(ids) for query, ids in asked.items()} == {
        query: set(ids) for query, ids in told.items()
    }
    assert asyncio.run(fill_from_corpus(settings, corpus.folder)).put == 0


class PowerCutError(Exception):
    """The run ends here."""


class CutOff:
    """A version of a corpus that can be read until so many papers were taken."""

    def __init__(self, version: IndexedVersion, after: int) -> None:
        self._version = version
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._version, name)

    def papers(self, rows: Any) -> Any:
        if self._after < len(rows):
            raise PowerCutError
        self._after -= len(rows)
        return self._version.papers(rows)


@contextmanager
def cut_off(corpus: Path, after: int) -> Iterator[IndexedVersion]:
    folder = CorpusFolder(corpus)
    try:
        with indexed_corpus(folder) as version:
            yield cast(IndexedVersion, CutOff(version, after))
    finally:
        folder.close()


def test_a_rebuild_leaves_no_gap_and_goes_on_where_it_was_stopped(
    tmp_path: Path, settings: Settings
) -> None:
    texts = Texts()
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    corpus.put(random_papers(9, 12, texts))
    asyncio.run(fill_from_corpus(settings, corpus.folder))
    before = ask(settings, found)
    names = asyncio.run(indices(settings))
    with pytest.raises(PowerCutError):
        asyncio.run(put(settings, lambda: cut_off(corpus.folder, 8), rebuild=True, at_once=4))
    assert ask(settings, found) == before
    assert names < asyncio.run(indices(settings))
    done = asyncio.run(put(settings, lambda: cut_off(corpus.folder, 4), rebuild=True, at_once=4))
    # Eight papers were there already.
    assert done.put == 4
    assert ask(settings, found) == before
    after = asyncio.run(indices(settings))
    assert len(after) == len(names) and not after & names


def test_an_index_of_an_earlier_version_gives_way_in_one_step(
    tmp_path: Path, settings: Settings
) -> None:
    texts = Texts()
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    corpus.put(random_papers(2, 5, texts))
    name = f"{settings.elasticsearch.prefix}papers"

    async def make_old() -> None:
        client = elasticsearch_client(settings)
        meta = {"carrel": {"fields": {}, "cursor": "1" * 32, "analysis": "2"}}
        await client.indices.create(index=name, mappings={"_meta": meta})
        await client.close()

    asyncio.run(make_old())
    with pytest.raises(CarrelError, match="not of this version"):
        ask(settings, found)
    assert asyncio.run(fill_from_corpus(settings, corpus.folder)).put == 5
    assert any(ask(settings, found).values())
    assert name not in asyncio.run(indices(settings))


async def indices(settings: Settings) -> set[str]:
    client = elasticsearch_client(settings)
    try:
        return set(dict(await client.indices.get(index=f"{settings.elasticsearch.prefix}*")))
    finally:
        await client.close()
