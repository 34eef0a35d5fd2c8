"""What searching a library of 100,000 references costs, built from the real libraries in a folder.

python -m benchmarks.bench_references FOLDER
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from carrel.rooms.references.search_index import ReferenceIndex, parse_query

COUNT = 100_000
QUERIES = (
    "deep learning",
    "cell network",
    "covid vaccine",
    "author:smith year:2015",
    '"gene expression"',
    "doi:10.1101/012345",
    "DNA protein",
    "the of",
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
    began = time.process_time()
    index = ReferenceIndex(items)
    print(f"{COUNT:,} references indexed in {time.process_time() - began:.1f} s of CPU")
    began = time.process_time()
    index.update([*items, {"id": "new", "type": "book", "title": "quite new"}])
    print(f"one more reference: {(time.process_time() - began) * 1000:.0f} ms of CPU")
    for query in QUERIES:
        times = []
        for _ in range(9):
            index._word_cache.clear()
            began = time.perf_counter()
            hits = index.search(parse_query(query))
            shown = list(hits[:50])
            times.append((time.perf_counter() - began) * 1000)
        print(
            f"{query:28} {len(hits):>7,} found, {len(shown):>3} shown  "
            f"{statistics.median(times):6.2f} ms (nothing remembered)"
        )
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
