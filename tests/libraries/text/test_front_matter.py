"""Front matter: where it ends, what it holds, and what is wrong with it."""

from __future__ import annotations

import pytest

from carrel.libraries.text.front_matter import (
    FrontMatterError,
    NoNamedFieldsError,
    load_front_matter,
    split_front_matter,
)


@pytest.mark.parametrize("end", ["---", "...", "---  ", "...\t"])
def test_a_block_ends_with_dashes_or_dots(end: str) -> None:
    text = f"---\ntitle: One\n{end}\nBody\n---\n"
    parts = split_front_matter(text)
    assert parts.block == "title: One\n"
    assert parts.body == "Body\n---\n"
    assert parts.header + parts.body == text


@pytest.mark.parametrize("text", ["", "Body", "--- a\n---\n", " ---\na: 1\n---\n", "---\na: 1\n"])
def test_a_text_without_a_block_is_all_body(text: str) -> None:
    parts = split_front_matter(text)
    assert (parts.block, parts.header, parts.body) == (None, "", text)


def test_fields_are_named_by_text() -> None:
    assert load_front_matter("") == {}
    assert load_front_matter("1999: a\n2026-01-02: b") == {"1999": "a", "2026-01-02": "b"}


@pytest.mark.parametrize("block", ["- a\n- b", "words", "5"])
def test_a_block_without_names_is_told_apart_from_one_that_is_not_yaml(block: str) -> None:
    with pytest.raises(NoNamedFieldsError):
        load_front_matter(block)


def test_what_is_not_yaml_is_named_with_its_line() -> None:
    with pytest.raises(FrontMatterError) as refusal:
        load_front_matter("title: a\ntags: [x\n")
    assert not isinstance(refusal.value, NoNamedFieldsError)
    assert refusal.value.line == 3
