"""What searching a library of 100,000 references costs, built from the real libraries in a folder.

python -m benchmarks.bench_references FOLDER
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from carrel.rooms.references.queries import parse_reference_query
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.library_places import search_folder
from carrel.stores.csl_json.search.library_search import LibrarySearch

COUNT = 100_000
QUERIES = (
    "gene",
    "deep learning",
    "cell network",
    "covid vaccine",
    "author:smith year:2015",
    '"gene expression"',
    "doi:10.1101/012345",
    "DNA protein",
    "the of",
    "summarisation OR tumour",
    "year:2015..2018",
)


def library(folder: Path) -> list[dict[str, Any]]:
    """References of the real libraries, repeated with keys and words of their own."""
    known: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*library.csl.json")):
        known.extend(json.loads(file.read_text(encoding="utf-8")))
    chance = random.Random(1)
    made = []
    for number in range(COUNT):
        item = dict(chance.choice(known))
        made.append(
            {
                **item,
                "id": f"key-{number}",
                "title": f"{item.get('title', '')} {chance.randrange(10**6)}",
            }
        )
    return made


def main(arguments: list[str]) -> int:
    items = library(Path(arguments[0]))
    with tempfile.TemporaryDirectory(prefix="carrel-bench-references-") as folder:
        path = Path(folder) / "library.json"
        path.write_text(json.dumps(items, indent=2, ensure_ascii=False), encoding="utf-8")
        _measure_index(path)
        script = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "--open", folder]
        subprocess.run(script, check=True)
    return 0


def _measure_index(path: Path) -> None:
    """Making the index, and following one reference added, changed and removed by our commands."""
    file = LibraryFile(path)
    search = LibrarySearch(file, path.parent)
    began = time.process_time()
    file.read()
    print(f"library read in {time.process_time() - began:.1f} s of CPU")
    began = time.process_time()
    search.search(parse_reference_query("gene"), 0, 1)
    print(f"{COUNT:,} references indexed in {time.process_time() - began:.1f} s of CPU")
    size = sum(each.stat().st_size for each in search_folder(path).rglob("*") if each.is_file())
    print(f"index {size / 1e6:.0f} MB beside {path.stat().st_size / 1e6:.0f} MB")
    added = {"id": "new", "type": "book", "title": "quite new"}
    edits: dict[str, Callable[[LibraryDocument], LibraryDocument]] = {
        "added": lambda present: present.with_added([added]),
        "changed": lambda present: present.with_entry(
            "new", present.entries[-1].with_changes({"title": "newer still"})
        ),
        "removed": lambda present: present.without("new"),
    }
    for name, edit in edits.items():
        began = time.process_time()
        state = file.change(edit)
        written = time.process_time()
        search.follow(state)
        print(
            f"one reference {name}: file {written - began:.2f} s, index "
            f"{time.process_time() - written:.2f} s of CPU"
        )
    search.close()


def measure_opening(folder: Path) -> None:
    """What a new process pays, and how long queries take there."""
    began = time.process_time()
    path = folder / "library.json"
    search = LibrarySearch(LibraryFile(path), folder)
    search.search(parse_reference_query("gene"), 0, 1)
    print(f"new process: first search {(time.process_time() - began) * 1000:.0f} ms of CPU")
    for query in QUERIES:
        times = []
        for _ in range(9):
            start = time.perf_counter()
            found = search.search(parse_reference_query(query), 0, 50)
            times.append((time.perf_counter() - start) * 1000)
        first = next((str(item.get("title", ""))[:40] for item in found.items), "")
        print(f"{query:24} {found.total:>7,} found  {statistics.median(times):6.1f} ms  {first}")
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    if sys.argv[1] == "--open":
        measure_opening(Path(sys.argv[2]))
        sys.exit(0)
    sys.exit(main(sys.argv[1:]))
