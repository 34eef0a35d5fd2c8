"""`make growth`: how the cost of work and of single writes grows with what a desk holds.

    python -m benchmarks.desk_growth [--papers 1000 4000 16000] [--items 1000 10000 100000]

Each desk is made in an empty folder and asked through the doors that people use: the command line
builds, a server answers over HTTP. Costs are seconds of CPU of the process that does it, read from
the kernel, so that what else the machine does matters little. For every kind of work the exponent
is fitted over the three sizes (cost ~ size ** exponent) and printed beside its aim.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.bench_knowledge import notes
from benchmarks.paper_addition import write_source
from benchmarks.synthetic_corpus import vocabulary
from carrel.rooms.knowledge.notes import Insert
from carrel.stores.sqlite.knowledge import sqlite_knowledge
from tests.stores.postgres_server import free_port

AIM_OF_WORK, AIM_OF_WRITES = 1.1, 0.1
_TIMES, _WARMING = 40, 3
_WORDS_EACH = 80
_MOST_TRIES = 60
_READY_SECONDS = 120.0
_CARREL = (sys.executable, "-m", "carrel")


@dataclass(slots=True)
class Curve:
    """Costs of one kind of work by size. `aim` is the exponent wanted, None where none is set."""

    name: str
    aim: float | None
    seconds: dict[int, float] = field(default_factory=dict)

    def exponent(self) -> float:
        """The slope of the logarithms, by least squares."""
        sizes = [math.log(size) for size in self.seconds]
        costs = [math.log(max(cost, 1e-6)) for cost in self.seconds.values()]
        middle, level = statistics.fmean(sizes), statistics.fmean(costs)
        above = sum((x - middle) * (y - level) for x, y in zip(sizes, costs, strict=True))
        return above / sum((x - middle) ** 2 for x in sizes)


class Server:
    """`carrel serve` on one home; knows how much CPU it has used."""

    def __init__(self, home: Path, port: int, process: subprocess.Popen[bytes]) -> None:
        self.process_id = process.pid
        self._clock = (~process.pid << 3) | 2  # The kernel's clock of that process's CPU time.
        self._client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=600)
        self.home = home

    def identify(self, token: str) -> None:
        """Say who asks, where the server wants to know."""
        self._client.headers["Authorization"] = f"Bearer {token}"

    def call(self, tool: str, **params: object) -> Any:
        answer = self._client.post("/mcp/invoke", json={"tool_name": tool, "params": params})
        if answer.status_code != 200:
            raise RuntimeError(f"{tool}: {answer.status_code} {answer.text[:300]}")
        return answer.json()["result"]

    def await_index(self, tool: str, **params: object) -> None:
        """The first search makes the index, which may take longer than a call may."""
        for _ in range(_MOST_TRIES):
            body = {"tool_name": tool, "params": params}
            if self._client.post("/mcp/invoke", json=body).status_code == 200:
                return
            time.sleep(2)
        raise RuntimeError(f"{tool} never answered")

    def used_seconds(self) -> float:
        return time.clock_gettime(self._clock)

    def cost_of(self, work: Callable[[], object]) -> float:
        """Seconds of CPU of one piece of work."""
        began = self.used_seconds()
        work()
        return self.used_seconds() - began

    def median_cost(self, tool: str, ask: Callable[[int], dict[str, object]]) -> float:
        """The median of several calls, after some that warm it."""
        costs = [
            self.cost_of(partial(self.call, tool, **ask(number)))
            for number in range(_WARMING + _TIMES)
        ]
        return statistics.median(costs[_WARMING:])


@contextmanager
def serving(home: Path, *words: str) -> Iterator[Server]:
    port = free_port()
    environment = {**os.environ, "CARREL_LIMITS_PER_MINUTE": "1000000"}
    environment["CARREL_LIMITS_BURST"] = "1000000"
    with (home / "serve.log").open("ab") as log:
        process = subprocess.Popen(
            [*_CARREL, "serve", "--home", str(home), "--port", str(port), *words],
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        _await_ready(port, process, home)
        yield Server(home, port, process)
    finally:
        process.terminate()
        process.wait(timeout=60)


def _await_ready(port: int, process: subprocess.Popen[bytes], home: Path) -> None:
    until = time.monotonic() + _READY_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx2.get(f"http://127.0.0.1:{port}/ready", timeout=5).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"no server: {(home / 'serve.log').read_text()[-800:]}")


def papers_curves(folder: Path, sizes: Sequence[int]) -> list[Curve]:
    """Building, adding one, the concept index of the first goal, and search."""
    build, index = Curve("build a corpus", AIM_OF_WORK), Curve("concept index", AIM_OF_WORK)
    add, search = Curve("add one paper", AIM_OF_WRITES), Curve("search papers", None)
    words = vocabulary()
    for size in sizes:
        home = folder / f"papers-{size}"
        home.mkdir()
        write_source(home / "source.jsonl", size, _WORDS_EACH)
        build.seconds[size] = _command_cost(
            "papers", "build", str(home / "source.jsonl"), "--home", str(home), "--quiet"
        )
        with serving(home) as server:
            goal = f"What links {words[120]} with {words[240]}?"
            index.seconds[size] = server.cost_of(partial(server.call, "understand_goal", goal=goal))
            search.seconds[size] = server.median_cost(
                "search_papers",
                lambda number: {"query": f"{words[300 + number]} {words[900 + number]}"},
            )
            add.seconds[size] = server.median_cost(
                "add_paper",
                lambda number: {"markdown": f"# A paper more {number}\n\nIts text {number}.\n"},
            )
        _tell(size, build, index, search, add)
    return [build, index, add, search]


def notes_curves(folder: Path, sizes: Sequence[int]) -> list[Curve]:
    save, search = Curve("save one note", AIM_OF_WRITES), Curve("search notes", None)
    for size in sizes:
        home = folder / f"notes-{size}"
        home.mkdir()
        asyncio.run(_fill_notes(home / "knowledge.sqlite", size))
        with serving(home, "--rooms", "knowledge") as server:
            server.await_index("search_knowledge", query="text:anything")
            search.seconds[size] = server.median_cost(
                "search_knowledge", lambda number: {"query": f"what do we know of bada{number}?"}
            )
            save.seconds[size] = server.median_cost(
                "save_knowledge",
                lambda number: {"title": f"new {number}", "content": f"a note more {number}"},
            )
        _tell(size, search, save)
    return [save, search]


async def _fill_notes(path: Path, size: int) -> None:
    store = sqlite_knowledge(path)[0]
    try:
        made = notes(size)
        for start in range(0, size, 500):
            await store.write([Insert(note, note.user_id) for note in made[start : start + 500]])
    finally:
        await store.close()


def references_curves(folder: Path, sizes: Sequence[int]) -> list[Curve]:
    add, search = (
        Curve("acknowledge one reference", AIM_OF_WRITES),
        Curve("search references", None),
    )
    for size in sizes:
        home = folder / f"references-{size}"
        home.mkdir()
        library = home / "mine.json"
        library.write_text(json.dumps(_references(size)), encoding="utf-8")
        with serving(home, "--rooms", "references", "--library", str(library)) as server:
            server.await_index("search_references", query="first")
            search.seconds[size] = server.median_cost(
                "search_references", lambda number: {"query": f"subject{number}"}
            )
            add.seconds[size] = server.median_cost("add_references", _one_reference)
            total = server.call("list_references", limit=1)["total"]
            if total != size + _TIMES + _WARMING:
                raise RuntimeError(f"{total} references are there, not all that were added")
        _tell(size, search, add)
    return [add, search]


def _one_reference(number: int) -> dict[str, object]:
    item = {"type": "book", "title": f"A book more {number}", "publisher": "Nobody"}
    return {"input": json.dumps([item])}


def _references(size: int) -> list[dict[str, object]]:
    words = vocabulary()
    return [
        {
            "id": f"key-{number}",
            "type": "article-journal",
            "title": " ".join(_title_words(number, words)),
            "author": [{"family": words[1000 + number % 5000], "given": "A."}],
            "issued": {"date-parts": [[1980 + number % 46]]},
            "DOI": f"10.5555/made.{number}",
        }
        for number in range(size)
    ]


def _title_words(number: int, words: Sequence[str]) -> tuple[str, ...]:
    return "On", f"subject{number % 997}", words[number % 9000], "of", words[-number % 7919]


def _command_cost(*words: str) -> float:
    """Seconds of CPU of a command and the processes that it starts."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*_CARREL, *words], check=True, stdout=subprocess.DEVNULL)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def _tell(size: int, *curves: Curve) -> None:
    said = ", ".join(f"{curve.name} {curve.seconds[size] * 1000:,.1f} ms" for curve in curves)
    print(f"{size:>9,}  {said} of CPU", flush=True)


def report(curves: Sequence[Curve]) -> int:
    """Print the table; answers how many aims are missed."""
    missed = 0
    print(f"\n{'':<28}{'exponent':>9}{'aim':>6}   ms of CPU at each size")
    for curve in curves:
        exponent = curve.exponent()
        is_missed = curve.aim is not None and exponent > curve.aim
        missed += is_missed
        costs = "  ".join(f"{size:,}: {cost * 1000:,.1f}" for size, cost in curve.seconds.items())
        aim = "-" if curve.aim is None else f"{curve.aim:.1f}"
        print(f"{curve.name:<28}{exponent:>9.2f}{aim:>6}   {costs}{'   missed' * is_missed}")
    return missed


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desk_growth", description=__doc__)
    parser.add_argument("--papers", type=int, nargs="+", default=[1000, 4000, 16_000])
    parser.add_argument("--items", type=int, nargs="+", default=[1000, 10_000, 100_000])
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="carrel-growth-") as name:
        folder = Path(name)
        curves = [
            *papers_curves(folder, options.papers),
            *references_curves(folder, options.items),
            *notes_curves(folder, options.items),
        ]
    return min(report(curves), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
