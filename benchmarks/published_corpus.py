"""What publishing, fetching and one addition to a published corpus cost.

    python -m benchmarks.published_corpus 1000 10000 [--real 5000] [--url s3://BUCKET/PREFIX]

Prints seconds and bytes moved. Without `--url` the store is a folder. Corpora are those of
`benchmarks.paper_addition`; beyond `--real` papers a built one is multiplied, whose segments share
their content, so that only the state of builds has the size it stands for.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.paper_addition import build, multiply
from carrel.core.progress import NoProgress
from carrel.stores.corpus.published.folder import PublishedFolder
from carrel.stores.objects.addresses import open_objects
from carrel.stores.objects.store import ObjectStore
from carrel.stores.sqlite.papers import INBOX_NAME, WORKSHOP_NAME
from carrel.stores.static_folder import PaperInboxFolder
from carrel.wiring.papers_build import add_paper_file

_TIMES = 15
_FOLDERS = ("packs", "changes", "files", "catalogues")


def stored(store: ObjectStore) -> tuple[int, int]:
    """Objects and bytes below the address."""
    found = [each.size_bytes for name in _FOLDERS for each in store.list_below(name)]
    return len(found), sum(found)


def add(into: Path, word: str) -> float:
    front = f"---\ntitle: Added {word}\ndoi: 10.6666/{word}\n---\n"
    file = PaperInboxFolder(into / INBOX_NAME).put(
        (front + "A text about whales.\n\n" * 20).encode(), ".md"
    )
    started = time.perf_counter()
    add_paper_file(into, file)
    return time.perf_counter() - started


def measure(size: int, folder: Path, url: str) -> None:
    own, store = folder / "papers", open_objects(url)
    alone = statistics.median(add(own, f"alone-{at}") for at in range(5))
    state = (own / WORKSHOP_NAME / "state.db").stat().st_size
    started = time.perf_counter()
    published = PublishedFolder(own, store).publish(NoProgress())
    assert published is not None
    print(
        f"{size:,} papers, state {state / 1e6:,.1f} MB: published in "
        f"{time.perf_counter() - started:.2f} s, {published.tally.objects} objects, "
        f"{published.tally.bytes / 1e6:,.1f} MB, "
        f"{len(published.catalogue.manifest.segments)} segments"
    )
    for name in ("one", "two"):
        copy = PublishedFolder(folder / name, store)
        started = time.perf_counter()
        fetched = copy.fetch(NoProgress())
        assert fetched is not None
        print(f"  fetched in {time.perf_counter() - started:.2f} s, {fetched.bytes / 1e6:,.1f} MB")
    first = add(folder / "one", "first")
    before = stored(store)
    seconds = [add(folder / "one", f"one-{at}") for at in range(_TIMES)]
    after = stored(store)
    print(
        f"  one paper: median {statistics.median(seconds):.3f} s, most {max(seconds):.3f} s "
        f"(not published {alone:.3f} s, the first with the state fetched {first:.2f} s), "
        f"{(after[0] - before[0]) / _TIMES:.1f} objects, "
        f"{(after[1] - before[1]) / _TIMES / 1e3:,.1f} kB"
    )
    copy = PublishedFolder(folder / "two", store)
    started = time.perf_counter()
    report = copy.follow()
    assert report is not None
    print(
        f"  {_TIMES + 1} additions followed in {time.perf_counter() - started:.3f} s, "
        f"{report.segments} segments, {report.bytes / 1e3:,.1f} kB"
    )
    started = time.perf_counter()
    for _ in range(20):
        copy.follow()
    print(f"  a look that finds nothing: {(time.perf_counter() - started) / 20 * 1e3:.1f} ms")
    turns = [add(folder / name, f"{name}-turn-{at}") for at in range(5) for name in ("one", "two")]
    print(f"  two servers in turns: median {statistics.median(turns[2:]):.3f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--real", type=int)
    parser.add_argument("--words", type=int, default=170)
    parser.add_argument("--url")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="carrel-published-"))
    try:
        for size in options.sizes:
            place = folder / f"{size}"
            real = min(size, options.real or size)
            build(place, real, options.words)
            multiply(place, size // real)
            store = folder / f"store-{size}"
            store.mkdir()
            measure(size, place, (options.url and f"{options.url}/{size}") or store.as_uri())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
