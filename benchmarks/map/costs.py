"""CPU time and memory of drawing a map, and of adding a hundredth to it, each in its own process.

python -m benchmarks.map.costs DATA [SIZES…]
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.map.corpora import splice_abstracts
from carrel.core.clock import SystemClock
from carrel.core.progress import NoProgress
from carrel.libraries.discovery.records import Paper
from carrel.rooms.papers.map_drawing import MapMaker
from carrel.stores.paper_map import MAP_NAME
from carrel.stores.paper_map.file import PaperMapFile

_SIZES = (1_000, 5_000, 20_000, 100_000)


class SplicedTexts:
    """A made corpus of a size, read again from its recipe each time, as a stored one is."""

    def __init__(self, data: Path, count: int) -> None:
        self._papers = [
            Paper(text.id, text.title, text.abstract, text.keywords, year=text.year)
            for text in splice_abstracts(data, count)
        ]
        self.count = count

    def state(self) -> str:
        return str(self.count)

    def everything(self) -> Iterator[tuple[Paper, str]]:
        for paper in self._papers[: self.count]:
            yield paper, ""


def measure(data: Path, size: int) -> None:
    added = size // 100
    texts = SplicedTexts(data, size + added)
    # What the corpus itself takes is not the map's.
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    texts.count = size
    with tempfile.TemporaryDirectory() as folder:
        maker = MapMaker(texts, PaperMapFile(Path(folder)), SystemClock())
        seconds = _run(maker)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        texts.count = size + added
        later = _run(maker)
        bytes_on_disk = (Path(folder) / MAP_NAME).stat().st_size
    print(
        f"| {size:,} | {seconds:.0f} | {(most - held) // 1024:,} | {later:.1f} |"
        f" {bytes_on_disk / 1e6:.0f} |",
        flush=True,
    )


def _run(maker: MapMaker) -> float:
    began = time.process_time()
    maker.update(again=False, progress=NoProgress())
    return time.process_time() - began


def main() -> None:
    data = Path(sys.argv[1])
    sizes = [int(size) for size in sys.argv[2:]] or _SIZES
    print("| papers | CPU s | memory over the corpus, MB | CPU s to add a hundredth | MB on disk |")
    print("|---|---|---|---|---|", flush=True)
    context = multiprocessing.get_context("spawn")
    for size in sizes:
        process = context.Process(target=measure, args=(data, size))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
