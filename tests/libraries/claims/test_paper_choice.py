"""Queries for a statement, and the papers that are read for it."""

from __future__ import annotations

from carrel.libraries.claims import (
    PAPERS_READ,
    PaperText,
    Statement,
    choose_papers,
    fuse_rankings,
    read_text,
    write_queries,
)

STATEMENT = Statement('Mice "lacking" NOT-genes (IL-6) OR author:smith -raise year:2019 fever*')


def test_no_word_of_a_statement_is_an_operator_of_the_query_language() -> None:
    queries = write_queries(STATEMENT)
    assert queries
    for query in queries:
        assert not set(query) & set('"()*:')
        assert all(not word.startswith("-") for word in query.split())
        assert not {"AND", "OR", "NOT"} & set(query.split())


def test_a_second_query_leaves_out_what_joins_the_things() -> None:
    queries = write_queries(Statement("Minimum wages do not raise youth unemployment levels"))
    assert queries[1] == "minimum wages youth unemployment"


def test_a_statement_of_few_things_is_asked_once() -> None:
    assert write_queries(Statement("Zinc raises yield")) == ("zinc raises yield",)


def test_what_several_searches_find_comes_first() -> None:
    assert fuse_rankings([["a", "b", "c"], ["c", "d"]])[0] == "c"
    assert fuse_rankings([]) == []


def test_the_paper_that_has_the_statement_is_read_first_and_at_most_five_are() -> None:
    other = "Stars form in cold clouds of gas. Their light is old."
    candidates = [read_text(f"p{n}", "Stars", n, other) for n in range(1, 12)]
    text = "We studied farms. Zinc raised the yield of maize."
    candidates.append(read_text("right", "Zinc and maize", 12, text))
    chosen = choose_papers(Statement("Zinc raises maize yield"), candidates)
    assert chosen[0].paper_id == "right"
    assert [each.rank for each in chosen] == list(range(1, PAPERS_READ + 1))


def test_no_candidates_are_no_papers() -> None:
    assert choose_papers(STATEMENT, []) == []
    empty = PaperText("p", "", 1, ())
    assert choose_papers(STATEMENT, [empty])[0].paper_id == "p"
