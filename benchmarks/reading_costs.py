"""Seconds of computing for a megabyte, by kind of file: what progress bars of builds go by.

python -m benchmarks.reading_costs FOLDER
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.figures import PaperFigure
from carrel.rooms.papers.building.source_loader import estimate_work
from carrel.services.paper_sources.file_search import find_sources
from carrel.services.paper_sources.source_reader import read_part
from carrel.services.paper_sources.sources import READERS

_SIZE_LIMIT_BYTES = 200_000_000


class DiscardedAssets:
    """Keeps nothing of what readers store."""

    def keep_markdown(self, text: str) -> str:
        return ""

    def keep_translation(self, text: str, language: str) -> str:
        return ""

    def keep_pdf(self, path: Path) -> str:
        return ""

    def keep_image(self, path: Path) -> str:
        return ""

    def keep_image_bytes(self, content: bytes, extension: str) -> str:
        return ""

    def keep_references(self, works: Sequence[CitedWork]) -> str:
        return ""

    def keep_figures(self, figures: Sequence[PaperFigure]) -> str:
        return ""


def main(folder: Path) -> None:
    found, _ = find_sources([folder], READERS, _SIZE_LIMIT_BYTES)
    readers = {reader.name: reader for reader in READERS}
    sizes: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for source in found:
        reader = readers[source.reader]
        started = time.process_time()
        for part in reader.parts(source.path, source.companions):
            read_part(reader, part, DiscardedAssets())
        sizes[source.reader].append((source.size_bytes, time.process_time() - started))
    for name, files in sizes.items():
        size_bytes, seconds = (sum(column) for column in zip(*files, strict=True))
        print(
            f"{name}: {len(files)} files, {seconds / size_bytes * 1e6:.2f} s/MB, "
            f"estimated {estimate_work(name, 1_000_000):.2f}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
