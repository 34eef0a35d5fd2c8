"""Streams are cut into records with one record in memory, wherever the pieces end."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.services.dumps import splitting
from carrel.services.dumps.splitting import (
    OversizedRecordError,
    split_json,
    split_objects,
    split_xml,
)


def in_pieces(content: bytes, size: int) -> Callable[[int], bytes]:
    """Reads as little as it likes at a time, as a decompressor does."""
    stream = io.BytesIO(content)
    return lambda _: stream.read(size)


_VALUES = st.recursive(
    st.text(alphabet='ab"\\{}[],: \n', max_size=12) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(max_size=5), _VALUES), max_size=6), st.integers(1, 40))
def test_the_items_of_a_file_come_back_whatever_stands_in_their_strings(
    items: list[dict[str, object]], size: int
) -> None:
    content = json.dumps({"items": items}).encode()
    # The beginning says what the file is, so it is read in one piece.
    head = len(b'{"items": [')
    found = list(split_objects(in_pieces(content[head:], size)))
    assert [json.loads(each) for each in found] == items
    assert [json.loads(each) for each in split_json(io.BytesIO(content).read)] == items


def test_arrays_and_lines_are_told_from_items_by_how_the_file_begins() -> None:
    two = [{"a": 1}, {"b": "}"}]
    array = json.dumps(two, indent=1).encode()
    lines = b"\n".join(json.dumps(each).encode() for each in two)
    for content in (array, lines):
        assert [json.loads(each) for each in split_json(io.BytesIO(content).read)] == two


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_articles_books_and_deletions_come_whole(size: int) -> None:
    parts = [
        b'<PubmedArticle><PMID Version="1">1</PMID></PubmedArticle>',
        b"<PubmedBookArticle>x</PubmedBookArticle>",
        b"<DeleteCitation><PMID>2</PMID></DeleteCitation>",
    ]
    content = b"<?xml version='1.0'?>\n<PubmedArticleSet>" + b"\n ".join(parts)
    content += b"\n</PubmedArticleSet>"
    assert list(split_xml(in_pieces(content, size))) == parts


def test_a_file_that_ends_within_a_record_says_so() -> None:
    with pytest.raises(EOFError):
        list(split_objects(in_pieces(b'{"a": {"b": 1}', 5)))
    with pytest.raises(EOFError):
        list(split_xml(in_pieces(b"<PubmedArticle><PMID>1", 5)))


def test_a_record_that_never_ends_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "LONGEST_RECORD", 1_000)
    for split, content in (
        (split_objects, b'{"a": "' + b"x" * 5_000),
        (split_xml, b"<PubmedArticle>" + b"x" * 5_000),
        (splitting.split_lines, b"x" * 5_000),
    ):
        with pytest.raises(OversizedRecordError):
            list(split(in_pieces(content, 100)))
