"""What people type, and what it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.links import links
from carrel.rooms.knowledge.notes import AnyTitle, Tagged, TextMatch, TitlePrefix
from carrel.rooms.knowledge.query_language import parse
from carrel.rooms.knowledge.words import folded, grams, spans, words


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
    assert parse(query) == condition


@given(st.text(min_size=1, max_size=80))
def test_any_text_has_a_meaning_or_a_reason(query: str) -> None:
    try:
        condition = parse(query)
    except InvalidInputError as error:
        assert error.next_step
        assert query.strip().startswith("#") or query.strip().casefold().startswith("text:")
    else:
        assert isinstance(condition, AnyTitle | TitlePrefix | Tagged | TextMatch)


@given(st.text(max_size=80))
def test_folding_and_words_are_settled_after_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    for word in words(text):
        assert word and " " not in word and '"' not in word and "'" not in word
    assert grams(text)


@given(st.text(max_size=200))
def test_spans_stand_inside_the_text(text: str) -> None:
    for word, start, end in spans(text):
        assert word and 0 <= start < end <= len(text)


def test_links_are_found_and_code_is_not() -> None:
    text = (
        "[[A]] ![[B.md]] [[c/D#h|shown]] [[A]] `[[E]]`\n```\n[[F]]\n```\n[[ ]] [[x\ny]] "
        "[[nested [[G]]"
    )
    assert links(text) == ["A", "B", "c/D", "G"]
