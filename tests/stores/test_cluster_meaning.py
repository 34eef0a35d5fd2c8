"""Nearness of meaning by a real cluster, as by the vectors of the corpus that it was given."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from carrel.libraries.query.papers import parse_paper_query
from carrel.settings import Settings
from carrel.stores.corpus.folder import CorpusFolder
from carrel.stores.corpus.indexed_version import indexed_corpus
from carrel.wiring.knowledge import elasticsearch_client
from tests.rooms.papers.cluster import clean, cluster_settings
from tests.stores.corpora import CorpusOnDisk, Texts

np = pytest.importorskip("numpy", reason="the extra `semantic` is not installed")
pytest.importorskip("elasticsearch", reason="the extra `elasticsearch` is not installed")

from carrel.core.clock import SystemClock  # noqa: E402
from carrel.stores.elasticsearch.papers.cluster import PaperCluster  # noqa: E402
from carrel.stores.elasticsearch.papers.meaning import ClusterVectors  # noqa: E402
from carrel.stores.elasticsearch.papers.state import PaperSet  # noqa: E402
from carrel.stores.elasticsearch.papers.store import ClusterPaperStore  # noqa: E402
from carrel.stores.elasticsearch.papers.sync import PaperIndices  # noqa: E402
from carrel.stores.vectors.made_vectors import MadeVectorsFolder  # noqa: E402
from carrel.stores.vectors.passages import PassageVectors  # noqa: E402
from carrel.stores.vectors.pool import open_records  # noqa: E402
from carrel.stores.vectors.ranking import SemanticPapers  # noqa: E402
from carrel.stores.vectors.segments import (  # noqa: E402
    embed_corpus,
    load_map,
    pool_file,
    vectors_folder,
)
from tests.stores.test_corpus_vectors import TwoMeanings, paper, search  # noqa: E402

if TYPE_CHECKING:
    from carrel.stores.search.ranking import PaperRanking

pytestmark = pytest.mark.promise("K6-papers", "P13")


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    chosen = cluster_settings(tmp_path / "home")
    yield chosen
    asyncio.run(clean(chosen))


def fill(settings: Settings, corpus: Path, embedder: TwoMeanings) -> int:
    async def filling() -> int:
        folder, client = CorpusFolder(corpus), elasticsearch_client(settings)
        vectors = MadeVectorsFolder(corpus, lambda: embedder)
        papers = PaperIndices(partial(indexed_corpus, folder), open_vectors=vectors.now)
        name = f"{settings.elasticsearch.prefix}papers"
        try:
            done = await papers.sync(client, name, lambda count: None)
            assert not await papers.has_changes(done.cursor)
            return done.put
        finally:
            folder.close()
            await client.close()

    return asyncio.run(filling())


def open_cluster(settings: Settings, embedder: TwoMeanings) -> PaperCluster:
    def add_meaning(words: PaperRanking, papers: PaperSet) -> SemanticPapers | None:
        if papers.state().model != embedder.name:
            return None
        return SemanticPapers(words, ClusterVectors(papers.passages.search), embedder)

    chosen = settings.elasticsearch
    assert chosen.address is not None
    return PaperCluster(
        chosen.address, chosen.api_key, chosen.prefix, chosen.timeout, SystemClock(), add_meaning
    )


def asked(settings: Settings, embedder: TwoMeanings, typed: str) -> list[str]:
    async def ask() -> list[str]:
        cluster = open_cluster(settings, embedder)
        store = ClusterPaperStore(cluster.ranking)
        try:
            found = await store.search(parse_paper_query(typed), first=0, count=10)
            return [hit.title for hit in found]
        finally:
            await store.close()
            cluster.close()

    return asyncio.run(ask())


def test_what_means_the_same_is_found_once_vectors_were_made(
    tmp_path: Path, settings: Settings
) -> None:
    texts, embedder = Texts(), TwoMeanings()
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    corpus.put(
        [
            paper(1, "On dogs", "A dog is loyal.", texts, body="# One\n\nThe dog and the cat."),
            paper(2, "On boats", "A boat is slow.", texts, body="# One\n\nA harbour has boats."),
            paper(3, "On hamsters", "A hamster is small.", texts),
        ]
    )
    assert fill(settings, corpus.folder, embedder) == 3
    assert asked(settings, embedder, "puppy") == []
    embed_corpus(corpus.folder, embedder)
    # Another shape: made anew beside the one in use.
    assert fill(settings, corpus.folder, embedder) == 3
    told = search(corpus.folder, embedder, "puppy")
    assert asked(settings, embedder, "puppy") == told
    assert set(told[:2]) == {"On dogs", "On hamsters"}
    # What is asked for exactly stays exact.
    assert asked(settings, embedder, '"boat is slow"') == ["On boats"]
    corpus.put([paper(4, "On cats", "A cat is proud.", texts)])
    assert fill(settings, corpus.folder, embedder) == 1
    embed_corpus(corpus.folder, embedder)
    # Only the paper whose vectors are new is written again.
    assert fill(settings, corpus.folder, embedder) == 1
    assert "On cats" in asked(settings, embedder, "puppy")


class ManyMeanings(TwoMeanings):
    """Directions that depend on the words alone."""

    name = "many-meanings"
    dimensions = 48

    def vector(self, text: str):  # type: ignore[no-untyped-def]
        words = [np.random.default_rng(sum(map(ord, word))) for word in text.lower().split()]
        total = sum(chance.standard_normal(self.dimensions) for chance in words)
        return (total / np.linalg.norm(total)).astype(np.float32)


def test_the_nearest_passages_are_those_of_an_exact_comparison(
    tmp_path: Path, settings: Settings
) -> None:
    texts, embedder, chance = Texts(), ManyMeanings(), random.Random(5)
    words = [f"{one}{other}" for one in "bdfgk" for other in ("aro", "eli", "ino", "omu", "ust")]
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    corpus.put(
        [
            paper(
                number, " ".join(chance.sample(words, 3)), " ".join(chance.sample(words, 6)), texts
            )
            for number in range(1, 301)
        ]
    )
    embed_corpus(corpus.folder, embedder)
    fill(settings, corpus.folder, embedder)
    home = vectors_folder(corpus.folder, embedder.name)
    exact = PassageVectors(
        open_records(pool_file(home), embedder.dimensions), load_map(home, embedder.dimensions)
    )
    cluster = open_cluster(settings, embedder)
    near = ClusterVectors(cluster.papers.passages.search)
    shares, rows = [], list(range(1, 40))
    try:
        for _ in range(10):
            vector = embedder.vector(" ".join(chance.sample(words, 4)))
            told = exact.nearest(vector, 20)
            found = near.nearest(vector, 20)
            # Passages that are as near as the last one told are as good.
            good = [each for each in found if each.score >= told[-1].score - 0.001]
            shares.append(len(good) / 20)
            assert [each.score for each in found] == sorted((e.score for e in found), reverse=True)
            best, known = near.best_of_rows(vector, rows), exact.best_of_rows(vector, rows)
            assert {each.row for each in best} == set(rows)
            by_row = {each.row: each.score for each in known}
            assert all(abs(each.score - by_row[each.row]) < 0.02 for each in best)
    finally:
        cluster.close()
    assert sum(shares) / len(shares) >= 0.95
