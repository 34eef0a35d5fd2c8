"""Sources that claim the identifier of another work: who is published with it keeps it."""

from __future__ import annotations

import random

import pytest

from tests.rooms.papers.building.conftest import Corpus
from tests.rooms.papers.building.test_adding import add, remove

pytestmark = pytest.mark.promise("P15")

DOI = "10.7554/elife.00013"
_WORKS = (
    ("A bacterial sulfonolipid triggers development", "Rosanna Alegado"),
    ("Sixth work on whales", "Moby Dick"),
    ("Bread made without yeast", "Carl Baker"),
    ("Violins of old Cremona", "Anna Amati"),
    ("Glaciers seen from space", "Nils Frost"),
)
Holder = tuple[str, str]


def write_claim(corpus: Corpus, name: str, work: int, doi: str = DOI) -> None:
    title, person = _WORKS[work]
    family, given = person.split()[::-1]
    if name.endswith(".jsonl"):
        corpus.write_lines(name, {"title": title, "authors": [person], "year": 2012, "doi": doi})
    elif name.endswith(".bib"):
        corpus.write(
            name,
            f"@article{{k{work}, title={{{title}}}, author={{{family}, {given}}}, year={{2012}}, "
            f"doi={{{doi}}}}}\n",
        )
    else:
        corpus.write(name, make_text(work, doi))


def make_text(work: int, doi: str = DOI) -> str:
    title, person = _WORKS[work]
    return (
        f"---\ntitle: {title}\nauthors: [{person}]\nyear: 2012\ndoi: {doi}\n---\nWords: {title}.\n"
    )


def titles(corpus: Corpus) -> dict[str, str]:
    rows = corpus.ask("SELECT paper_id, title FROM paper")
    return {str(paper_id): str(title) for paper_id, title in rows}


def holder_of(corpus: Corpus, doi: str = DOI) -> Holder:
    """The paper that a DOI leads to."""
    [(paper_id, title)] = corpus.ask(
        "SELECT paper.paper_id, title FROM paper JOIN paper_key_alias USING (paper_id) "
        "WHERE paper_key_alias.paper_key = ?",
        f"doi:{doi}",
    )
    return str(paper_id), str(title)


@pytest.mark.parametrize("first", ["a.jsonl", "a.bib", "a.md"])
def test_who_adds_a_text_with_the_doi_of_another_paper_does_not_take_its_id(
    corpus: Corpus, first: str
) -> None:
    write_claim(corpus, first, 0)
    corpus.build()
    original = holder_of(corpus)
    added = add(corpus.into, markdown=make_text(1))
    assert (added.title, added.is_new) == (_WORKS[1][0], True)
    assert added.paper_id != original[0]
    assert [note for note in added.notes if DOI in note and "filed under its title" in note]
    assert holder_of(corpus) == original
    shown = corpus.ask("SELECT title, doi FROM paper WHERE paper_id = ?", added.paper_id)
    assert shown[0][0] == _WORKS[1][0]
    assert not shown[0][1]
    remove(corpus.into, added.paper_id)
    assert holder_of(corpus) == original


@pytest.mark.parametrize("second", ["b.jsonl", "b.bib", "b.md"])
def test_a_build_keeps_a_published_doi_whatever_the_rank_of_the_new_reader(
    corpus: Corpus, second: str
) -> None:
    write_claim(corpus, "z.jsonl", 0)
    corpus.build()
    original = holder_of(corpus)
    write_claim(corpus, second, 1)
    write_claim(corpus, "c.bib", 2)
    report = corpus.build()
    assert holder_of(corpus) == original
    claimed = [line.source for line in report.lines if line.code == "id_claimed_twice"]
    assert sorted(path.rpartition("/")[2] for path in claimed) == sorted([second, "c.bib"])
    assert len(titles(corpus)) == 3


def test_a_paper_keeps_its_doi_when_its_list_is_read_again_beside_an_impostor(
    corpus: Corpus,
) -> None:
    write_claim(corpus, "z.jsonl", 0)
    corpus.build()
    add(corpus.into, markdown=make_text(1))
    before, original = titles(corpus), holder_of(corpus)
    corpus.write("z.jsonl", (corpus.sources / "z.jsonl").read_text() + "\n\n")
    write_claim(corpus, "c.md", 2)
    corpus.build()
    assert holder_of(corpus) == original
    assert before.items() <= titles(corpus).items()


def test_an_impostor_keeps_its_own_id_when_the_holder_of_the_doi_leaves(corpus: Corpus) -> None:
    write_claim(corpus, "z.jsonl", 0)
    write_claim(corpus, "other.md", 3, "10.1000/other")
    corpus.build()
    original = holder_of(corpus)
    added = add(corpus.into, markdown=make_text(1))
    (corpus.sources / "z.jsonl").unlink()
    corpus.build()
    now = titles(corpus)
    assert original[0] not in now
    assert now[added.paper_id] == _WORKS[1][0]


@pytest.mark.parametrize("seed", range(4))
def test_a_published_id_never_passes_to_another_work(corpus: Corpus, seed: int) -> None:
    chance = random.Random(seed)
    write_claim(corpus, chance.choice(("w0.jsonl", "w0.bib")), 0)
    corpus.build()
    known, original = titles(corpus), holder_of(corpus)
    for step in range(7):
        work = chance.randrange(len(_WORKS))
        match chance.randrange(4):
            case 0:
                add(corpus.into, markdown=make_text(work))
            case 1:
                for each in chance.sample(range(1, len(_WORKS)), 2):
                    write_claim(corpus, f"s{step}-{each}{chance.choice(('.md', '.bib'))}", each)
                corpus.build()
            case 2:
                path = chance.choice(sorted(corpus.sources.iterdir()))
                path.write_text(path.read_text() + "\n\n")
                corpus.build()
            case _:
                (corpus.into / "manifest.json").unlink()
                corpus.build()
        now = titles(corpus)
        for paper_id, title in now.items():
            assert known.setdefault(paper_id, title) == title
        assert set(known) == set(now)
        assert holder_of(corpus) == original
