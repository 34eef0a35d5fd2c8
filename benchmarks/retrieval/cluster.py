"""The same questions asked of a cluster that holds the papers, by a server without a corpus."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.retrieval.carrel_desk import CarrelDesk, named, open_desk_with, run_command
from benchmarks.retrieval.measures import Run, ask_all, mean_ndcg, mean_recall
from carrel.settings import read_settings

Half = tuple[str, list[str], list[Mapping[str, int]]]


@contextmanager
def cluster_desk(url: str, home: Path, empty: Path) -> Iterator[tuple[CarrelDesk, float]]:
    """A desk on a cluster filled from a home, and the seconds that filling took."""
    prefix = f"carrel-bench-{secrets.token_hex(4)}-"
    start = time.perf_counter()
    chosen = {"CARREL_ELASTICSEARCH_URL": url, "CARREL_ELASTICSEARCH_PREFIX": prefix}
    run_command("search", "sync", "--index", "papers", "--home", home, environment=chosen)
    seconds = time.perf_counter() - start
    environment = {**chosen, "CARREL_PAPERS_STORE": "elasticsearch", "CARREL_HOME": str(empty)}
    try:
        with open_desk_with(read_settings(environment=environment)) as desk:
            yield desk, seconds
    finally:
        asyncio.run(_remove(url, prefix))


async def _remove(url: str, prefix: str) -> None:
    from elasticsearch import AsyncElasticsearch

    async with AsyncElasticsearch(url) as client:
        for name in dict(await client.indices.get(index=f"{prefix}*")):
            await client.indices.delete(index=name)


def halves(questions: Sequence[str], wanted: Sequence[Mapping[str, int]]) -> list[Half]:
    """The questions in two halves, by a hash of each."""
    found: list[Half] = [("half A", [], []), ("half B", [], [])]
    for question, right in zip(questions, wanted, strict=True):
        _, texts, judged = found[hashlib.sha256(question.encode()).digest()[0] % 2]
        texts.append(question)
        judged.append(right)
    return found


def compare(
    embedded: CarrelDesk,
    cluster: CarrelDesk,
    half: Half,
    show: Callable[[str, Sequence[float], Run | None], None],
) -> None:
    """nDCG@10 and recall@100 of both, and what the cluster's differ by."""
    label, questions, wanted = half
    figures: list[list[float]] = []
    for name, desk in (("embedded", embedded), ("cluster", cluster)):
        run = ask_all(desk.search_papers, questions)
        run.answers = named(run.answers, desk.name_paper)
        figures.append([mean_ndcg(run, wanted), mean_recall(run, wanted)])
        show(f"{label} ({len(questions)}), {name}", figures[-1], run)
    difference = [there - here for here, there in zip(*figures, strict=True)]
    show(f"{label}, difference", difference, None)
