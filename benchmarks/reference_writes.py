"""What one acknowledged reference costs, until when the file has it, and what a library takes.

Run as `python -m benchmarks.reference_writes COUNT …`; each size has a process of its own. Figures
of before are those of the version that rewrote the file at every change, by this same program.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from carrel.core.clock import SystemClock
from carrel.rooms.references.additions import Candidate, add_to
from carrel.rooms.references.ports import Change
from carrel.rooms.references.queries import parse_reference_query
from carrel.stores.csl_json.library import CslJsonLibrary
from carrel.wiring.references import open_search

SIZES = (10_000, 100_000)
CHANGES = 20
_FOLLOW_AT_MOST_SECONDS = 60.0
# Milliseconds of CPU for one addition, medians of commit c997820d, which wrote the file at every
# change: by this program at 10,000, without the search index at 100,000.
BEFORE = {10_000: 448.0, 100_000: 4_095.0}


def make_items(count: int) -> list[dict[str, Any]]:
    """References of about 1.3 kB as journals have them, the same at every run."""
    chance = random.Random(5)
    letters = "abcdefghijklmnoprstuvw"
    words = [
        "".join(chance.choice(letters) for _ in range(chance.randint(4, 10))) for _ in range(4_000)
    ]

    def text(length: int) -> str:
        return " ".join(chance.choice(words) for _ in range(length))

    return [
        {
            "id": f"author-{number}-{1950 + number % 70}",
            "type": "article-journal",
            "title": text(9).capitalize(),
            "author": [
                {"family": chance.choice(words).title(), "given": chance.choice(words).title()}
                for _ in range(4)
            ],
            "container-title": text(3).title(),
            "volume": str(number % 90),
            "issue": str(number % 12),
            "page": f"{number % 900}-{number % 900 + 12}",
            "issued": {"date-parts": [[1950 + number % 70, 1 + number % 12]]},
            "DOI": f"10.{1000 + number % 9000}/j.{number}.{number * 7919 % 100003}",
            "abstract": text(40),
            "keyword": "; ".join(chance.choice(words) for _ in range(5)),
            "custom": {"uuid": f"{number:08d}-0000-4000-8000-000000000000"},
        }
        for number in range(count)
    ]


async def measure(path: Path, count: int) -> None:
    library = CslJsonLibrary(path, open_search=open_search)
    began = time.process_time()
    await library.list_items(0, 20)
    print(f"{count:,} references: read in {time.process_time() - began:.2f} s of CPU, {_memory()}")
    began = time.process_time()
    await _add(library, "first")
    print(f"  first addition (keys of all works) {time.process_time() - began:.2f} s of CPU")
    began = time.process_time()
    await library.search(parse_reference_query("first"), 0, 5)
    print(f"  search index made in {time.process_time() - began:.1f} s of CPU, {_memory()}")
    await _wait_for_file(path, "first")
    cpu, wall = await _measure_changes(library)
    before = BEFORE.get(count)
    beside = "" if before is None else f"; before: {before:,.0f} ms"
    print(
        f"  one reference acknowledged: {statistics.median(cpu):.1f} ms of CPU "
        f"(most {max(cpu):.1f}), {statistics.median(wall):.0f} ms in all{beside}"
    )
    began_cpu, began = time.process_time(), time.perf_counter()
    await _add(library, "followed")
    lag = asyncio.create_task(_measure_lag())
    await _wait_for_file(path, "followed")
    cpu_seconds = time.process_time() - began_cpu
    lag.cancel()
    print(
        f"  the file follows in {time.perf_counter() - began:.2f} s, {cpu_seconds:.2f} s of CPU; "
        f"the event loop waited {1000 * _LAGS[0]:.0f} ms at most"
    )
    await library.change("author-1-1951", lambda item: Change({"note": "last"}))
    began = time.perf_counter()
    await library.close()
    print(f"  closed in {time.perf_counter() - began:.2f} s with the whole file; {_memory()}")
    assert json.loads(path.read_bytes())[1]["note"] == "last"


_LAGS = [0.0]


async def _measure_lag() -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        _LAGS[0] = max(_LAGS[0], time.perf_counter() - began - 0.001)


async def _measure_changes(library: CslJsonLibrary) -> tuple[list[float], list[float]]:
    """CPU and wall milliseconds of the calling side; what follows in the background is apart."""
    cpu, wall = [], []
    for number in range(CHANGES):
        began_cpu, began = time.process_time(), time.perf_counter()
        await _add(library, f"new-{number}")
        cpu.append(1000 * (time.process_time() - began_cpu))
        wall.append(1000 * (time.perf_counter() - began))
    return cpu, wall


async def _add(library: CslJsonLibrary, name: str) -> None:
    item = {
        "type": "book",
        "title": f"Quite new {name}",
        "DOI": f"10.5555/{name}",
        "author": [{"family": "Neu", "given": "Nora"}],
        "issued": {"date-parts": [[2025]]},
    }
    answer = await add_to(library, [Candidate(item, name)], SystemClock())
    assert len(answer.added) == 1, answer


async def _wait_for_file(path: Path, name: str) -> None:
    wanted = f'"10.5555/{name}"'.encode()
    deadline = time.perf_counter() + _FOLLOW_AT_MOST_SECONDS
    seen = (0, 0)
    while time.perf_counter() < deadline:
        found = path.stat()
        if (found.st_ino, found.st_mtime_ns) != seen:
            seen = (found.st_ino, found.st_mtime_ns)
            with path.open("rb") as file:
                file.seek(max(0, found.st_size - 100_000))
                if wanted in file.read():
                    return
        await asyncio.sleep(0.005)
    raise TimeoutError("the file does not follow")


def _memory() -> str:
    """What this process has and had at the most, where the system tells it."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return "memory unknown"
    found = dict(line.split(":", 1) for line in lines if ":" in line)
    now, peak = (int(found[name].split()[0]) / 1e3 for name in ("VmRSS", "VmHWM"))
    return f"{now:.0f} MB of memory, {peak:.0f} at the most"


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--one"]:
        path, count = Path(arguments[1]), int(arguments[2])
        asyncio.run(measure(path, count))
        return 0
    for count in [int(each) for each in arguments] or SIZES:
        with tempfile.TemporaryDirectory(prefix="carrel-bench-references-") as folder:
            path = Path(folder) / "library.json"
            text = json.dumps(make_items(count), indent=2, ensure_ascii=False)
            path.write_text(text, encoding="utf-8")
            program = [sys.executable, "-m", "benchmarks.reference_writes", "--one"]
            subprocess.run([*program, str(path), str(count)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
