"""Nodes from files, good lines and bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.rooms.knowledge.notes import BadRow, Node
from carrel.services.node_files import read_nodes


@pytest.mark.promise("K5")
def test_json_lines_are_read_and_bad_lines_named(tmp_path: Path) -> None:
    file = tmp_path / "nodes.jsonl"
    file.write_bytes(
        b'\xef\xbb\xbf{"name": "Magnesium", "node_type": "ion", "description": "d", "content": '
        b'"c", '
        b'"metadata": {"a": 1}, "group": 2}\n'
        b"\n"
        b'{"title": "Serotonin", "type": "t", "knowledge": "k"}\n'
        b'{"no": "name"}\n'
        b"not json\n"
        b'["list"]\n'
        b'{"name": "caf\xe9"}\n'
    )
    rows = list(read_nodes(file))
    assert rows[0] == Node("Magnesium", "ion", "d", "c", {"a": 1, "group": 2})
    assert rows[1] == Node("Serotonin", "t", "", "k")
    assert [row.line for row in rows if isinstance(row, BadRow)] == [4, 5, 6, 7]


def test_tables_are_read(tmp_path: Path) -> None:
    file = tmp_path / "nodes.csv"
    file.write_text(
        'name,type,content,metadata,extra\n"A, b",x,"two\nlines","{""k"": 1}",e\n,x,y,,\nC,,,not '
        "json,\n",
        encoding="utf-8-sig",
    )
    assert list(read_nodes(file)) == [
        Node("A, b", "x", "", "two\nlines", {"k": 1, "extra": "e"}),
        BadRow(4, "no name"),
        Node("C", metadata={"metadata": "not json"}),
    ]


def test_what_no_store_can_hold_is_refused_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "nodes.jsonl"
    lines = [
        '"name": "a", "content": "\\ud800"',
        '"name": "b", "metadata": {"x": "\\u0000"}',
        '"name": "c", "n": 1e999',
    ]
    lines += [f'"name": "d", "n": {2**70}', '"name": "e"']
    file.write_text("".join(f"{{{line}}}\n" for line in lines))
    assert [type(row) for row in read_nodes(file)] == [BadRow, BadRow, Node, BadRow, Node]


_plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["n.csv", "n.tsv", "n.jsonl"]))
def test_any_bytes_are_read_to_the_end(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    file = tmp_path_factory.mktemp("nodes") / name
    file.write_bytes(content)
    for row in read_nodes(file):
        assert isinstance(row, Node | BadRow)


@given(st.dictionaries(_plain, st.integers(-(2**63), 2**63 - 1) | _plain, max_size=4))
def test_a_node_comes_back_from_the_line_it_was_written_to(
    tmp_path_factory: pytest.TempPathFactory, metadata: dict[str, object]
) -> None:
    file = tmp_path_factory.mktemp("nodes") / "n.jsonl"
    file.write_text(json.dumps({"name": "N", "metadata": metadata}) + "\n")
    assert list(read_nodes(file)) == [Node("N", metadata=metadata)]
