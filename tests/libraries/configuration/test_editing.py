"""Adding and taking out an entry changes nothing else, for random files of every format."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given, settings

from carrel.libraries.configuration import (
    UneditableTextError,
    UnreadableTextError,
    file_format,
    find_entry,
)
from tests.libraries.configuration.texts import jsonc_texts, toml_texts, yaml_texts

ENTRY = {"command": "/opt/a b/carrel", "args": ["mcp", "--home", 'C:\\x "y"'], "env": {"A": "ü"}}
OTHER = {"url": "https://desk.example.org/desk/mcp", "headers": {"Authorization": "Bearer x"}}
SERVERS = ("mcpServers", "carrel")
MANY = settings(max_examples=150, deadline=None)


def changed(values: dict[str, Any], path: tuple[str, ...], entry: object) -> dict[str, Any]:
    inner = entry if len(path) == 1 else changed(values.get(path[0]) or {}, path[1:], entry)
    return {**values, path[0]: inner}


def comments_of(text: str, pattern: str) -> list[str]:
    outside = re.sub(r'"(?:[^"\\\r\n]|\\.)*"', '""', text)
    return sorted(found.strip() for found in re.findall(pattern, outside))


@MANY
@given(jsonc_texts("mcpServers"))
def test_json_with_comments_comes_back_as_it_was(text: str) -> None:
    jsonc = file_format("jsonc")
    before = jsonc.parse(text)
    added = jsonc.put_entry(text, SERVERS, ENTRY)
    assert jsonc.parse(added) == changed(before, SERVERS, ENTRY)
    replaced = jsonc.put_entry(added, SERVERS, OTHER)
    assert jsonc.parse(replaced) == changed(before, SERVERS, OTHER)
    assert jsonc.parse(jsonc.put_entry(replaced, SERVERS, ENTRY)) == jsonc.parse(added)
    had_table = bool(before.get("mcpServers")) or "mcpServers" not in before
    taken = jsonc.take(added, SERVERS, keep_empty="mcpServers" in before)
    assert jsonc.parse(taken) == before
    assert comments_of(taken, r"//[^\r\n]*|/\*.*?\*/") == comments_of(text, r"//[^\r\n]*|/\*.*?\*/")
    if before and had_table:
        assert taken == text


@MANY
@given(toml_texts())
def test_toml_comes_back_as_it_was(text: str) -> None:
    toml, path = file_format("toml"), ("mcp_servers", "carrel")
    before = toml.parse(text)
    added = toml.put_entry(text, path, ENTRY)
    assert toml.parse(added) == changed(before, path, ENTRY)
    replaced = toml.put_entry(added, path, OTHER)
    assert toml.parse(replaced) == changed(before, path, OTHER)
    assert toml.put_entry(replaced, path, ENTRY) == added
    taken = toml.take(added, path, keep_empty=True)
    assert toml.parse(taken) == before
    assert taken == text or taken.rstrip("\r\n") == text


@MANY
@given(yaml_texts("extensions"))
def test_yaml_comes_back_as_it_was(text: str) -> None:
    yaml, path = file_format("yaml"), ("extensions", "carrel")
    try:
        before = yaml.parse(text)
    except UnreadableTextError:
        assume(False)
        return
    try:
        added = yaml.put_entry(text, path, ENTRY)
    except UneditableTextError:
        # A block of text that ends the file without a line end would get one.
        assert not text.endswith("\n")
        return
    assert yaml.parse(added) == changed(before, path, ENTRY)
    replaced = yaml.put_entry(added, path, OTHER)
    assert yaml.parse(replaced) == changed(before, path, OTHER)
    taken = yaml.take(added, path, keep_empty="extensions" in before)
    assert yaml.parse(taken) == before
    assert comments_of(taken, r"#[^\r\n]*") == comments_of(text, r"#[^\r\n]*")
    if text.endswith("\n") and before.get("extensions"):
        assert taken == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json", '{"a": 1} // no comments here'),
        ("json", '{"a": 1,}'),
        ("jsonc", "{broken"),
        ("jsonc", "[1]"),
        ("jsonc", '{"a": 01}'),
        ("jsonc", '{"a": "\n"}'),
        ("jsonc", "{" + '"a": {' * 300),
        ("toml", "a = = 1"),
        ("yaml", "a: [1"),
        ("yaml", "- a list"),
        ("yaml", "a: 1\n---\nb: 2\n"),
    ],
)
def test_a_text_of_another_format_is_refused(name: str, text: str) -> None:
    with pytest.raises(UnreadableTextError):
        file_format(name).parse(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("toml", "mcp_servers = { other = { command = 'x' } }\n"),
        ("yaml", "a: &same {b: 1}\nmcp_servers: *same\n"),
        ("yaml", "a: 1\n...\n"),
        ("jsonc", '{"mcp_servers": {}, "mcp_servers": {}}'),
        ("jsonc", '{"mcp_servers": []}'),
    ],
)
def test_what_cannot_be_changed_in_place_is_refused(name: str, text: str) -> None:
    with pytest.raises((UneditableTextError, UnreadableTextError)):
        file_format(name).put_entry(text, ("mcp_servers", "carrel"), ENTRY)


def test_strict_json_is_read_as_python_reads_it() -> None:
    text = '{"a": [1, -2.5e3, true, null, "\\u00fc\\n"], "b": {"": {}}}'
    assert file_format("json").parse(text) == json.loads(text)


def test_an_entry_is_not_looked_for_inside_something_else() -> None:
    with pytest.raises(UnreadableTextError):
        find_entry({"mcpServers": ["carrel"]}, SERVERS)
