"""Verdicts of statements over papers."""

from __future__ import annotations

from carrel.libraries.claims import (
    PaperText,
    Statement,
    Verdict,
    check_statement,
    rank_sentences,
)


def paper(*sentences: str, title: str = "A study", paper_id: str = "p1") -> PaperText:
    return PaperText(paper_id, title, 1, sentences)


def test_papers_that_say_nothing_of_it_are_silent() -> None:
    found = check_statement(
        Statement("Zinc raises maize yield"), [paper("Stars form in cold clouds of gas.")]
    )
    assert found.verdict is Verdict.SILENT
    assert found.papers_read == 1
    assert "1 paper read" in found.reasons[0]


def test_sentences_are_ranked_by_what_they_have_of_the_statement() -> None:
    ranked = rank_sentences(
        Statement("Zinc raises maize yield"),
        [paper("Maize is a crop.", "Zinc raised maize yield.", "Soil was sampled.")],
    )
    assert [each.number for each in ranked] == [1, 0]
    assert ranked[0].coverage == 1.0


def test_no_paper_and_no_sentence_is_silent() -> None:
    assert check_statement(Statement("Zinc raises yield"), []).verdict is Verdict.SILENT
    assert check_statement(Statement("Zinc raises yield"), [paper()]).verdict is Verdict.SILENT
