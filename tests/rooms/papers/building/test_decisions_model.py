"""Random corrections against a simple model in memory, with builds from scratch in between."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest

from carrel.core.errors import CarrelError
from carrel.core.progress import NoProgress
from carrel.rooms.papers.building.decision_desk import DecisionDesk, DecisionDraft
from carrel.wiring.papers_build import paper_builder
from tests.rooms.papers.building.conftest import Corpus

pytestmark = pytest.mark.promise("P15")

_WORDS = ("whales", "ships", "engines", "lemons", "glaciers", "moths", "violins")
# A paper's id, with the names of its files and its title.
Papers = dict[str, tuple[frozenset[str], str]]


def write_sources(corpus: Corpus) -> None:
    """Seven works, three of them in two files that have the same DOI."""
    for at, word in enumerate(_WORDS):
        doi = f"doi: 10.1000/{word}\n" if at < 3 else ""
        text = f"---\ntitle: On {word}\nauthors: [Author {word}]\nyear: {2000 + at}\n{doi}---\n"
        corpus.write(f"{word}.md", f"{text}All about {word}.\n")
        if at < 3:
            corpus.write_lines(
                f"{word}.jsonl",
                {"title": f"On {word}", "authors": [f"Author {word}"], "doi": f"10.1000/{word}"},
            )


def see(corpus: Corpus) -> Papers:
    """The papers that are published, with the sources that the state says they are made of."""
    with closing(sqlite3.connect(corpus.into / ".carrel-build" / "state.db")) as state:
        rows = state.execute(
            "SELECT paper_id, path FROM record JOIN source ON source.number = record.source "
            "JOIN published ON published.number = record.paper"
        ).fetchall()
    rows_of_papers = corpus.ask("SELECT paper_id, title FROM paper")
    titles = {str(paper_id): str(title) for paper_id, title in rows_of_papers}
    files: dict[str, set[str]] = {}
    for paper_id, path in rows:
        files.setdefault(paper_id, set()).add(str(path).rpartition("/")[2])
    assert files.keys() == titles.keys()
    return {paper_id: (frozenset(files[paper_id]), titles[paper_id]) for paper_id in titles}


def contents(corpus: Corpus) -> list[tuple[object, ...]]:
    papers = corpus.ask("SELECT paper_id, title, year, doi FROM paper ORDER BY paper_id")
    keys = corpus.ask(
        "SELECT paper_key, paper_id FROM paper_key_alias WHERE paper_key NOT LIKE 'id:%' "
        "ORDER BY paper_key"
    )
    texts = corpus.ask("SELECT paper_id, title, source FROM paper_fts ORDER BY paper_id")
    return [*papers, *keys, *texts]


def draft(desk: DecisionDesk, papers: Papers, chance: random.Random, step: int) -> DecisionDraft:
    ids = sorted(papers)
    one, other = chance.sample(ids, 2)
    match chance.choice(("edit", "edit", "merge", "merge", "split", "split", "remove")):
        case "edit":
            return desk.edit(one, {"title": f"Edited in step {step}", "doi": f"10.2000/{step}"})
        case "merge":
            return desk.merge([one, other])
        case "split":
            several = [each for each in ids if len(papers[each][0]) > 1]
            chosen = chance.choice(several or ids)
            return desk.split(chosen, chance.choice(([], [2])))
        case _:
            return desk.removal(one)


def expect(papers: Papers, made: DecisionDraft) -> Papers:
    """What a decision means, by the simplest of rules."""
    now = dict(papers)
    match made.action:
        case "edit":
            [paper] = made.papers
            now[paper.paper_id] = (now[paper.paper_id][0], str(made.changes[0].after))
        case "merge":
            files = frozenset().union(*(now.pop(each.paper_id)[0] for each in made.papers))
            # Which title a merged paper shows is for the merging of fields to say.
            now[made.papers[0].paper_id] = (files, "")
        case "split":
            before = now.pop(made.papers[0].paper_id)
            for at, part in enumerate(made.papers):
                files = frozenset(record.path.rpartition("/")[2] for record in part.records)
                now[part.paper_id] = (files, before[1] if at == 0 else "")
        case _:
            del now[made.papers[0].paper_id]
    return now


def assert_same(seen: Papers, expected: Papers) -> None:
    assert {key: files for key, (files, _) in seen.items()} == {
        key: files for key, (files, _) in expected.items()
    }
    for key, (_, title) in expected.items():
        assert title in ("", seen[key][1])


def assert_every_id_leads_somewhere(corpus: Corpus, known: set[str], removed: set[str]) -> None:
    aliases = corpus.ask("SELECT paper_key FROM paper_key_alias WHERE paper_key LIKE 'id:%'")
    found = {str(key).removeprefix("id:") for (key,) in aliases} | set(see(corpus))
    assert known - removed <= found


@pytest.mark.parametrize("seed", range(4))
def test_corrections_undoing_and_builds_from_scratch_agree_with_a_model(
    corpus: Corpus, seed: int
) -> None:
    chance = random.Random(seed)
    write_sources(corpus)
    corpus.build()
    fresh, past = contents(corpus), [see(corpus)]
    assert len(past[0]) == len(_WORDS)
    for step in range(12):
        if len(past) > 1 and chance.random() < 0.25:
            with paper_builder(corpus.into) as builder:
                builder.decide("ada", lambda desk: desk.undo(), NoProgress())
            past.pop()
        else:
            made: list[DecisionDraft] = []

            def make(
                desk: DecisionDesk, made: list[DecisionDraft] = made, at: int = step
            ) -> DecisionDraft:
                made.append(draft(desk, past[-1], chance, at))
                return made[0]

            try:
                with paper_builder(corpus.into) as builder:
                    builder.decide("ada", make, NoProgress())
            except CarrelError:
                continue
            past.append(expect(past[-1], made[0]))
        assert_same(see(corpus), past[-1])
        if chance.random() < 0.3:
            # All is linked and written again from what was read and decided.
            before = contents(corpus)
            (corpus.into / "manifest.json").unlink()
            corpus.build()
            assert contents(corpus) == before
            assert_same(see(corpus), past[-1])
    while len(past) > 1:
        with paper_builder(corpus.into) as builder:
            builder.decide("ada", lambda desk: desk.undo(), NoProgress())
        past.pop()
    assert contents(corpus) == fresh


@pytest.mark.parametrize("seed", range(3))
def test_undoing_in_any_order_ends_where_a_fresh_build_begins(corpus: Corpus, seed: int) -> None:
    chance = random.Random(100 + seed)
    write_sources(corpus)
    corpus.build()
    fresh, known = contents(corpus), set(see(corpus))
    counting: list[int] = []
    for step in range(8):
        papers = see(corpus)
        try:
            with paper_builder(corpus.into) as builder:
                done = builder.decide(
                    "ada",
                    lambda desk, papers=papers, at=step: draft(desk, papers, chance, at),  # type: ignore[misc]
                    NoProgress(),
                )
        except CarrelError:
            continue
        counting.append(done.number)
        known |= set(see(corpus))
    chance.shuffle(counting)
    for number in counting:
        with paper_builder(corpus.into) as builder:
            builder.decide("ada", lambda desk, at=number: desk.undo(None, at), NoProgress())  # type: ignore[misc]
        before = contents(corpus)
        (corpus.into / "manifest.json").unlink()
        corpus.build()
        assert contents(corpus) == before
    assert contents(corpus) == fresh
    assert_every_id_leads_somewhere(corpus, known, set())
