"""What people type, and what it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.query.errors import QueryError
from carrel.libraries.query.notes import AnyTitle, Tagged, TextMatch, TitlePrefix, parse_note_query
from carrel.libraries.text.tokenizer import (
    case_key,
    index_terms,
    index_terms_with_offsets,
    name_trigrams,
)
from carrel.rooms.knowledge.links import link_targets


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ("Magnesium  AND", TitlePrefix("magnesium and", "Magnesium  AND")),
        ("#Tag", Tagged(("tag",), ("Tag",))),
        ('#a #"two words" ##b #A', Tagged(("a", "two words", "b"), ("a", "two words", "b"))),
        ("text:NMDA receptor", TextMatch((("nmda",), ("receptor",)))),
        ('TEXT:"nmda receptor" a-b', TextMatch((("nmda", "receptor"), ("a", "b")))),
        ("#a text:x", TextMatch((("x",),), ("a",))),
        ("text:知識管理", TextMatch((("知識", "識管", "管理"),))),
        ("*", AnyTitle()),
        ("C# language", TitlePrefix("c# language", "C# language")),
    ],
)
def test_a_query_is_understood(query: str, condition: object) -> None:
    assert parse_note_query(query) == condition


@given(st.text(min_size=1, max_size=80))
def test_any_text_has_a_meaning_or_a_reason(query: str) -> None:
    try:
        condition = parse_note_query(query)
    except QueryError as error:
        assert error.next_step
        assert query.strip().startswith("#") or query.strip().casefold().startswith("text:")
    else:
        assert isinstance(condition, AnyTitle | TitlePrefix | Tagged | TextMatch)


@given(st.text(max_size=80))
def test_folding_and_words_are_settled_after_once(text: str) -> None:
    assert case_key(case_key(text)) == case_key(text)
    for word in index_terms(text):
        assert word and " " not in word and '"' not in word and "'" not in word
    assert name_trigrams(text)


@given(st.text(max_size=200))
def test_spans_stand_inside_the_text(text: str) -> None:
    for word, start, end in index_terms_with_offsets(text):
        assert word and 0 <= start < end <= len(text)


def test_links_are_found_and_code_is_not() -> None:
    text = (
        "[[A]] ![[B.md]] [[c/D#h|shown]] [[A]] `[[E]]`\n```\n[[F]]\n```\n[[ ]] [[x\ny]] "
        "[[nested [[G]]"
    )
    assert link_targets(text) == ["A", "B", "c/D", "G"]
