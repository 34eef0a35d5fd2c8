"""The one query language: every room reads the same operators, and no text is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.query.language import (
    MAX_NESTING,
    Conjunction,
    Disjunction,
    Negation,
    QueryFields,
    QueryLeaf,
    QueryTree,
    YearRange,
    find_unknown_fields,
    parse_tree,
    parse_years,
    read_lexemes,
    tag_and_ancestors,
)
from carrel.libraries.query.papers import Not, parse_paper_query
from carrel.libraries.text.words import Phrase

FIELDS = QueryFields({"author": "author", "journal": "venue", "venue": "venue", "tag": "tag"})
A, B, C = QueryLeaf("a"), QueryLeaf("b"), QueryLeaf("c")


def read(text: str) -> QueryTree | None:
    return parse_tree(read_lexemes(text, FIELDS))


@pytest.mark.parametrize(
    ("typed", "tree"),
    [
        ("a b", Conjunction((A, B))),
        ("a -b", Conjunction((A, Negation(QueryLeaf("b", is_excluded=True))))),
        ('-"b c"', Negation(QueryLeaf("b c", is_quoted=True, is_excluded=True))),
        ("-(a OR b)", Negation(Disjunction((A, B)))),
        ("a NOT (b c)", Conjunction((A, Negation(Conjunction((B, C)))))),
        ("-author:b", Negation(QueryLeaf("b", "author", is_excluded=True))),
        ("(a OR b) c", Conjunction((Disjunction((A, B)), C))),
        ("journal:b", QueryLeaf("b", "venue")),
        ("JOURNAL:b", QueryLeaf("b", "venue")),
        ("#b", QueryLeaf("b", "tag")),
        ('#"b c" a', Conjunction((QueryLeaf("b c", "tag", is_quoted=True), A))),
        ("covid -19", Conjunction((QueryLeaf("covid"), QueryLeaf("-19")))),
        ("well-known", QueryLeaf("well-known")),
        ("and", QueryLeaf("and")),
        ("a AND", A),
        ("OR a", A),
        ("", None),
        ('"', None),
        ("NOT", None),
        ("NOT NOT a", Negation(A)),
        ("(", None),
        (")(", None),
    ],
)
def test_operators_are_read(typed: str, tree: QueryTree | None) -> None:
    assert read(typed) == tree


@pytest.mark.parametrize(
    ("typed", "unknown", "nearest"),
    [
        ("jurnal:nature", "jurnal", "journal"),
        ("auther:smith liver", "auther", "author"),
        ("colour:red", "colour", None),
        ('keywrd:"a b"', "keywrd", None),
    ],
)
def test_a_field_that_is_unknown_is_told_and_searched_as_words(
    typed: str, unknown: str, nearest: str | None
) -> None:
    lexemes = read_lexemes(typed, FIELDS)
    [told] = find_unknown_fields(lexemes, FIELDS)
    assert (told.typed, told.nearest, told.known) == (unknown, nearest, ("author", "venue", "tag"))
    assert f"no field {unknown}:" in told.message
    assert any(isinstance(each, QueryLeaf) and unknown in each.text for each in lexemes)


@pytest.mark.parametrize(
    "typed",
    ["https://doi.org/10.1/x", "BERT: a model", "ratio 3:1", "Chr:5", "std::vector", "a:", ":"],
)
def test_what_only_has_a_colon_is_no_field(typed: str) -> None:
    assert find_unknown_fields(read_lexemes(typed, FIELDS), FIELDS) == ()


@pytest.mark.parametrize(
    ("typed", "years"),
    [
        ("2020", YearRange(2020, 2020)), ("2019..2024", YearRange(2019, 2024)),
        ("2024-2019", YearRange(2019, 2024)), ("..2020", YearRange(None, 2020)),
        ("2020..", YearRange(2020, None)), ("soon", None), ("", None), ("20", None),
    ],
)  # fmt: skip
def test_years_are_read(typed: str, years: YearRange | None) -> None:
    assert parse_years(typed) == years


def test_a_tag_is_under_every_tag_above_it() -> None:
    assert tag_and_ancestors("#Methods/Stats/ Bayes") == (
        "methods", "methods/stats", "methods/stats/bayes",
    )  # fmt: skip
    assert tag_and_ancestors("//") == ()


def test_a_word_with_a_minus_keeps_the_others_loose() -> None:
    query = parse_paper_query("liver -mouse jurnal:x")
    assert query.loose == (Phrase(("liver",)), Phrase(("jurnal", "x")))
    assert query.strict == Not(Phrase(("mouse",)))
    assert [told.nearest for told in query.unknown_fields] == ["journal"]


PIECES = ["AND", "OR", "NOT", "(", ")", '"', "-", "-a", "a", "author:", "x:y", "#", "#t", ":", "*"]


@given(
    st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
)
def test_any_text_is_a_query(text: str) -> None:
    read(text)


def test_deep_brackets_are_read_to_a_bound() -> None:
    assert read("(" * (MAX_NESTING + 5) + "a" + ")" * 3 + " b") is not None
    read("(a " * 100_000)


@pytest.mark.parametrize(
    "text",
    [
        "Therefore, it is expected that activation extends beyond the conventional, Ca 2+ "
        "-dependent kinases that are activated during this.",
        "Experiments were carried out with approval of the Animal Care and Use Committee, "
        "Protocol #20130913.",
        "Analysis was performed using motifs from the database of that group (doi: 10.1093/nar/1).",
    ],
)
def test_a_pasted_sentence_has_no_operators(text: str) -> None:
    leaves = read_lexemes(text, FIELDS)
    assert not any(
        isinstance(leaf, QueryLeaf) and (leaf.is_excluded or leaf.field) for leaf in leaves
    )


def test_a_long_list_of_words_keeps_its_operators() -> None:
    leaves = read_lexemes("gene cell protein neuron " * 4 + "-mouse #owl", FIELDS)
    assert [leaf for leaf in leaves if isinstance(leaf, QueryLeaf) and leaf.is_excluded]
