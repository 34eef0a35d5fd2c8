"""Linking only what was touched gives what linking everything gives, at the same price."""

from __future__ import annotations

import multiprocessing
import os
import random
from pathlib import Path

import pytest

from carrel.rooms.papers.building.models import BuildOptions
from carrel.stores.sqlite.papers.build_state import SqlitePaperBuildState
from carrel.wiring.papers_build import add_paper_file, build_papers
from tests.rooms.papers.building.conftest import Corpus

pytestmark = pytest.mark.promise("P16")


def make_records(chance: random.Random, count: int) -> list[dict[str, object]]:
    """Records that share DOIs, labels and titles as badly kept lists do."""
    return [
        {
            "title": chance.choice(["On Growth", "On Form", "Growth and Form", f"Paper {at}"]),
            "authors": [chance.choice(["Ann Lee", "Bob Ray", "Cy Poe"])],
            "year": chance.choice([2019, 2020]),
            **({"doi": f"10.1000/{chance.randrange(6)}"} if chance.random() < 0.5 else {}),
            **({"keywords": [f"k{at}"]} if chance.random() < 0.3 else {}),
        }
        for at in range(count)
    ]


def what_is_there(corpus: Corpus) -> list[tuple[object, ...]]:
    return corpus.ask(
        "SELECT paper.title, paper.doi, (SELECT group_concat(value) FROM (SELECT value FROM "
        "paper_keyword JOIN keyword USING (keyword_id) WHERE paper_id = paper.paper_id ORDER BY 1))"
        " FROM paper ORDER BY 1, 2, 3"
    )


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_changes_ends_where_one_build_of_everything_ends(
    corpus: Corpus, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    names = [f"{letter}.jsonl" for letter in "abcd"]
    for _ in range(5):
        name = chance.choice(names)
        if chance.random() < 0.2 and (corpus.sources / name).exists():
            (corpus.sources / name).unlink()
        else:
            corpus.write_lines(name, *make_records(chance, chance.randrange(1, 6)))
        if any(corpus.sources.iterdir()):
            corpus.build()
    other = Corpus.__new__(Corpus)
    other.into, other.sources = tmp_path / "at-once", corpus.sources
    other.build()
    assert what_is_there(corpus) == what_is_there(other)


def test_the_same_input_gives_the_same_segments_with_any_number_of_workers(
    corpus: Corpus, tmp_path: Path
) -> None:
    chance = random.Random(7)
    for at in range(12):
        corpus.write_lines(f"{at}.jsonl", *make_records(chance, 5))
        corpus.write(f"{at}.md", f"# Essay {at}\n\nWords of essay {at}.\n")
    # More than is read without child processes.
    corpus.write("long.md", "# Long\n\n" + "All the words. " * 320_000)
    names = []
    for workers in (1, 3):
        into = tmp_path / f"workers-{workers}"
        options = BuildOptions(workers=workers, size_limit_bytes=1 << 30)
        build_papers([corpus.sources], into, options)
        names.append(sorted(path.name for path in (into / "segments").iterdir()))
    assert names[0] == names[1]


class Counting:
    """Counts the statements that a connection runs."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, statement: str) -> None:
        self.count += 1


def statements_of_an_addition(corpus: Corpus, papers: int, monkeypatch: pytest.MonkeyPatch) -> int:
    corpus.write_lines(
        "base.jsonl",
        *({"title": f"Paper {at}", "doi": f"10.1000/{at}", "year": 2020} for at in range(papers)),
    )
    corpus.build()
    counting = Counting()
    opened = SqlitePaperBuildState._opened

    def open_counted(state: SqlitePaperBuildState) -> object:
        connection = opened(state)
        connection.set_trace_callback(counting)
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(SqlitePaperBuildState, "_opened", open_counted)
        file = corpus.into / "added" / f"new-{papers}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"---\ntitle: New {papers}\ndoi: 10.2000/{papers}\n---\nText.\n")
        assert add_paper_file(corpus.into, file).is_new
    return counting.count


def test_an_addition_asks_the_state_as_often_in_a_large_corpus_as_in_a_small_one(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = statements_of_an_addition(corpus, 10, monkeypatch)
    large = statements_of_an_addition(corpus, 1000, monkeypatch)
    assert large == small


QUERIES = (
    "SELECT record_id FROM record JOIN source ON source.number = record.source WHERE record_id IN "
    "(SELECT record_id FROM record_key WHERE hash IN (SELECT hash FROM touched))",
    "SELECT DISTINCT paper FROM published_key WHERE hash IN (SELECT hash FROM touched)",
    "SELECT record_id FROM record_key WHERE hash = 1",
    "SELECT paper FROM published_key WHERE hash = 1",
    "SELECT hash FROM published_key WHERE paper = 1",
    "SELECT payload FROM record WHERE paper IS NULL",
    "SELECT conflicts FROM published WHERE conflicts IS NOT NULL",
    "SELECT record_id FROM record WHERE paper = 1",
    "SELECT path FROM source WHERE path = 'x'",
)


@pytest.mark.parametrize("query", QUERIES)
def test_no_question_of_an_addition_reads_a_whole_table(corpus: Corpus, query: str) -> None:
    corpus.write("a.md", "# A\n")
    corpus.build()
    with SqlitePaperBuildState(corpus.into / ".carrel-build" / "state.db") as state:
        plan = state._connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
    steps = [row[3] for row in plan if row[3].startswith("SCAN")]
    # An index over the few rows that a condition keeps, and what was just touched, may be read.
    allowed = ("SCAN touched", "USING INDEX record_unpublished", "published_with_conflicts")
    assert [step for step in steps if not any(words in step for words in allowed)] == []


PLACES = {
    "segment": "carrel.stores.corpus.publication.SegmentWriter.write",
    "manifest": "carrel.stores.corpus.publication.write_manifest",
    "sweep": "carrel.stores.corpus.publication.SegmentedCorpus._sweep",
    "confirm": "carrel.stores.sqlite.papers.build_promises.PromiseTable.apply",
}


def add_and_die(into: Path, file: Path, place: str) -> None:
    """Add a paper and end as kill -9 does, right before the named step."""

    def die(*arguments: object, **more: object) -> None:
        os._exit(9)

    pytest.MonkeyPatch().setattr(PLACES[place], die)
    add_paper_file(into, file)


@pytest.mark.parametrize("place", list(PLACES))
def test_an_addition_killed_anywhere_leaves_the_old_or_the_new_manifest(
    corpus: Corpus, place: str
) -> None:
    corpus.write_lines("base.jsonl", *({"title": f"Paper {at}"} for at in range(9)))
    corpus.build()
    before = corpus.manifest
    file = corpus.into / "added" / "new.md"
    file.parent.mkdir()
    file.write_text("# New\n\nWhales sing.\n")
    process = multiprocessing.get_context("spawn").Process(
        target=add_and_die, args=(corpus.into, file, place)
    )
    process.start()
    process.join(60)
    assert process.exitcode == 9
    is_published = place in {"sweep", "confirm"}
    assert corpus.manifest.papers == before.papers + is_published
    assert is_published or corpus.manifest == before
    again = add_paper_file(corpus.into, file)
    assert again.is_new is not is_published
    assert corpus.manifest.papers == 10
    assert corpus.ask("SELECT paper_id FROM paper_fts WHERE paper_fts MATCH 'whales'") == [
        (again.paper_id,)
    ]
    assert not list((corpus.into / "segments").glob(".*"))
    assert not (corpus.into / ".carrel-build" / "staged").exists()
