"""Ranking measured on real judgements: builds a snapshot from a folder in BEIR layout and asks
search_papers.

    python -m benchmarks.bench_retrieval FOLDER [KEEP]

FOLDER has corpus.jsonl[.gz], queries*.jsonl and qrels*.tsv. KEEP keeps what was built, so that a
second run only asks.
Prints nDCG@10 and recall@100 for plain FTS5 and for each step of ours.
"""

from __future__ import annotations

import asyncio
import csv
import gzip
import json
import math
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from carrel.core.caller import LOCAL_USER, Call, Caller, Visit
from carrel.core.catalogue import Catalogue, Room
from carrel.libraries.text.words import STOP_WORDS, split_words
from carrel.rooms.papers import ROOM
from carrel.rooms.papers.operations import PapersOperations
from carrel.rooms.papers.service import Papers
from carrel.services.static_assets import FolderAssets
from carrel.stores.sqlite.papers.search import OpenRanking
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.stores.sqlite.papers.store import SqlitePaperStore
from carrel.stores.tantivy.papers import open_paper_index
from carrel.stores.tantivy.papers_build import build_paper_index, has_fresh_index
from tests.rooms.papers.snapshots import SamplePaper, write_snapshot

DEPTH = 100
CALL = Call(Caller(LOCAL_USER, frozenset({"papers:read"})), Visit("benchmark", "1"))

Judgements = Mapping[str, Mapping[str, int]]
Run = dict[str, list[str]]


def lines(folder: Path, name: str) -> Iterator[dict[str, object]]:
    for file in sorted(folder.glob(f"{name}*.jsonl*")):
        with (
            gzip.open(file, "rt", encoding="utf-8")
            if file.suffix == ".gz"
            else file.open(encoding="utf-8") as text
        ):
            for line in text:
                if line.strip():
                    yield json.loads(line)


def judgements(folder: Path) -> Judgements:
    found: dict[str, dict[str, int]] = {}
    for file in sorted([*folder.glob("qrels*.tsv"), *folder.glob("qrels/*.tsv")]):
        with file.open(encoding="utf-8") as text:
            for row in csv.reader(text, delimiter="\t"):
                if len(row) == 3 and row[2].lstrip("-").isdigit() and int(row[2]) > 0:
                    found.setdefault(row[0], {})[row[1]] = int(row[2])
    return found


def ndcg(ranked: list[str], wanted: Mapping[str, int], depth: int = 10) -> float:
    gained = sum(
        (2 ** wanted.get(paper, 0) - 1) / math.log2(place + 2)
        for place, paper in enumerate(ranked[:depth])
    )
    best = sum(
        (2**gain - 1) / math.log2(place + 2)
        for place, gain in enumerate(sorted(wanted.values(), reverse=True)[:depth])
    )
    return gained / best if best else 0.0


def report(name: str, run: Run, wanted: Judgements, seconds: float) -> None:
    quality = statistics.mean(ndcg(run[query], papers) for query, papers in wanted.items())
    recall = statistics.mean(
        len(papers.keys() & set(run[query][:DEPTH])) / len(papers)
        for query, papers in wanted.items()
    )
    print(
        f"{name:58} nDCG@10 {quality:.4f}   recall@100 {recall:.4f}   "
        f"{seconds / len(run) * 1000:6.1f} ms a query",
        flush=True,
    )


def timed(
    name: str, asked: Mapping[str, str], wanted: Judgements, ask: Callable[[str], list[str]]
) -> None:
    start = time.perf_counter()
    run = {query: ask(text) for query, text in asked.items()}
    report(name, run, wanted, time.perf_counter() - start)


def plain_fts5(
    tokenizer: str,
    documents: Iterable[Mapping[str, object]],
    *,
    left_out: frozenset[str] = frozenset(),
    title_weight: float = 1.0,
) -> Callable[[str], list[str]]:
    """What anybody would write first: one FTS5 table, all words joined by OR, its own bm25."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        f"CREATE VIRTUAL TABLE papers USING fts5(id UNINDEXED, title, text, tokenize='{tokenizer}')"
    )
    rows = (
        (str(document["_id"]), str(document.get("title", "")), str(document["text"]))
        for document in documents
    )
    connection.executemany("INSERT INTO papers VALUES (?, ?, ?)", rows)

    def ask(text: str) -> list[str]:
        expression = (
            " OR ".join(f'"{word}"' for word in split_words(text) if word.lower() not in left_out)
            or '""'
        )
        found = connection.execute(
            f"SELECT id FROM papers WHERE papers MATCH ? AND rank MATCH 'bm25(0.0, "
            f"{title_weight}, 1.0)' ORDER BY rank LIMIT ?",
            (expression, DEPTH),
        )
        return [row[0] for row in found]

    return ask


def ours(
    snapshot: Path, names: Mapping[str, str], open_ranking: OpenRanking | None
) -> tuple[Callable[[str], list[str]], Callable[[], None]]:
    """The operation itself, as a door calls it, without the length limit that doors check."""
    runner = asyncio.Runner()
    store = SqlitePaperStore(PaperSnapshot(snapshot), open_ranking=open_ranking)
    operation = Catalogue(
        [Room.collect(ROOM, PapersOperations(Papers(store, FolderAssets(snapshot.parent))))]
    ).operations["search_papers"]

    def ask(text: str) -> list[str]:
        async def run() -> list[str]:
            hits = await operation.run(operation.question(query=text[:500], limit=DEPTH), CALL)
            return [names[hit.paper_id] for hit in hits]

        return runner.run(run())

    def close() -> None:
        runner.run(store.close())
        runner.close()

    return ask, close


def main(folder: Path, keep: Path) -> None:
    documents = list(lines(folder, "corpus"))
    wanted = judgements(folder)
    asked = {
        str(query["_id"]): str(query["text"])
        for query in lines(folder, "queries")
        if str(query["_id"]) in wanted
    }
    wanted = {query: papers for query, papers in wanted.items() if query in asked}
    print(f"{len(documents):,} documents, {len(asked):,} questions with judgements")
    papers = {
        str(document["_id"]): SamplePaper(
            title=str(document.get("title", "")),
            doi=f"10.0/{document['_id']}",
            summaries={"simple": str(document["text"])},
        )
        for document in documents
    }
    names = {paper.paper_id: name for name, paper in papers.items()}
    keep.mkdir(parents=True, exist_ok=True)
    snapshot = keep / "paper_snapshot.db"
    if not snapshot.exists():
        write_snapshot(keep, papers.values())
    if not has_fresh_index(snapshot):
        build_paper_index(snapshot)
    timed("plain FTS5, unicode61", asked, wanted, plain_fts5("unicode61", documents))
    porter = "porter unicode61"
    timed("  and English stems", asked, wanted, plain_fts5(porter, documents))
    timed(
        "  and without stop words",
        asked,
        wanted,
        plain_fts5(porter, documents, left_out=STOP_WORDS),
    )
    timed(
        "  and titles counted three times",
        asked,
        wanted,
        plain_fts5(porter, documents, left_out=STOP_WORDS, title_weight=3.0),
    )
    steps: list[tuple[str, OpenRanking | None]] = [
        ("ours on a foreign snapshot (FTS5, planned)", None),
        ("ours with the index beside it", open_paper_index),
        *with_meaning(snapshot),
    ]
    for name, open_ranking in steps:
        ask, close = ours(snapshot, names, open_ranking)
        timed(name, asked, wanted, ask)
        close()


def with_meaning(snapshot: Path) -> list[tuple[str, OpenRanking | None]]:
    """The step that needs the extra `semantic`; left out, and said so, where it is not
    installed.
    """
    try:
        from carrel.services.sentence_vectors.minilm import MiniLm, model_folder
        from carrel.stores.vectors.papers import embed_papers, open_semantic_index
    except ImportError as error:
        print(f"(without vectors: {error.name} is not installed)")
        return []
    folder = model_folder()
    if folder is None:
        print("(without vectors: the model is not installed)")
        return []

    def say(done: int, total: int) -> None:
        print(f"\rvectors: {done:,} of {total:,}", end="", file=sys.stderr, flush=True)

    start = time.perf_counter()
    made = embed_papers(snapshot, MiniLm(folder, threads=os.cpu_count() or 1), report=say)
    print(f"\nmade {made:,} vectors in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    model = MiniLm(folder)
    return [
        (
            "ours with the index and vectors",
            lambda path, build_id: open_semantic_index(path, build_id, lambda: model),
        )
    ]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m benchmarks.bench_retrieval FOLDER [KEEP]")
    main(
        Path(sys.argv[1]),
        Path(sys.argv[2])
        if len(sys.argv) > 2
        else Path(tempfile.mkdtemp(prefix="carrel-retrieval-")),
    )
