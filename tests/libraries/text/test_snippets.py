"""Extracts: the match is marked, the rest is readable, whatever the text is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.query.papers import parse_paper_query
from carrel.libraries.text.snippets import SNIPPET_CHARACTERS, Marker


def snippet(query: str, *texts: str) -> str:
    return Marker(parse_paper_query(query).phrases).snippet(texts)


@pytest.mark.promise("P1")
@pytest.mark.parametrize(
    ("query", "text", "shown"),
    [
        ("cells", "All cells, no cellars.", "All **cells**, no cellars."),
        ("müller", "Mueller, MULLER and Müller", "Mueller, **MULLER** and **Müller**"),
        ("neuro*", "neurons of neurology", "**neurons** of **neurology**"),
        ('"deep learning"', "deep  learning is deep", "**deep learning** is deep"),
        ("deep learning", "deep learning is deep", "**deep learning** is **deep**"),
        ("il-6", "IL-6 and IL 17", "**IL-6** and **IL** 17"),
        ("the cell", "the cell", "**the cell**"),
        ("学习", "深 度 学 习 方 法", "深度**学习**方法"),
        ("х", "# Heading\n\ntext", "Heading text"),
        ("star", "a * star < b", r"a \* **star** \< b"),
        ("x", "", ""),
    ],
)
def test_the_match_is_marked(query: str, text: str, shown: str) -> None:
    assert snippet(query, text) == shown


@pytest.mark.promise("P1")
def test_the_extract_shows_as_many_words_as_it_can() -> None:
    text = "alpha " + "filler " * 200 + "alpha beta gamma " + "filler " * 200
    shown = snippet("alpha beta gamma", text)
    assert "**alpha beta gamma**" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) < SNIPPET_CHARACTERS + 40


@pytest.mark.promise("P1")
def test_the_first_text_with_a_match_is_shown_and_later_ones_are_not_read() -> None:
    def texts() -> object:
        yield "nothing here"
        yield "the word itself"
        raise AssertionError("read too far")

    assert Marker(parse_paper_query("word").phrases).snippet(texts()) == "the **word** itself"  # type: ignore[arg-type]


@pytest.mark.promise("P1")
def test_stems_mark_the_other_forms_of_a_word() -> None:
    def stem(word: str) -> str:
        return word.removesuffix("s").removesuffix("ing")

    assert (
        Marker(parse_paper_query("cell running").phrases, stem).snippet(["cells run in cellars"])
        == "**cells** run in cellars"
    )


@pytest.mark.promise("Q3")
@given(st.text(max_size=40), st.text(max_size=400))
def test_nothing_breaks_an_extract(query: str, text: str) -> None:
    shown = snippet(query, text, text[::-1])
    assert "\n" not in shown
    assert shown.count("**") % 2 == 0 or "*" in text
