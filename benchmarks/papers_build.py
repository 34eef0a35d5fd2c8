"""How fast a corpus is built, built again unchanged, and built again with one paper more."""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from pathlib import Path

from carrel.wiring.papers_build import build_papers


def measure(name: str, sources: list[Path], into: Path) -> None:
    started = time.perf_counter()
    report = build_papers(sources, into)
    seconds = time.perf_counter() - started
    touched = report.papers_added + report.papers_changed
    rate = f"{touched / seconds:,.0f} papers/s" if touched else "nothing to do"
    print(
        f"{name:<10} {seconds:7.2f} s  read {report.seconds_reading:6.2f} s  write "
        f"{report.seconds_writing:6.2f} s  {rate}"
    )


def _weigh(places: list[Path]) -> tuple[int, int]:
    """The bytes and the number of all files there."""
    files = [
        path
        for place in places
        for path in ([place] if place.is_file() else place.rglob("*"))
        if path.is_file()
    ]
    return sum(path.stat().st_size for path in files), len(files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", type=Path)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="carrel-build-"))
    try:
        into, extra = folder / "corpus", folder / "extra"
        extra.mkdir()
        measure("fresh", options.sources, into)
        measure("unchanged", options.sources, into)
        (extra / "one.md").write_text("# One paper more\n\nA text.\n")
        measure("one more", [*options.sources, extra], into)
        size, files = _weigh([into])
        read = _weigh(options.sources)[0]
        used = (
            resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        cpu = sum(usage.ru_utime + usage.ru_stime for usage in used)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{size / 1e6:,.0f} MB in {files:,} files, {size / read:.2f} times the input, CPU "
            f"{cpu:.1f} s in all, memory at most {memory:,.0f} MB"
        )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
