"""Vectors beside a snapshot: made once for each text, resumed, and never in the way of exact
search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.search.snapshot_index import build_paper_index
from carrel.stores.sqlite.papers.index_manifest import index_folder, read_manifest
from tests.rooms.papers.desk import Desk
from tests.rooms.papers.snapshots import SamplePaper, write_snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

np = pytest.importorskip("numpy", reason="the extra `semantic` is not installed")

from carrel.stores.vectors.papers import (  # noqa: E402
    embed_papers,
    open_semantic_index,
    vector_file,
)

PETS = ("dog", "cat", "hamster", "puppy")
SHIPS = ("boat", "ship", "harbour", "sail")
PAPERS = (
    SamplePaper(title="On dogs", year="2001", summaries={"simple": "A dog and its tail."}),
    SamplePaper(title="On puppies", year="2002", summaries={"simple": "A puppy at home."}),
    SamplePaper(
        title="On boats",
        year="2003",
        summaries={"simple": "A boat in the harbour, with a tail wind."},
    ),
)


class TwoMeanings:
    """Knows pets from ships and nothing else: a real embedder, only very small."""

    name = "two-meanings"
    dimensions = 3

    def __init__(self) -> None:
        self.asked: list[str] = []

    def vector(self, text: str) -> NDArray[Any]:
        self.asked.append(text)
        found = text.lower()
        counts = [sum(word in found for word in PETS), sum(word in found for word in SHIPS), 0.1]
        vector: NDArray[Any] = np.asarray(counts / np.linalg.norm(counts), dtype=np.float32)
        return vector

    def vectors(self, texts: Sequence[str]) -> Iterator[NDArray[Any]]:
        return map(self.vector, texts)


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = write_snapshot(tmp_path, PAPERS)
    build_paper_index(path)
    return path


def desk(snapshot: Path, embedder: TwoMeanings) -> Desk:
    return Desk(
        snapshot,
        snapshot.parent,
        lambda path, build_id: open_semantic_index(path, build_id, lambda: embedder),
    )


def test_a_paper_is_found_by_what_it_means_after_those_with_the_word(snapshot: Path) -> None:
    embedder = TwoMeanings()
    with desk(snapshot, embedder) as opened:
        assert opened.search("dog") == ["On dogs"]
        assert embed_papers(snapshot, embedder) == len(PAPERS)
        assert opened.search("dog")[:2] == ["On dogs", "On puppies"]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ('"dog"', ["On dogs"]),
        ("dog AND tail", ["On dogs"]),
        ("on puppies", ["On puppies"]),
        ("dog year:2001", ["On dogs"]),
        ("pup*", ["On puppies"]),
        ("title:boats", ["On boats"]),
    ],
)
def test_exact_search_stays_exact(snapshot: Path, typed: str, found: list[str]) -> None:
    embedder = TwoMeanings()
    embed_papers(snapshot, embedder)
    with desk(snapshot, embedder) as opened:
        assert opened.search(typed)[: len(found)] == found
        if typed != "on puppies":
            assert opened.search(typed) == found


def test_pages_show_every_paper_once(snapshot: Path) -> None:
    embedder = TwoMeanings()
    embed_papers(snapshot, embedder)
    with desk(snapshot, embedder) as opened:
        whole = opened.search("tail of a dog")
        assert [
            title
            for page in (1, 2, 3, 4)
            for title in opened.search("tail of a dog", limit=1, page=page)
        ] == whole
        assert sorted(whole) == ["On boats", "On dogs", "On puppies"]


def test_what_is_made_is_kept_and_a_cut_file_is_mended(tmp_path: Path, snapshot: Path) -> None:
    embed_papers(snapshot, TwoMeanings())
    again = TwoMeanings()
    assert embed_papers(snapshot, again) == 0
    assert again.asked == []
    file = vector_file(index_folder(snapshot), again.name)
    file.write_bytes(file.read_bytes()[:-5])
    assert embed_papers(snapshot, again) == 1
    more = [*PAPERS, SamplePaper(title="On cats", summaries={"simple": "A cat."})]
    write_snapshot(tmp_path, more, build_id="2" * 32)
    build_paper_index(snapshot)
    manifest = read_manifest(snapshot)
    assert manifest is not None
    assert manifest.vectors == ""
    assert embed_papers(snapshot, again) == 1
    with desk(snapshot, again) as opened:
        assert set(opened.search("hamster")[:3]) == {"On cats", "On dogs", "On puppies"}


def test_a_run_that_stops_half_way_goes_on_where_it_stopped(snapshot: Path) -> None:
    class Tired(TwoMeanings):
        def vector(self, text: str) -> NDArray[Any]:
            if len(self.asked) == 2:
                raise RuntimeError("stopped")
            return super().vector(text)

    with pytest.raises(RuntimeError, match="stopped"):
        embed_papers(snapshot, Tired())
    told: list[tuple[int, int]] = []
    assert (
        embed_papers(snapshot, TwoMeanings(), report=lambda done, total: told.append((done, total)))
        == 1
    )
    assert told[-1] == (len(PAPERS), len(PAPERS))


def test_vectors_of_another_model_are_passed_over(snapshot: Path) -> None:
    class Other(TwoMeanings):
        name = "other"

    embed_papers(snapshot, TwoMeanings())
    with desk(snapshot, Other()) as opened:
        assert opened.search("dog") == ["On dogs"]


def test_vectors_need_the_index_first(tmp_path: Path) -> None:
    with pytest.raises(SnapshotUnavailableError, match="index"):
        embed_papers(write_snapshot(tmp_path, PAPERS), TwoMeanings())
