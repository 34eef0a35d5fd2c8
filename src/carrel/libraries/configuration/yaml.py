"""YAML: lines of one entry are added or taken out by their place, all else stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from carrel.libraries.configuration import (
    Path,
    UneditableTextError,
    UnreadableTextError,
    change_values,
    find_entry,
    newline_of,
)

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NOT_STRINGS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_STEP = "  "


def parse(text: str) -> dict[str, Any]:
    """The values of a text, an empty one for an empty text; raises UnreadableTextError."""
    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UnreadableTextError(" ".join(str(error).split())) from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UnreadableTextError("it is not a table of keys and values")
    return values


def put_entry(text: str, path: Path, entry: Mapping[str, Any]) -> str:
    """The text with the entry added or replaced."""
    before = parse(text)
    find_entry(before, path[:-1])
    found, depth = _deepest(text, path)
    if depth == len(path) and found is not None:
        after = _replace(text, found, path[-1], entry)
    elif found is None:
        after = _append(text, _lines(_nested(path, entry), ""))
    else:
        after = _insert(text, found, _nested(path[depth:], entry))
    return _checked(after, change_values(before, path, entry), path)


def take(text: str, path: Path, *, keep_empty: bool) -> str:
    """The text without the entry; tables it leaves empty go too, unless `keep_empty`."""
    before = parse(text)
    if find_entry(before, path) is None:
        return text
    depth = len(path)
    while not keep_empty and depth > 1 and len(_table(before, path[: depth - 1])) == 1:
        depth -= 1
    holder, _ = _deepest(text, path[: depth - 1])
    found, _ = _deepest(text, path[:depth])
    if found is None:
        return text
    is_last_one = depth > 1 and len(_table(before, path[: depth - 1])) == 1
    if is_last_one and holder is not None:
        # An empty table is written as braces; nothing at all would be no table.
        first = _line_start(text, found.key.start_mark.index)
        head = text[: holder.key_end(text)]
        after = f"{head} {{}}{text[len(head) : first]}{text[found.end(text) :]}"
    else:
        after = _cut(text, found)
    return _checked(after, change_values(before, path[:depth], None), path)


def render(path: Path, entry: Mapping[str, Any]) -> str:
    """The entry alone, as a person would paste it."""
    return "\n".join(_lines(_nested(path, entry), ""))


class _Found:
    """A key of a mapping with its value, and the mapping that holds them."""

    def __init__(self, mapping: yaml.MappingNode, key: yaml.Node, value: yaml.Node) -> None:
        self.mapping, self.key, self.value = mapping, key, value

    def end(self, text: str) -> int:
        """The end of the last line that belongs to the value."""
        last = _last_leaf(self.value)
        at = max(last.end_mark.index, self.key.end_mark.index)
        at = len(text[:at].rstrip())
        newline = text.find("\n", at)
        return len(text) if newline < 0 else newline + 1

    def key_end(self, text: str) -> int:
        """Behind the colon after the key."""
        return text.index(":", self.key.end_mark.index) + 1


def _deepest(text: str, path: Path) -> tuple[_Found | None, int]:
    """The deepest key on the path, and how many keys lead to it."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    found: _Found | None = None
    node: yaml.Node | None = root
    for depth, key in enumerate(path):
        if not isinstance(node, yaml.MappingNode):
            return found, depth
        matching = [pair for pair in node.value if _is_key(pair[0], key)]
        if len(matching) > 1:
            raise UnreadableTextError(f"{key} stands there more than once")
        if not matching:
            if found is None and node.flow_style:
                raise UneditableTextError("the whole file is written in braces")
            return found, depth
        found = _Found(node, *matching[0])
        if found.value.start_mark.index < found.key.start_mark.index:
            raise UneditableTextError(f"{key} is an alias")
        node = found.value
    return found, len(path)


def _is_key(node: yaml.Node, key: str) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.value == key


def _last_leaf(node: yaml.Node) -> yaml.Node:
    while isinstance(node, yaml.MappingNode | yaml.SequenceNode) and not node.flow_style:
        if not node.value:
            break
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node


def _insert(text: str, found: _Found, added: Mapping[str, Any]) -> str:
    """Add to the mapping at a key, in its own style."""
    value = found.value
    end = newline_of(text)
    if isinstance(value, yaml.MappingNode) and value.flow_style and value.value:
        return _insert_in_braces(text, value, added)
    if isinstance(value, yaml.MappingNode) and not value.flow_style:
        indent = " " * value.value[0][0].start_mark.column
        return _insert_lines(text, found.end(text), _lines(added, indent), end)
    # No value, or empty braces: the entry becomes lines below the key.
    indent = _indent_at(text, found.key.start_mark.index) + _STEP
    head = found.key_end(text)
    if isinstance(value, yaml.MappingNode):
        text = (
            text[:head]
            + text[head : value.start_mark.index].rstrip()
            + (text[value.end_mark.index :])
        )
    elif text[value.start_mark.index : value.end_mark.index].strip():
        text = text[:head] + text[value.end_mark.index :]
    newline = text.find("\n", head)
    at = len(text) if newline < 0 else newline + 1
    return _insert_lines(text, at, _lines(added, indent), end)


def _insert_in_braces(text: str, value: yaml.MappingNode, added: Mapping[str, Any]) -> str:
    closing = value.end_mark.index - 1
    kept = text[:closing].rstrip()
    comma = "" if kept.endswith(",") else ","
    pairs = ", ".join(
        f"{_key(name)}: {json.dumps(inner, ensure_ascii=False)}" for name, inner in added.items()
    )
    return f"{kept}{comma} {pairs}{text[len(kept) :]}"


def _replace(text: str, found: _Found, key: str, entry: Mapping[str, Any]) -> str:
    if found.mapping.flow_style:
        written = json.dumps(dict(entry), ensure_ascii=False)
        return text[: found.value.start_mark.index] + written + text[found.value.end_mark.index :]
    start = _line_start(text, found.key.start_mark.index)
    indent = " " * found.key.start_mark.column
    end = newline_of(text)
    lines = end.join(_lines({key: entry}, indent)) + end
    return text[:start] + lines + text[found.end(text) :]


def _cut(text: str, found: _Found) -> str:
    if not found.mapping.flow_style:
        return text[: _line_start(text, found.key.start_mark.index)] + text[found.end(text) :]
    pairs = found.mapping.value
    index = next(place for place, pair in enumerate(pairs) if pair[0] is found.key)
    if index:
        start = pairs[index - 1][1].end_mark.index
        return text[:start] + text[found.value.end_mark.index :]
    stop = pairs[1][0].start_mark.index if len(pairs) > 1 else found.value.end_mark.index
    return text[: found.key.start_mark.index] + text[stop:]


def _append(text: str, lines: list[str]) -> str:
    end = newline_of(text)
    return _insert_lines(text, len(text), lines, end)


def _insert_lines(text: str, at: int, lines: list[str], end: str) -> str:
    gap = end if at and text[at - 1] != "\n" else ""
    return text[:at] + gap + end.join(lines) + end + text[at:]


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _indent_at(text: str, at: int) -> str:
    return " " * (at - _line_start(text, at))


def _nested(path: Path, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in reversed(path):
        entry = {key: entry}
    return entry


def _lines(values: Mapping[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for key, value in values.items():
        head = f"{indent}{_key(key)}:"
        if isinstance(value, dict) and value:
            lines += [head, *_lines(value, indent + _STEP)]
        elif isinstance(value, list | tuple) and value:
            lines += [head, *(f"{indent}{_STEP}- {json.dumps(item)}" for item in value)]
        else:
            lines.append(f"{head} {json.dumps(value, ensure_ascii=False)}")
    return lines


def _key(text: str) -> str:
    is_plain = _PLAIN_KEY.fullmatch(text) and text.lower() not in _NOT_STRINGS
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _table(values: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    found = find_entry(values, path)
    return found if isinstance(found, dict) else {}


def _checked(after: str, expected: object, path: Path) -> str:
    try:
        found = parse(after)
    except UnreadableTextError:
        found = None
    if found != expected:
        raise UneditableTextError(f"{path[0]} is written in a way that cannot be changed in place")
    return after
