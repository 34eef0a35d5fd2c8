"""The questions of the retrieval benchmark name things that exist, in the half they claim."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

import pytest

from benchmarks.retrieval import data
from benchmarks.retrieval.measures import Run, mean_ndcg, mean_recall, share_within

SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize(("half", "remainder"), [("a", 0), ("b", 1)])
def test_each_half_has_100_questions_over_notes_of_that_half(half: str, remainder: int) -> None:
    questions = data.note_questions(half)
    names = {name for question in questions for name in question.right}
    assert len({question.text for question in questions}) == len(names) == 100
    assert {hashlib.sha256(name.encode()).digest()[0] % 2 for name in names} == {remainder}


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not beside the checkout")
def test_what_questions_name_exists() -> None:
    members = set[str]()
    for archive in (SHARED / "notes").glob("*.tar.xz"):
        with tarfile.open(archive) as tar:
            members |= {name.removeprefix("./") for name in tar.getnames()}
    with tarfile.open(SHARED / "papers" / "elife_fulltext_md.tar.xz") as tar:
        papers = {Path(name).stem for name in tar.getnames()}
    items = {str(item["id"]) for item in data.read_library(SHARED, data.LIBRARIES)}
    for half in ("a", "b"):
        assert {name for asked in data.note_questions(half) for name in asked.right} <= members
    assert {name for asked in data.reference_questions() for name in asked.right} <= items
    things = {"papers": papers, "references": items, "knowledge": members}
    for asked in data.desk_questions():
        for name in asked.right:
            room, thing = name.split(":", 1)
            assert thing in things[room], name


def test_known_items_are_sentences_of_one_body_and_seven_words_of_them() -> None:
    common = "This sentence is in both texts and has more than a dozen words altogether, so."
    texts = [
        data.Document(
            f"paper {number}",
            "A title",
            "## Results\n\n"
            + " ".join(
                f"Sentence {place} of text {number} tells something with *emphasis* that nobody "
                f"else would say in just this way."
                for place in range(200)
            )
            + f"\n\n{common}\n\n> **Figure 1.** {common}\n\n## References\n\n"
            + "A reference that nobody should ever be asked for because it is behind the heading.",
        )
        for number in range(2)
    ]
    whole, short = data.known_items(texts)
    assert len(whole) == len(short) == data.KNOWN_ITEMS
    for sentence, words in zip(whole, short, strict=True):
        assert sentence.text.startswith("Sentence") and "*" not in sentence.text
        assert words.text in sentence.text and len(words.text.split()) == 7
        assert words.right == sentence.right
    assert data.known_items(texts) == (whole, short)


def test_measures_of_a_ranking_worked_by_hand() -> None:
    run = Run([["x", "a", "b"], ["c"]], [0.001, 0.003])
    wanted = [{"a": 1, "b": 1}, {"c": 1, "d": 1}]
    assert mean_recall(run, wanted) == 0.75
    assert share_within(run, [frozenset("a"), frozenset("cd")], 1) == 0.5
    assert mean_ndcg(Run([["a"]], [0.0]), [{"a": 1}]) == 1.0
    assert round(mean_ndcg(run, wanted), 4) == round(
        ((0.6309 + 0.5) / (1 + 0.6309) + 1 / (1 + 0.6309)) / 2, 4
    )
    assert run.milliseconds(0.95) == 3.0
