"""Research on a very large corpus, in the memory of one machine.

    python -m benchmarks.research_at_scale PAPERS DATA --folder FOLDER [--workers 1]

Writes PAPERS papers (sentences of real abstracts, with names that nobody has used before, so that
the vocabulary goes on growing), builds a corpus of them by the command line, serves it, and starts
research on a goal. Prints CPU, clock and the greatest memory of each step: the proportional share
(PSS) of all processes together, in which what they share counts once. A step whose result lies in
FOLDER is not done again.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.desk_growth import serving
from benchmarks.synthetic_corpus import vocabulary

_SENTENCES_EACH = 6
_PAPERS_A_FILE = 100_000
_NEW_NAME_IN = 12
_LOOK_SECONDS = 0.5
_TERMINAL = {"completed", "failed", "cancelled"}


def write_papers(folder: Path, count: int, data: Path) -> None:
    """Papers as JSON lines, in files below the limit of one source; always the same papers."""
    source = data / "papers" / "elife_metadata.jsonl.xz"
    with lzma.open(source, "rt", encoding="utf-8") as file:
        abstracts = [json.loads(line).get("abstract") or "" for line in file]
    sentences = [one.strip() for text in abstracts for one in text.split(". ") if len(one) > 60]
    names, draw = vocabulary()[2_000:], random.Random(17)
    draft = folder.with_name("papers-unfinished")
    draft.mkdir(exist_ok=True)
    for first in range(0, count, _PAPERS_A_FILE):
        with (draft / f"part-{first}.jsonl").open("w", encoding="utf-8") as out:
            for number in range(first, min(count, first + _PAPERS_A_FILE)):
                record = _paper(number, draw, draw.choices(sentences, k=_SENTENCES_EACH), names)
                out.write(json.dumps(record, ensure_ascii=False) + "\n")
    draft.rename(folder)


def _paper(
    number: int, draw: random.Random, sentences: list[str], names: list[str]
) -> dict[str, object]:
    told = [_with_new_names(draw, each, names) for each in sentences]
    return {
        "title": f"{' '.join(told[0].split()[:11])} ({number})",
        "abstract": ". ".join(told) + ".",
        "doi": f"10.5555/scale.{number}",
        "year": 1980 + number % 46,
    }


def _with_new_names(draw: random.Random, sentence: str, names: list[str]) -> str:
    words = sentence.split()
    for at in range(len(words)):
        if draw.randrange(_NEW_NAME_IN) == 0:
            words[at] = names[min(int(draw.paretovariate(0.7)), len(names) - 1)]
    return " ".join(words)


class MemoryWatch:
    """The greatest memory of a process and its children, in MB."""

    def __init__(self, process_id: int) -> None:
        self._process_id = process_id
        self._is_done = threading.Event()
        self.greatest = 0.0

    @contextmanager
    def watching(self) -> Iterator[MemoryWatch]:
        thread = threading.Thread(target=self._look, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._is_done.set()
            thread.join()

    def _look(self) -> None:
        while not self._is_done.wait(_LOOK_SECONDS):
            self.greatest = max(self.greatest, sum(map(_share, _tree(self._process_id))))


def _share(process_id: int) -> float:
    try:
        for line in Path(f"/proc/{process_id}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def _tree(process_id: int) -> list[int]:
    found = [process_id]
    for each in found:
        try:
            for task in Path(f"/proc/{each}/task").iterdir():
                found += [int(one) for one in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def build(folder: Path, source: Path) -> None:
    words = ["papers", "build", str(source), "--home", str(folder / "home"), "--quiet"]
    began, used = time.monotonic(), os.times()
    process = subprocess.Popen([sys.executable, "-m", "carrel", *words], stdout=subprocess.DEVNULL)
    with MemoryWatch(process.pid).watching() as memory:
        status = process.wait()
    if status != 0:
        raise SystemExit(f"the build ended with {status}")
    after = os.times()
    cpu = after.children_user + after.children_system - used.children_user - used.children_system
    _tell("build", cpu, time.monotonic() - began, memory.greatest)


def do_research(folder: Path, goal: str, workers: int) -> None:
    with serving(folder / "home", "--workers", str(workers)) as server:
        with MemoryWatch(server.process_id).watching() as memory:
            began, used = time.monotonic(), server.used_seconds()
            found = server.call("search_papers", query=goal)
            print(f"search: {len(found)} papers, {time.monotonic() - began:.2f} s of the clock")
            began = time.monotonic()
            project = server.call("start_research", goal=goal)["research_id"]
            status = ""
            while status not in _TERMINAL:
                time.sleep(2)
                status = server.call("get_research_status", research_id=project)["status"]
        _tell(
            f"research ({status})",
            server.used_seconds() - used,
            time.monotonic() - began,
            memory.greatest,
        )
        hypotheses = server.call("list_hypotheses", research_id=project)
        print(json.dumps(hypotheses)[:1500])


def _tell(step: str, cpu: float, clock: float, memory: float) -> None:
    print(
        f"{step}: {cpu:,.0f} s of CPU, {clock:,.0f} s of the clock, {memory:,.0f} MB at most",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", type=int)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--goal", default="Find what lowers inflammation in the gut")
    chosen = parser.parse_args()
    folder: Path = chosen.folder
    (folder / "home").mkdir(parents=True, exist_ok=True)
    source = folder / "papers"
    if not source.exists():
        write_papers(source, chosen.papers, chosen.data)
    if not (folder / "built").exists():
        build(folder, source)
        (folder / "built").touch()
    do_research(folder, chosen.goal, chosen.workers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
