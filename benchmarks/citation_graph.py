"""Citations of corpora of growing size: one paper's questions, and loading and ranking the whole.

python -m benchmarks.citation_graph [--papers 10000 100000] [--references 30] [--seed 1]

Papers are made up: each cites works of the corpus, a third of them by title alone, and twice as
many works outside. Segments are written without a word index, which citations do not need.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from carrel.libraries.works.cited_works import CitedWork, encode_cited_works
from carrel.rooms.papers.building.paper_keys import make_paper_id, paper_keys
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.papers import PaperVersion, PublishedPaper, collect_summaries
from carrel.stores.corpus.citation_edges import load_graph
from carrel.stores.corpus.citation_lookups import (
    count_shared_references,
    find_citing,
    find_versions,
    link_references,
    list_references,
)
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession
from carrel.stores.corpus.manifest import Manifest, segment_folder, write_manifest
from carrel.stores.corpus.papers import FoundPaper, find_paper, papers_of_rows
from carrel.stores.corpus.passages import PaperPassage
from carrel.stores.corpus.segment_writer import SegmentWriter

# As compaction leaves them: `compaction.LARGEST_SEGMENT`.
SEGMENT_PAPERS = 25_000
SHARE_IN_CORPUS = 1 / 3
ASKED = 200
_TABLES = ("work_key", "reference_key", "reference_list")


class NoIndex:
    """An index of nothing."""

    def __init__(self, folder: Path) -> None: ...

    def add(
        self,
        row: int,
        paper: PublishedPaper,
        passages: Sequence[PaperPassage],
        facets: Sequence[tuple[str, str]],
    ) -> None: ...

    def finish(self) -> None: ...

    def abandon(self) -> None: ...


class MadeLists:
    """Reference lists by name, only as long as their paper is being written."""

    def __init__(self) -> None:
        self._content = b""

    def keep(self, works: Sequence[CitedWork]) -> str:
        self._content = encode_cited_works(works)
        return hashlib.sha256(self._content).hexdigest()

    def read(self, name: str) -> bytes:
        return self._content


def describe(number: int) -> tuple[str, str, int]:
    """Title, first author and year of a paper."""
    words = hashlib.sha256(str(number).encode()).hexdigest()
    return (
        f"Study {words[:12]} of {words[12:24]} and its {words[24:44]}",
        f"Name{words[:5]}, A",
        1990 + number % 30,
    )


def cite(chance: random.Random, count: int, references: int) -> Iterator[CitedWork]:
    for _ in range(references):
        if chance.random() < SHARE_IN_CORPUS:
            # Early papers are cited most, as in life.
            cited = min(chance.randrange(count), chance.randrange(count))
            title, author, year = describe(cited)
            doi = f"10.1000/w{cited}" if chance.random() < 0.67 else None
        else:
            cited = chance.randrange(4 * count)
            title, author, year = describe(-1 - cited)
            doi = f"10.2000/o{cited}"
        yield CitedWork(title=title, authors=(author,), year=year, doi=doi)


def make_paper(
    number: int, chance: random.Random, count: int, references: int, lists: MadeLists
) -> PublishedPaper:
    title, author, year = describe(number)
    record = PaperRecord(
        title=title,
        authors=(author,),
        publication_date=str(year),
        # A third have no DOI and are found by title.
        doi=f"10.1000/w{number}" if number % 3 else None,
        citation_key=f"k{number}",
        references_sha256=lists.keep(list(cite(chance, count, references))),
    )
    paper_id = make_paper_id(f"bib:k{number}")
    return PublishedPaper(paper_id, number, paper_keys(record), record, collect_summaries(record))


def write_corpus(folder: Path, count: int, references: int, seed: int) -> None:
    chance, lists = random.Random(seed), MadeLists()
    writer = SegmentWriter(folder, lists, NoIndex, 0)
    entries = []
    for first in range(0, count, SEGMENT_PAPERS):
        numbers = range(first, min(count, first + SEGMENT_PAPERS))
        entries.append(
            writer.write(
                PaperVersion(number + 1, make_paper(number, chance, count, references, lists))
                for number in numbers
            )
        )
    manifest = Manifest("b", "2026-01-01", 1, count + 1, count + 1, tuple(entries))
    write_manifest(folder, manifest)


def measure(work: Callable[[], object]) -> float:
    """CPU seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


def ask_one(session: CorpusSession, found: FoundPaper, what: str) -> None:
    if what == "out":
        link_references(session, found, list_references(session, found) or ())
    elif what == "in":
        find_citing(session, papers_of_rows(session, find_versions(session, found.row)))
    else:
        count_shared_references(session, [found])


def report(folder: Path, count: int, seed: int) -> None:
    corpus = CorpusFolder(folder)
    with corpus.current().session() as session:
        segments = session.version.segments
        tables = keys = 0
        for segment in segments:
            reader = session.reader(segment)
            keys += reader.all("SELECT count(*) FROM reference_key")[0][0]
            tables += sum(
                size
                for name, size in reader.all("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")
                if name in _TABLES
            )
        whole = sum(
            (segment_folder(folder, each.name) / "records.db").stat().st_size for each in segments
        )
        print(f"\n{count:,} papers, {len(segments)} segments, {keys:,} keys of references")
        print(f"records {whole / 1e6:,.0f} MB, of which tables of citations {tables / 1e6:,.0f} MB")
        chance = random.Random(seed)
        ids = [make_paper_id(f"bib:k{chance.randrange(count)}") for _ in range(ASKED)]
        papers = [found for each in ids if (found := find_paper(session, each)) is not None]
        for what in ("out", "in", "coupling"):
            times = sorted(measure(partial(ask_one, session, found, what)) for found in papers)
            middle, late = times[len(times) // 2], times[len(times) * 95 // 100]
            print(f"{what:9} median {middle * 1000:6.2f} ms, 95 % {late * 1000:6.2f} ms")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"first load {measure(lambda: load_graph(session)):.2f} s", end=", ")
        graph = load_graph(session)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{graph.graph.edge_count:,} edges, peak memory +{(after - before) / 1024:,.0f} MB")
        session.version.answers.clear()
        print(f"next manifest {measure(lambda: load_graph(session)):.2f} s")
        print(
            f"PageRank {measure(graph.ranks):.2f} s, without numpy "
            f"{measure(graph.graph.rank_plainly):.2f} s"
        )
    corpus.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--references", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for count in options.papers:
        with tempfile.TemporaryDirectory() as folder:
            # In a process of its own, so that the peak of memory is that of reading.
            with ProcessPoolExecutor(1) as writer:
                facts = (Path(folder), count, options.references, options.seed)
                writer.submit(write_corpus, *facts).result()
            report(Path(folder), count, options.seed)


if __name__ == "__main__":
    main()
