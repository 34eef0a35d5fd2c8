"""An empty answer says what was searched, which word nothing has, and what comes near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.nothing_found import NothingFound
from carrel.libraries.query.empty_answers import AskedTerm, FilterEffect, explain_empty
from carrel.libraries.query.suggestions import candidate_prefixes, count_edits, suggest_spelling

KNOWN = [
    ("fibrosis", 12),
    ("fibroses", 2),
    ("liver", 40),
    ("livre", 1),
    ("hepatic", 9),
    ("meeting", 30),
    ("rui", 5),
]


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("fibrosys", ["fibrosis", "fibroses"]),
        ("fibrossi", ["fibrosis", "fibroses"]),
        ("fbrosis", ["fibrosis"]),
        ("lievr", ["liver"]),
        ("livr", ["liver", "livre"]),
        ("liver", ["livre"]),
        ("liv", []),
        ("xylophone", []),
        ("p53x", []),
        ("", []),
        ("melting", []),
        ("meetimg", ["meeting"]),
        ("meating", ["meeting"]),
        ("ruiz", []),
    ],
)
def test_a_mistyped_word_is_suggested_by_nearness_then_frequency(
    typed: str, suggested: list[str]
) -> None:
    assert suggest_spelling(typed, KNOWN)[:2] == suggested


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("fibrosys", "fibrosis"), ("ifbrosis", "fibrosis"), ("firbosis", "fibrosis"),
     ("ffibrosis", "fibrosis"), ("ibrosis", "fibrosis"), ("fbrosis", "fibrosis")],
)  # fmt: skip
def test_the_beginnings_to_look_under_include_that_of_the_word_meant(
    typed: str, meant: str
) -> None:
    is_first_letter_lost = meant[1:] == typed
    beginnings = candidate_prefixes(typed)
    assert is_first_letter_lost or any(meant.startswith(each) for each in beginnings)
    assert len(beginnings) <= 5


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_edits_are_counted_the_same_both_ways(one: str, other: str) -> None:
    assert count_edits(one, other, 2) == count_edits(other, one, 2)
    assert (count_edits(one, other, 2) == 0) == (one == other)


def test_a_swap_of_neighbours_is_one_edit() -> None:
    assert count_edits("teh", "the", 2) == 1
    assert count_edits("kitten", "sitting", 2) is None


def test_an_empty_answer_names_the_word_and_the_nearest_one() -> None:
    empty = explain_empty(
        "papers",
        1_234,
        words=[AskedTerm("liver", 40), AskedTerm("fibrosys", 0)],
        known_words=lambda word: KNOWN,
        nearest=["Hepatic scars (2021)"],
    )
    assert empty.unmatched_words == ("fibrosys",)
    assert empty.did_you_mean == {"fibrosys": ["fibrosis", "fibroses"]}
    told = NothingFound.of(empty)
    assert "1,234 papers" in told.message
    assert "Hepatic scars (2021)" in told.message
    assert told.next_step == "Ask again with fibrosis instead of fibrosys."
    assert "removing_filters" not in told.model_dump()


def test_an_empty_answer_names_the_filter_that_removed_everything() -> None:
    empty = explain_empty(
        "references",
        10,
        words=[AskedTerm("liver", 4)],
        filters=[FilterEffect("year:1850", 0), FilterEffect("author:smith", 3, without_it=4)],
    )
    assert empty.unmatched_filters == ("year:1850",)
    assert empty.removing_filters == ("author:smith",)
    assert empty.next_step == "Leave out year:1850."


def test_what_is_asked_alone_is_never_to_be_left_out() -> None:
    alone = explain_empty("papers", 10, filters=[FilterEffect("author:ruiz", 0)])
    assert alone.next_step == "Check its spelling, or ask with plain words."
    word = explain_empty("notes", 10, words=[AskedTerm("zzyx", 0)])
    assert word.message == (
        "Nothing was found in 10 notes. No note has: zzyx. Ask with other words."
    )
    two = [FilterEffect("author:ruiz", 0), FilterEffect("year:2020", 3)]
    assert explain_empty("papers", 10, filters=two).next_step == "Leave out author:ruiz."


@pytest.mark.parametrize("typed", [["the"], ["what", "is", "the"], ["Does"]])
def test_words_too_common_to_search_by_are_not_called_missing(typed: list[str]) -> None:
    known = [("then", 3), ("what", 2), ("does", 1)]
    words = [AskedTerm(word, 0) for word in typed]
    empty = explain_empty("papers", 3, words=words, known_words=lambda word: known)
    assert (empty.unmatched_words, empty.did_you_mean) == ((), {})
    assert "Only words too common to search by were asked for." in empty.message
    with_one = explain_empty("papers", 3, words=[*words, AskedTerm("shrews", 0)])
    assert with_one.unmatched_words == ("shrews",)


def test_a_query_without_a_word_says_so() -> None:
    empty = explain_empty("papers", 3, asks_nothing=True)
    assert "No word was asked for." in empty.message
    assert "Every word occurs" not in empty.message


def test_a_limited_search_says_so() -> None:
    empty = explain_empty("papers", 2, words=[AskedTerm("liver", 4)], limited_by="within")
    assert "within limited the search to 2 papers." in empty.message
    assert empty.next_step.startswith("Ask without within")


def test_a_room_without_anything_says_so() -> None:
    empty = explain_empty("notes", 0, words=[AskedTerm("liver", 0)])
    assert empty.message.startswith("There are no notes yet.")
    assert empty.next_step == "Add notes first."
