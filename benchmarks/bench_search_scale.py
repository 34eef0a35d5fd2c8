"""Search with snippets on many papers: ours, raw SQLite FTS5 and raw tantivy, from one caller and
from eight.

    python -m benchmarks.bench_search_scale [PAPERS] [FOLDER] [PASSAGES]

FOLDER keeps what was built, so that a second run only asks. With PASSAGES every paper has a full
text of so many paragraphs, which FTS5 and our index hold; raw tantivy holds titles and abstracts.
"""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import tantivy

from benchmarks.synthetic_corpus import questions, texts, vocabulary, write_synthetic_snapshot
from carrel.libraries.query.papers import parse_paper_query
from carrel.stores.search.snapshot_index import build_paper_index, has_fresh_index, open_paper_index
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.stores.sqlite.papers.store import SqlitePaperStore

TOP = 20
EACH = 60
CALLERS = 8
Ask = Callable[[str], object]


def raw_fts5(snapshot: Path) -> Callable[[], Ask]:
    """The plain query: every word as typed, FTS5's own ranking and snippets."""

    def opened() -> Ask:
        connection = sqlite3.connect(
            f"file:{snapshot}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        connection.execute("PRAGMA mmap_size = 1073741824")

        def ask(query: str) -> object:
            return connection.execute(
                "SELECT paper_id, snippet(paper_fts, -1, '[', ']', '…', 32) FROM paper_fts "
                "WHERE paper_fts MATCH ? ORDER BY rank LIMIT ?",
                (query, TOP),
            ).fetchall()

        return ask

    return opened


def build_raw_tantivy(folder: Path, papers: int, words: list[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body", stored=True, tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(256 * 1024 * 1024, 1)
    for number, (title, abstract) in enumerate(texts(papers, words), 1):
        writer.add_document(tantivy.Document(id=f"{number:032x}", body=f"{title} {abstract}"))
    writer.commit()
    writer.wait_merging_threads()


def raw_tantivy(folder: Path) -> Callable[[], Ask]:
    """tantivy's own query parser, ranking and snippets."""
    index = tantivy.Index.open(str(folder))
    searcher = index.searcher()

    def opened() -> Ask:
        def ask(query: str) -> object:
            if query.endswith("*"):
                parsed = tantivy.Query.regex_query(index.schema, "body", query[:-1] + ".*")
            else:
                parsed = index.parse_query(query, ["body"])
            hits = searcher.search(parsed, TOP, count=False).hits
            snippets = tantivy.SnippetGenerator.create(searcher, parsed, index.schema, "body")
            return [
                snippets.snippet_from_doc(searcher.doc(address)).to_html() for _, address in hits
            ]

        return ask

    return opened


def timed(open_ask: Callable[[], Ask], asked: list[str], callers: int) -> list[float]:
    """Milliseconds of every call."""

    def one(some: list[str]) -> list[float]:
        ask = open_ask()
        ask(some[0])
        spent = []
        for query in some:
            start = time.perf_counter()
            ask(query)
            spent.append((time.perf_counter() - start) * 1000)
        return spent

    if callers == 1:
        return one(asked)
    with ThreadPoolExecutor(callers) as threads:
        return [
            spent
            for part in threads.map(one, [asked[at:] + asked[:at] for at in range(callers)])
            for spent in part
        ]


async def timed_store(store: SqlitePaperStore, asked: list[str], callers: int) -> list[float]:
    async def one(some: list[str]) -> list[float]:
        spent = []
        for query in some:
            start = time.perf_counter()
            await store.search(parse_paper_query(query), first=0, count=TOP)
            spent.append((time.perf_counter() - start) * 1000)
        return spent

    await store.search(parse_paper_query(asked[0]), first=0, count=TOP)
    parts = await asyncio.gather(*(one(asked[at:] + asked[:at]) for at in range(callers)))
    return [spent for part in parts for spent in part]


def shown(spent: list[float]) -> str:
    return (
        f"{statistics.median(spent):.1f} /{statistics.quantiles(spent, n=20)[18]:6.1f} "
        f"/{statistics.mean(spent):6.1f}"
    )


def size_mb(path: Path) -> float:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / 1e6


def text_mb(snapshot: Path) -> float:
    """What was indexed: titles, abstracts, full texts and metadata."""
    with closing(sqlite3.connect(f"file:{snapshot}?mode=ro", uri=True)) as connection:
        sql = (
            "SELECT sum(length(title) + length(summary) + length(source) + length(metadata)) "
            "FROM paper_fts"
        )
        return float(connection.execute(sql).fetchone()[0]) / 1e6


def built(what: str, papers: int, is_there: bool, build: Callable[[], object]) -> None:
    if is_there:
        return
    start, cpu = time.perf_counter(), time.process_time()
    build()
    spent = time.perf_counter() - start
    print(
        f"built {what}: {spent:.0f} s ({time.process_time() - cpu:.0f} CPU-s), "
        f"{papers / spent:,.0f} papers/s",
        flush=True,
    )


def main(papers: int, folder: Path, passages: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    snapshot = folder / (f"{papers}.db" if not passages else f"{papers}-{passages}.db")
    raw = folder / f"{papers}.tantivy"
    words = vocabulary()
    built(
        "the snapshot with FTS5",
        papers,
        snapshot.exists(),
        lambda: write_synthetic_snapshot(snapshot, papers, words, passages),
    )
    built("our index", papers, has_fresh_index(snapshot), lambda: build_paper_index(snapshot))
    built("raw tantivy", papers, raw.exists(), lambda: build_raw_tantivy(raw, papers, words))
    ours = snapshot.with_name(f"{snapshot.name}.index")
    print(
        f"{papers:,} papers with {passages} passages of full text each; "
        f"snapshot {size_mb(snapshot):,.0f} MB, text {text_mb(snapshot):,.0f} MB, "
        f"our index {size_mb(ours):,.0f} MB, raw tantivy {size_mb(raw):,.0f} MB"
    )
    asked = questions(words, EACH)
    systems: list[tuple[str, Callable[[list[str], int], list[float]]]] = [
        ("raw FTS5", lambda some, callers: timed(raw_fts5(snapshot), some, callers)),
        (
            "ours, FTS5 planned",
            lambda some, callers: asyncio.run(
                _store_times(snapshot, some, callers, has_index=False)
            ),
        ),
        ("raw tantivy", lambda some, callers: timed(raw_tantivy(raw), some, callers)),
        (
            "ours",
            lambda some, callers: asyncio.run(
                _store_times(snapshot, some, callers, has_index=True)
            ),
        ),
    ]
    for callers in (1, CALLERS):
        print(
            f"\n{callers} caller{'s' if callers > 1 else ''}: p50 / p95 / mean in ms, {TOP} hits "
            f"with snippets"
        )
        print(f"{'':20}" + "".join(f"{kind:>24}" for kind in asked))
        for name, measure in systems:
            some = {
                kind: queries if callers == 1 else queries[: EACH // 4]
                for kind, queries in asked.items()
            }
            print(
                f"{name:20}"
                + "".join(f"{shown(measure(queries, callers)):>24}" for queries in some.values()),
                flush=True,
            )
    print(
        f"\nresident memory at most "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB (pid {os.getpid()})"
    )


async def _store_times(
    snapshot: Path, some: list[str], callers: int, *, has_index: bool
) -> list[float]:
    store = SqlitePaperStore(
        PaperSnapshot(snapshot), open_ranking=open_paper_index if has_index else None
    )
    try:
        return await timed_store(store, some, callers)
    finally:
        await store.close()


if __name__ == "__main__":
    chosen = (
        Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(prefix="carrel-scale-"))
    )
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 100_000,
        chosen,
        int(sys.argv[3]) if len(sys.argv) > 3 else 0,
    )
