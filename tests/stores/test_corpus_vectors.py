"""Vectors of a corpus of segments: made once for each text, kept through changes and merges, and
never in the way of exact search.
"""

from __future__ import annotations

import asyncio
import random
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.papers import PublishedPaper, collect_summaries
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession
from carrel.stores.corpus.ranking import open_corpus_ranking
from carrel.stores.corpus.store import CorpusPaperStore, CorpusRanking
from tests.stores.corpora import CorpusOnDisk, Texts, random_paper

if TYPE_CHECKING:
    from numpy.typing import NDArray

np = pytest.importorskip("numpy", reason="the extra `semantic` is not installed")

from carrel.stores.vectors.passages import (  # noqa: E402
    PassageVectors,
    map_passages,
    pack_signs,
)
from carrel.stores.vectors.pool import VectorPool, open_records, text_key  # noqa: E402
from carrel.stores.vectors.segments import (  # noqa: E402
    SemanticSegmentRanking,
    embed_corpus,
    vectors_folder,
)
from tests.processes import warm  # noqa: E402

pytestmark = pytest.mark.promise("P13")

PETS = ("dog", "cat", "hamster", "puppy")
SHIPS = ("boat", "ship", "harbour", "sail")


class TwoMeanings:
    """Knows pets from ships and nothing else: a real embedder, only very small."""

    name = "two-meanings"
    dimensions = 3

    def __init__(self) -> None:
        self.asked: list[str] = []

    def vector(self, text: str) -> NDArray[Any]:
        found = text.lower()
        counts = [sum(word in found for word in PETS), sum(word in found for word in SHIPS), 0.1]
        vector: NDArray[Any] = np.asarray(counts / np.linalg.norm(counts), dtype=np.float32)
        return vector

    def vectors(self, texts: Sequence[str]) -> Iterator[NDArray[Any]]:
        for text in texts:
            self.asked.append(text)
            yield self.vector(text)


def paper(number: int, title: str, abstract: str, texts: Texts, body: str = "") -> PublishedPaper:
    made = random_paper(random.Random(number), texts, number)
    record: PaperRecord = replace(
        made.record,
        title=title,
        abstract=abstract,
        keywords=(),
        tags=(),
        summaries=(),
        translations=(),
        markdown_sha256=texts.keep("md", body) if body else None,
        headings=(),
    )
    return replace(made, record=record, summaries=collect_summaries(record))


def search(corpus: Path, embedder: TwoMeanings, typed: str) -> list[str]:
    """Titles found by a store that was opened only for this question."""
    folder = CorpusFolder(corpus)

    def open_ranking(session: CorpusSession) -> CorpusRanking:
        words = open_corpus_ranking(session, corpus / "views")
        return SemanticSegmentRanking(words, session.version, corpus, lambda: embedder)

    async def ask() -> list[str]:
        store = CorpusPaperStore(folder, open_ranking, threads=2)
        try:
            found = await store.search(parse_paper_query(typed), first=0, count=10)
            return [hit.title for hit in found]
        finally:
            await store.close()

    try:
        return asyncio.run(ask())
    finally:
        folder.close()


@pytest.fixture
def texts() -> Texts:
    return Texts()


@pytest.fixture
def corpus(tmp_path: Path, texts: Texts) -> CorpusOnDisk:
    made = CorpusOnDisk(tmp_path / "corpus", texts)
    made.put(
        [
            paper(1, "On dogs", "A dog and its tail.", texts),
            paper(2, "On puppies", "A puppy at home.", texts),
            paper(3, "On boats", "A boat in the harbour, with a tail wind.", texts),
        ]
    )
    return made


def test_a_paper_is_found_by_what_it_means_after_those_with_the_word(corpus: CorpusOnDisk) -> None:
    embedder = TwoMeanings()
    assert search(corpus.folder, embedder, "dog") == ["On dogs"]
    assert embed_corpus(corpus.folder, embedder) == 3
    assert search(corpus.folder, embedder, "dog")[:2] == ["On dogs", "On puppies"]
    assert search(corpus.folder, embedder, '"dog"') == ["On dogs"]
    assert search(corpus.folder, embedder, "pup*") == ["On puppies"]


def test_a_changed_paper_costs_one_vector_and_the_old_one_is_not_found(
    corpus: CorpusOnDisk, texts: Texts
) -> None:
    embedder = TwoMeanings()
    embed_corpus(corpus.folder, embedder)
    corpus.put([paper(1, "On hamsters", "A hamster in its wheel.", texts)])
    assert "On dogs" not in search(corpus.folder, embedder, "puppy")
    embedder.asked.clear()
    assert embed_corpus(corpus.folder, embedder) == 1
    assert embedder.asked == ["On hamsters. A hamster in its wheel."]
    assert search(corpus.folder, embedder, "puppy")[:2] == ["On puppies", "On hamsters"]
    assert embed_corpus(corpus.folder, embedder) == 0


def test_vectors_outlive_a_merge_of_segments(corpus: CorpusOnDisk, texts: Texts) -> None:
    embedder = TwoMeanings()
    for number in range(4, 30):
        corpus.put([paper(number, f"On cats {number}", f"Cat {number} sleeps.", texts)])
    embed_corpus(corpus.folder, embedder)
    before = search(corpus.folder, embedder, "hamster")
    assert len(before) == 10
    corpus.compact()
    embedder.asked.clear()
    assert search(corpus.folder, embedder, "hamster") == before
    assert embed_corpus(corpus.folder, embedder) == 0
    assert embedder.asked == []


def test_passages_of_a_text_have_vectors_of_their_own(corpus: CorpusOnDisk, texts: Texts) -> None:
    ships = "Nothing in it but the boat and its sail in the harbour. " * 30
    pets = "Then the puppy and the hamster met the cat. " * 30
    body = f"# Mixed\n\n## One\n\n{ships}\n\n## Two\n\n{pets}\n"
    corpus.put([paper(9, "On neither", "About nothing.", texts, body)])
    embedder = TwoMeanings()
    assert embed_corpus(corpus.folder, embedder) > 5
    assert "On neither" in search(corpus.folder, embedder, "dog")[:3]


def test_what_is_made_while_a_server_runs_is_taken_up(corpus: CorpusOnDisk) -> None:
    embedder = TwoMeanings()
    folder = CorpusFolder(corpus.folder)
    query = parse_paper_query("dog")
    with folder.current().session() as session:
        words = open_corpus_ranking(session, corpus.folder / "views")
        ranking = SemanticSegmentRanking(words, session.version, corpus.folder, lambda: embedder)
        assert len(ranking.search(session, query, 0, 10)) == 1
        embed_corpus(corpus.folder, embedder)
        assert len(ranking.search(session, query, 0, 10)) == 3
        assert ranking.name.endswith("vectors of meaning")
    folder.close()


def test_a_run_that_was_killed_goes_on_where_it_stopped(corpus: CorpusOnDisk, texts: Texts) -> None:
    corpus.put(
        [paper(at, f"On cats {at}", f"Cat number {at} sleeps.", texts) for at in range(10, 210)]
    )
    script = f"""
        import os, signal
        from pathlib import Path
        from carrel.stores.vectors.segments import embed_corpus
        from tests.stores.test_corpus_vectors import TwoMeanings

        class Killed(TwoMeanings):
            def vectors(self, texts):
                for at, vector in enumerate(super().vectors(texts)):
                    if at == 100:
                        os.kill(os.getpid(), signal.SIGKILL)
                    yield vector

        embed_corpus(Path({str(corpus.folder)!r}), Killed())
    """
    ended = warm.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert ended.returncode != 0
    embedder = TwoMeanings()
    made = embed_corpus(corpus.folder, embedder)
    assert 0 < made < 203 - 60
    assert len(search(corpus.folder, embedder, "hamster")) == 10


@pytest.mark.parametrize("name", ["map.npz", "pool.i8"])
def test_damaged_vectors_leave_the_words_and_are_made_again(
    corpus: CorpusOnDisk, name: str
) -> None:
    embedder = TwoMeanings()
    embed_corpus(corpus.folder, embedder)
    file = vectors_folder(corpus.folder, embedder.name) / name
    file.write_bytes(file.read_bytes()[: 7 if name == "map.npz" else 25])
    assert search(corpus.folder, embedder, "dog") == ["On dogs"]
    embed_corpus(corpus.folder, embedder)
    assert search(corpus.folder, embedder, "dog")[:2] == ["On dogs", "On puppies"]


def test_signs_and_eight_bits_find_the_nearest_by_whole_numbers(tmp_path: Path) -> None:
    chance = np.random.default_rng(7)
    centres = chance.standard_normal((40, 384))
    whole = centres[chance.integers(0, 40, 3_000)] + 0.8 * chance.standard_normal((3_000, 384))
    whole = (whole / np.linalg.norm(whole, axis=1, keepdims=True)).astype(np.float32)
    file = tmp_path / "pool"
    with VectorPool(file, 384) as pool:
        found = [
            (at // 3, at % 3, pool.add(text_key(str(at)), row)) for at, row in enumerate(whole)
        ]
    vectors = PassageVectors(open_records(file, 384), map_passages(found, open_records(file, 384)))
    asked = centres[3].astype(np.float32) / np.float32(np.linalg.norm(centres[3]))
    best = np.argsort(-(whole @ asked))[:20]
    near = vectors.nearest(asked, 20)
    assert len({(int(at) // 3, int(at) % 3) for at in best} & {each[:2] for each in near}) >= 19
    assert near[0].score == pytest.approx(float(whole[best[0]] @ asked), abs=0.01)
    rows = [5, 17, 999, 4_000]
    by_row = {each.row: each for each in vectors.best_of_rows(asked, rows)}
    assert set(by_row) == {5, 17, 999}
    exact = max(float(whole[at] @ asked) for at in (15, 16, 17))
    assert by_row[5].score == pytest.approx(exact, abs=0.01)
    assert {each.row for each in vectors.nearest(asked, 50, [5, 17])} == {5, 17}


def test_signs_of_any_number_of_dimensions_are_packed() -> None:
    for dimensions in (1, 3, 64, 65, 384):
        numbers = np.ones((2, dimensions), np.int8)
        packed = pack_signs(numbers)
        assert packed.shape == (2, -(-dimensions // 64))
        assert int(np.bitwise_count(packed[0]).sum()) == dimensions
