"""What adding, changing and removing one paper costs in corpora of different sizes.

    python -m benchmarks.paper_addition 1000 100000 1000000 [--real 10000] [--keep FOLDER]

Prints seconds of CPU of the process that adds (as a server does), and the exponent between sizes:
0 where the cost does not grow with the corpus. Corpora are made of `synthetic_corpus` texts and
kept in FOLDER/<size> where asked. Beyond `--real` papers a built corpus is multiplied: its state
row by row, under other identifiers and keys, and its segments by links. That has the tables,
segments and manifest of the size it stands for, which is what an addition meets, but is not for
searching. Without `--real` everything is built.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import math
import os
import resource
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import orjson

from benchmarks.synthetic_corpus import texts, vocabulary
from carrel.core.caller import Call, Caller, Visit
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.models import AddPaper, OnePaper, PaperAdded
from carrel.stores.corpus.manifest import has_manifest, read_manifest, write_manifest
from carrel.stores.sqlite.papers import WORKSHOP_NAME
from carrel.wiring.papers_adding import paper_adder
from carrel.wiring.papers_build import build_papers

_TIMES = 25
_CALL = Call(Caller("bench", frozenset({"papers:write"})), Visit("bench", "1"))


def cpu_seconds() -> float:
    used = (resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def write_source(path: Path, papers: int, words_each: int) -> None:
    words = vocabulary()
    with path.open("wb") as file:
        for number, (title, abstract) in enumerate(texts(papers, words)):
            record = {
                "title": f"{title} {number}",
                "abstract": " ".join(abstract.split()[:words_each]),
                "doi": f"10.5555/{number}",
                "year": 1980 + number % 46,
                "authors": [
                    f"{words[1000 + number % 200]} {words[2000 + number % 977]}",
                    f"{words[1200 + number % 199]} {words[3000 + number % 991]}",
                ],
                "journal": words[500 + number % 80],
                "keywords": [words[100 + number % 1999], words[100 + number % 41]],
            }
            file.write(orjson.dumps(record) + b"\n")


def build(folder: Path, papers: int, words_each: int) -> None:
    source = folder / "source.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    write_source(source, papers, words_each)
    size, started, spent = source.stat().st_size, time.perf_counter(), cpu_seconds()
    build_papers([source], folder / "papers", BuildOptions(size_limit_bytes=1 << 40))
    seconds = time.perf_counter() - started
    files = [path for path in (folder / "papers").rglob("*") if path.is_file()]
    used = sum(path.stat().st_size for path in files)
    print(
        f"built {papers:,} papers in {seconds:,.0f} s ({cpu_seconds() - spent:,.0f} s of CPU, "
        f"{papers / seconds:,.0f} papers/s), {used / 1e6:,.0f} MB in {len(files):,} files, "
        f"{used / size:.2f} times the input, memory at most "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB",
        flush=True,
    )


def _other(key: str) -> str:
    """An expression for another key of 64 bits: exclusive or, which SQLite does not have."""
    change = "(:copy << 20)"
    return f"(({key} | {change}) - ({key} & {change}))"


def multiply(folder: Path, times: int) -> None:
    """Make the corpus so many times as large without building it."""
    into = folder / "papers"
    manifest = read_manifest(into)
    assert manifest is not None
    size = manifest.next_row
    with closing(sqlite3.connect(into / WORKSHOP_NAME / "state.db")) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        for copy in range(1, times):
            more = copy * size
            connection.execute(
                "INSERT INTO record SELECT record_id + :more, source, part, place + :more, "
                "paper + :more, digest, payload FROM record WHERE record_id <= :size",
                {"more": more, "size": size},
            )
            connection.execute(
                "INSERT INTO published SELECT number + :more, printf('%08x', :copy) || "
                "substr(paper_id, 9), paper_index + :more, digest, row + :more, filed, conflicts, "
                "removed_at, links FROM published WHERE number <= :size",
                {"more": more, "copy": copy, "size": size},
            )
            for table, owner in (
                ("record_key", "record_id"),
                ("record_block", "record_id"),
                ("published_key", "paper"),
            ):
                connection.execute(
                    f"INSERT OR IGNORE INTO {table} SELECT {_other('hash')}, {owner} + :more "
                    f"FROM {table} WHERE {owner} <= :size",
                    {"copy": copy, "more": more, "size": size},
                )
            connection.commit()
    entries = list(manifest.segments)
    for copy in range(1, times):
        for entry in manifest.segments:
            name = hashlib.sha256(f"{entry.name} {copy}".encode()).hexdigest()[:32]
            shutil.copytree(
                into / "segments" / entry.name, into / "segments" / name, copy_function=os.link
            )
            rows = entry.first_row + copy * size, entry.last_row + copy * size
            entries.append(replace(entry, name=name, first_row=rows[0], last_row=rows[1]))
    next_number = times * size + 1
    write_manifest(
        into,
        replace(manifest, segments=tuple(entries), next_row=next_number, next_index=next_number),
    )


def measure(into: Path) -> dict[str, list[float]]:
    """Seconds of CPU of each call, by what it does."""
    adder = paper_adder(into, None)
    spent: dict[str, list[float]] = {"add": [], "change": [], "remove": []}
    added: list[str] = []

    async def add(markdown: str) -> None:
        answer = await adder.add_paper(AddPaper(markdown=markdown), _CALL)
        assert isinstance(answer, PaperAdded)
        added.append(answer.paper_id)

    async def remove(paper_id: str) -> None:
        await adder.remove_paper(OnePaper(paper_id=paper_id), _CALL)

    async def everything() -> None:
        word = time.time_ns()
        # Imports and the first statements are not the price of a paper.
        await add(f"---\ntitle: Warm {word}\n---\nText.\n")
        for kind, step in steps(word):
            started = cpu_seconds()
            await step
            spent[kind].append(cpu_seconds() - started)
        for paper_id in dict.fromkeys(added):
            started = cpu_seconds()
            await remove(paper_id)
            spent["remove"].append(cpu_seconds() - started)

    def steps(word: int) -> Iterator[tuple[str, asyncio.Future[None]]]:
        for at in range(_TIMES):
            front = f"---\ntitle: Added {word} {at}\ndoi: 10.6666/{word}-{at}\n---\n"
            yield "add", asyncio.ensure_future(add(front + "A text about whales.\n\n" * 20))
        for at in range(_TIMES):
            front = f"---\ntitle: Added {word} {at}\ndoi: 10.6666/{word}-{at}\nyear: 2020\n---\n"
            yield "change", asyncio.ensure_future(add(front + "Another text.\n\n" * 20))

    asyncio.run(everything())
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--real", type=int)
    parser.add_argument("--words", type=int, default=170)
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="carrel-addition-"))
    found: list[tuple[int, dict[str, float]]] = []
    try:
        for size in options.sizes:
            place = folder / f"{size}"
            if not has_manifest(place / "papers"):
                real = min(size, options.real or size)
                build(place, real, options.words)
                multiply(place, size // real)
            found.append((size, _report(size, place / "papers")))
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    for (small, before), (large, after) in itertools.pairwise(found):
        growth = {
            kind: math.log(after[kind] / before[kind]) / math.log(large / small) for kind in after
        }
        said = ", ".join(f"{kind} {exponent:+.2f}" for kind, exponent in growth.items())
        print(f"exponent from {small:,} to {large:,}: {said}")


def _report(size: int, into: Path) -> dict[str, float]:
    spent = measure(into)
    manifest = read_manifest(into)
    assert manifest is not None
    print(f"{size:,} papers, {len(manifest.segments)} segments:")
    summarise: list[tuple[str, Callable[[list[float]], float]]] = [
        ("median", statistics.median),
        ("most", max),
    ]
    for kind, seconds in spent.items():
        said = ", ".join(f"{name} {of(seconds):.3f} s" for name, of in summarise)
        print(f"  {kind:<7} {said} of CPU", flush=True)
    return {kind: statistics.median(seconds) for kind, seconds in spent.items()}


if __name__ == "__main__":
    main()
