"""People edit, merge, split and remove papers, and every step can be undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from carrel.core.errors import InvalidInputError
from carrel.core.progress import NoProgress
from carrel.rooms.papers.building.decision_desk import DecisionDesk, DecisionDraft, DecisionResult
from carrel.rooms.papers.errors import (
    DecisionNotFoundError,
    PaperChangedError,
    PaperNotFoundError,
)
from carrel.wiring.papers_build import paper_builder

from .conftest import Corpus

pytestmark = pytest.mark.promise("P15")

Make = Callable[[DecisionDesk], DecisionDraft]


def decide(corpus: Corpus, make: Make, *, is_rehearsal: bool = False) -> DecisionResult:
    with paper_builder(corpus.into) as builder:
        return builder.decide("ada", make, NoProgress(), is_rehearsal=is_rehearsal)


def undo(corpus: Corpus, number: int | None = None) -> DecisionResult:
    return decide(corpus, lambda desk: desk.undo(None, number))


def ids(corpus: Corpus) -> dict[str, str]:
    """Ids by title."""
    return {
        str(title): str(paper_id)
        for title, paper_id in corpus.ask("SELECT title, paper_id FROM paper")
    }


def contents(corpus: Corpus) -> list[tuple[object, ...]]:
    """Everything that readers see of the papers."""
    papers = corpus.ask(
        "SELECT paper_id, title, year, venue, doi, paper_key FROM paper ORDER BY paper_id"
    )
    keys = corpus.ask("SELECT paper_key, paper_id FROM paper_key_alias ORDER BY paper_key")
    texts = corpus.ask("SELECT paper_id, title, source FROM paper_fts ORDER BY paper_id")
    return [*papers, *keys, *texts]


def key_owner(corpus: Corpus, key: str) -> object:
    return corpus.one("SELECT paper_id FROM paper_key_alias WHERE paper_key = ?", key)


@pytest.fixture
def two_files(corpus: Corpus) -> Corpus:
    corpus.write(
        "refs.bib",
        "@article{one, title={On whales}, author={Ada Byron}, year={2001}, journal={Sea}}\n"
        "@article{two, title={Whales, again}, author={Ada Byron}, year={2002}, journal={Sea}}\n"
        "@article{three, title={On ships}, author={Bo Carl}, year={2003}, doi={10.1000/ships}}\n",
    )
    corpus.write("ships.md", "---\ntitle: On ships\ndoi: 10.1000/ships\n---\nShips sail.\n")
    corpus.build()
    return corpus


def test_an_edited_field_outlasts_builds_and_corrected_sources(two_files: Corpus) -> None:
    fresh, paper_id = contents(two_files), ids(two_files)["On whales"]
    decided = decide(
        two_files, lambda desk: desk.edit(paper_id, {"title": "On Whales", "venue": None})
    )
    assert [paper.paper_id for paper in decided.papers] == [paper_id]
    assert two_files.ask("SELECT title, venue, year FROM paper WHERE paper_id = ?", paper_id) == [
        ("On Whales", "", "2001")
    ]
    # The file is corrected: the year follows, the title and the venue do not.
    bib = (two_files.sources / "refs.bib").read_text()
    two_files.write("refs.bib", bib.replace("2001", "1999").replace("On whales", "On wales"))
    two_files.build()
    assert two_files.ask("SELECT title, venue, year FROM paper WHERE paper_id = ?", paper_id) == [
        ("On Whales", "", "1999")
    ]
    two_files.write("refs.bib", bib)
    two_files.build()
    undo(two_files, decided.number)
    assert contents(two_files) == fresh


def test_merged_papers_are_one_under_the_first_id_and_the_other_id_still_leads_there(
    two_files: Corpus,
) -> None:
    fresh, known = contents(two_files), ids(two_files)
    kept, other = known["Whales, again"], known["On whales"]
    decided = decide(two_files, lambda desk: desk.merge([kept, other]))
    assert set(ids(two_files).values()) == {kept, known["On ships"]}
    assert key_owner(two_files, f"id:{other}") == kept
    two_files.build()
    assert set(ids(two_files).values()) == {kept, known["On ships"]}
    undo(two_files, decided.number)
    assert contents(two_files) == fresh
    # Undoing the undoing merges them again.
    undo(two_files, decided.number + 1)
    assert set(ids(two_files).values()) == {kept, known["On ships"]}


def test_a_split_paper_stays_split_though_its_records_share_a_doi(two_files: Corpus) -> None:
    fresh, paper_id = contents(two_files), ids(two_files)["On ships"]
    decided = decide(two_files, lambda desk: desk.split(paper_id))
    first, second = decided.papers
    assert paper_id in {first.paper_id, second.paper_id}
    assert two_files.one("SELECT count(*) FROM paper") == 4
    two_files.write("more.bib", "@misc{x, title={Other}, year=2020}")
    two_files.build()
    assert two_files.one("SELECT count(*) FROM paper") == 5
    (two_files.sources / "more.bib").unlink()
    two_files.build()
    undo(two_files)
    gone = {first.paper_id, second.paper_id} - {paper_id}
    assert key_owner(two_files, f"id:{gone.pop()}") == paper_id
    assert [row for row in contents(two_files) if not str(row[0]).startswith("id:")] == fresh


def test_a_removal_is_undone_and_done_again(two_files: Corpus) -> None:
    fresh, paper_id = contents(two_files), ids(two_files)["On ships"]
    with paper_builder(two_files.into) as builder:
        removed = builder.remove("10.1000/ships", "ada")
    assert (removed.paper_id, removed.title) == (paper_id, "On ships")
    assert paper_id not in ids(two_files).values()
    back = undo(two_files, removed.decision)
    assert contents(two_files) == fresh
    undo(two_files, back.number)
    assert paper_id not in ids(two_files).values()
    two_files.build()
    assert paper_id not in ids(two_files).values()


def test_a_rehearsal_answers_the_same_and_changes_nothing(two_files: Corpus) -> None:
    before = (two_files.into / "manifest.json").read_bytes()
    paper_id = ids(two_files)["On whales"]
    edit: Make = lambda desk: desk.edit(paper_id, {"title": "Otherwise"})  # noqa: E731
    rehearsed = decide(two_files, edit, is_rehearsal=True)
    assert (two_files.into / "manifest.json").read_bytes() == before
    with pytest.raises(DecisionNotFoundError):
        undo(two_files)
    done = decide(two_files, edit)
    assert [(p.paper_id, p.record, p.version) for p in rehearsed.papers] == [
        (p.paper_id, p.record, p.version) for p in done.papers
    ]


def test_two_editors_do_not_overwrite_each_other(two_files: Corpus) -> None:
    paper_id = ids(two_files)["On whales"]
    with paper_builder(two_files.into) as builder:
        seen = builder.inspect().find(paper_id).version
    decide(two_files, lambda desk: desk.edit(paper_id, {"title": "First"}, seen))
    with pytest.raises(PaperChangedError) as refused:
        decide(two_files, lambda desk: desk.edit(paper_id, {"title": "Second"}, seen))
    assert refused.value.details["expected_version"] == seen
    assert "First" in ids(two_files)


def test_an_edited_doi_joins_the_paper_with_what_has_it(two_files: Corpus) -> None:
    fresh, known = contents(two_files), ids(two_files)
    whales = known["On whales"]
    decided = decide(two_files, lambda desk: desk.edit(whales, {"doi": "10.1000/ships"}))
    undo(two_files, decided.number)
    assert contents(two_files) == fresh
    decided = decide(two_files, lambda desk: desk.edit(whales, {"doi": "10.1000/whales"}))
    assert key_owner(two_files, "doi:10.1000/whales") == whales
    two_files.write("later.md", "---\ntitle: Whales\ndoi: 10.1000/whales\n---\nThey sing.\n")
    two_files.build()
    assert two_files.one("SELECT count(*) FROM paper") == 3
    assert two_files.one("SELECT source FROM paper_fts WHERE paper_id = ?", whales) == "They sing."


def test_edits_go_with_the_part_that_keeps_the_id(two_files: Corpus) -> None:
    paper_id = ids(two_files)["On ships"]
    decide(two_files, lambda desk: desk.edit(paper_id, {"title": "Ships"}))
    decide(two_files, lambda desk: desk.split(paper_id, [2]))
    assert sorted(ids(two_files)) == ["On ships", "On whales", "Ships", "Whales, again"]
    assert ids(two_files)["Ships"] == paper_id


def test_a_decision_whose_publication_was_cut_off_does_not_count(two_files: Corpus) -> None:
    paper_id, before = ids(two_files)["On whales"], contents(two_files)

    class CutError(Exception):
        pass

    def cut(folder: Path) -> None:
        raise CutError

    from carrel.rooms.papers.building.models import BuildOptions

    with (
        pytest.raises(CutError),
        paper_builder(two_files.into, BuildOptions(before_swap=cut)) as builder,
    ):
        builder.decide("ada", lambda desk: desk.edit(paper_id, {"title": "Lost"}), NoProgress())
    two_files.build()
    assert contents(two_files) == before
    with closing(sqlite3.connect(two_files.into / ".carrel-build" / "state.db")) as state:
        assert state.execute("SELECT count(*) FROM decision").fetchone() == (0,)


def test_what_cannot_be_decided_is_refused(two_files: Corpus) -> None:
    known = ids(two_files)
    refused: list[tuple[Make, type[Exception]]] = [
        (lambda desk: desk.edit("f" * 32, {"title": "X"}), PaperNotFoundError),
        (lambda desk: desk.merge([known["On ships"], "10.1000/ships"]), InvalidInputError),
        (lambda desk: desk.split(known["On whales"]), InvalidInputError),
        (lambda desk: desk.split(known["On ships"], [1, 2]), InvalidInputError),
        (lambda desk: desk.undo(None, 7), DecisionNotFoundError),
        (lambda desk: desk.undo(known["On ships"], None), DecisionNotFoundError),
    ]
    before = (two_files.into / "manifest.json").read_bytes()
    for make, error in refused:
        with pytest.raises(error):
            decide(two_files, make)
    assert (two_files.into / "manifest.json").read_bytes() == before
