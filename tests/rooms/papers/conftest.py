"""A small corpus in both generations, and the genuine one where it is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import cast

import pytest

from carrel.stores.search.snapshot_index import build_paper_index, open_paper_index
from carrel.stores.sqlite.papers.search import OpenRanking
from tests.rooms.papers.cluster import corpus_in_cluster, filled_cluster
from tests.rooms.papers.desk import DEMO, ClusterDesk, Desk, SegmentsDesk
from tests.rooms.papers.segments import write_segments
from tests.rooms.papers.snapshots import Generation, SamplePaper, write_snapshot

TRANSFORMER = SamplePaper(
    title="Attention Is All You Need",
    authors=("Zoe Vaswani", "Ashish Müller"),
    year="2017",
    venue="NeurIPS",
    doi="10.48550/arxiv.1706.03762",
    arxiv="1706.03762",
    keywords=("Transformer", "attention mechanism"),
    tags=("survey",),
    institutions=("Google Brain",),
    summaries={
        "simple": "Studies the transformer, an attention model.",
        "deep_read": "Reads it deeply.",
    },
    source="# Attention\n\n" + "The transformer attends to everything. " * 2000,
    translations={"zh": "注意力机制翻译内容。"},
    bibtex="@inproceedings{vaswani2017, title={Attention Is All You Need}}",
)
RESIDUAL = SamplePaper(
    title="Deep Residual Learning",
    authors=("Kaiming He",),
    year="2016",
    venue="CVPR",
    doi="10.1109/cvpr.2016.90",
    keywords=("residual networks", "transformer variants"),
    tags=("method",),
    summaries={"simple": "Residual networks ease the training of deep image models."},
)
LIDAR = SamplePaper(
    title="深度学习在激光雷达定位中的应用",
    authors=("王伟", "李娜"),
    year="2023",
    venue="自动化学报",
    keywords=("深度学习",),
    summaries={"simple": "深度学习方法用于定位。"},
)
UNDATED = SamplePaper(
    title="Zellen und Müllers Gene",
    authors=("Jörg Müller",),
    keywords=("transformer",),
    summaries={"simple": "Нейронные сети, Ελληνικά and genes with a transformer."},
)
CORPUS = (TRANSFORMER, RESIDUAL, LIDAR, UNDATED)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Segments come in one generation: a test that asks both is asked once of them."""
    twice = [item for item in items if _asks_older_segments(item)]
    if twice:
        config.hook.pytest_deselected(items=twice)
        items[:] = [item for item in items if item not in twice]


def _asks_older_segments(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    return (
        call is not None
        and call.params.get("desk") in {"segments", "cluster"}
        and call.params.get("generation") == "older"
    )


@pytest.fixture(scope="session", params=["older", "newer"])
def generation(request: pytest.FixtureRequest) -> Generation:
    return cast(Generation, request.param)


@pytest.fixture(scope="session", params=["fts5", "tantivy", "elasticsearch", "segments", "cluster"])
def desk(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    generation: Generation,
) -> Iterator[Desk]:
    """Whichever index answers, the promises are the same."""
    folder = tmp_path_factory.mktemp(f"{generation}-{request.param}")
    if request.param == "segments":
        with SegmentsDesk(write_segments(folder, CORPUS)) as opened:
            yield opened
        return
    if request.param == "cluster":
        corpus = write_segments(folder, CORPUS)
        with corpus_in_cluster(corpus) as cluster, ClusterDesk(cluster) as opened:
            yield opened
        return
    snapshot = write_snapshot(folder, CORPUS, generation=generation)
    with ExitStack() as stack:
        open_ranking: OpenRanking = open_paper_index
        if request.param == "tantivy":
            build_paper_index(snapshot)
        if request.param == "elasticsearch":
            open_ranking = stack.enter_context(filled_cluster(snapshot))
        yield stack.enter_context(Desk(snapshot, folder / "paper-static", open_ranking))


@pytest.fixture
def demo() -> Iterator[Desk]:
    if not DEMO.exists():
        pytest.skip(f"the genuine snapshot is not beside the checkout ({DEMO.name})")
    with Desk(DEMO / "paper_snapshot.db", DEMO / "paper-static") as opened:
        yield opened
