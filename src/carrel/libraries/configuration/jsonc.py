"""JSON with comments: one entry is changed by its place in the text, all else stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from carrel.libraries.configuration import (
    Path,
    UneditableTextError,
    UnreadableTextError,
    change_values,
    newline_of,
)
from carrel.libraries.configuration.json_scanner import JsonMember, JsonNode, JsonScanner

_DEFAULT_INDENT = "  "
_SPACE = " \t\r\n"
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|$)")


def parse(text: str, *, comments: bool = True) -> dict[str, Any]:
    """The values of a text, an empty one for an empty text; raises UnreadableTextError."""
    root = _read(text, comments=comments)
    return dict(root.value) if root is not None and isinstance(root.value, dict) else {}


def put_entry(text: str, path: Path, entry: Mapping[str, Any], *, comments: bool = True) -> str:
    """The text with the entry added or replaced."""
    root = _read(text, comments=comments)
    if root is None:
        end = newline_of(text)
        gap = end if text and not text.endswith("\n") else ""
        return text + gap + _dump(_nested(path, entry), _DEFAULT_INDENT, "", end) + end
    node, depth = _deepest(root, path)
    if depth == len(path) or node.value is None:
        after = _replace(text, root, node, _nested(path[depth:], entry))
    elif node.is_object:
        after = _insert(text, root, node, path[depth], _nested(path[depth + 1 :], entry))
    else:
        raise UnreadableTextError(f"{'.'.join(path[:depth])} is not a table of entries")
    return _checked(after, change_values(root.value, path, entry), comments=comments)


def take(text: str, path: Path, *, keep_empty: bool, comments: bool = True) -> str:
    """The text without the entry; tables it leaves empty go too, unless `keep_empty`."""
    root = _read(text, comments=comments)
    objects = [root] if root is not None else []
    for key in path[:-1]:
        member = objects[-1].member(key) if objects else None
        if member is None or not member.value.is_object:
            return text
        objects.append(member.value)
    depth = len(path) - 1
    if root is None or objects[depth].member(path[depth]) is None:
        return text
    while not keep_empty and depth > 0 and len(objects[depth].members) == 1:
        depth -= 1
    found = [member for member in objects[depth].members if member.key == path[depth]]
    if len(found) > 1:
        raise UneditableTextError(f"{path[depth]} stands there more than once")
    after = _cut(text, objects[depth], found[0])
    return _checked(after, change_values(root.value, path[: depth + 1], None), comments=comments)


def render(path: Path, entry: Mapping[str, Any]) -> str:
    """The entry alone, as a person would paste it."""
    return json.dumps(_nested(path, entry), indent=2, ensure_ascii=False)


def _checked(after: str, expected: object, *, comments: bool) -> str:
    if parse(after, comments=comments) != expected:
        raise UneditableTextError("it is written in a way that cannot be changed in place")
    return after


def _read(text: str, *, comments: bool) -> JsonNode | None:
    root = JsonScanner(text, comments=comments).read()
    if root is not None and not root.is_object:
        raise UnreadableTextError("it is not an object in braces")
    return root


def _nested(path: Path, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in reversed(path):
        entry = {key: entry}
    return entry


def _deepest(root: JsonNode, path: Path) -> tuple[JsonNode, int]:
    """The deepest value on the path, and how many keys lead to it."""
    node = root
    for depth, key in enumerate(path):
        keys = [member.key for member in node.members]
        if keys.count(key) > 1:
            raise UnreadableTextError(f"{key} stands there more than once")
        member = node.member(key)
        if member is None or (member.value.value is None and depth < len(path) - 1):
            return (node, depth) if member is None else (member.value, depth + 1)
        node = member.value
    return node, len(path)


def _replace(text: str, root: JsonNode, node: JsonNode, value: Mapping[str, Any]) -> str:
    inline = "\n" not in _body(text, root)
    return text[: node.start] + _written(text, root, node.start, value, inline) + text[node.end :]


def _insert(text: str, root: JsonNode, node: JsonNode, key: str, value: Mapping[str, Any]) -> str:
    """Add a member after the last one, in the style of the object."""
    last = node.members[-1] if node.members else None
    start = last.value.end if last else node.start + 1
    gap = text[start : node.end - 1]
    kept = gap.rstrip(_SPACE)
    comma_before = "," if last and last.comma is None else ""
    comma_after = "," if last and last.comma is not None else ""
    name = json.dumps(key, ensure_ascii=False)
    # An object without a style of its own takes that of the whole; an empty whole takes lines.
    styled = node if last else root
    is_one_line = bool(styled.members) and "\n" not in _body(text, styled)
    if is_one_line:
        space = " " if last else ""
        added = f"{space}{name}: {json.dumps(value, ensure_ascii=False)}"
        closing = gap[len(kept) :]
    else:
        end = newline_of(text)
        outer = _indent_at(text, node.start)
        indent = _indent_at(text, last.start) if last else outer + _step(text, root)
        added = f"{end}{indent}{name}: {_dump(value, _step(text, root), indent, end)}"
        closing = gap[len(kept) :]
        if "\n" not in closing and not last:
            closing = end + outer
    return f"{text[:start]}{comma_before}{kept}{added}{comma_after}{closing}{text[node.end - 1 :]}"


def _cut(text: str, node: JsonNode, member: JsonMember) -> str:
    """Take a member, the white space before it and one comma out; comments stay."""
    index = node.members.index(member)
    previous = node.members[index - 1] if index else None
    gap = text[previous.value.end if previous else node.start + 1 : member.start]
    start, end = member.start - len(gap) + len(gap.rstrip(_SPACE)), member.value.end
    comma = member.comma
    if comma is None and previous:
        comma = previous.comma
    after = end if member.comma is None else member.comma + 1
    if _ends_in_line_comment(gap) and not _LINE_END.match(text, after):
        # The line end closes a comment, so it has to stay.
        start = member.start
    spans = [(start, end)] if comma is None else sorted([(start, end), (comma, comma + 1)])
    for first, last in reversed(spans):
        text = text[:first] + text[last:]
    left = re.compile(r"\{[ \t\r\n]*\}").match(text, node.start)
    return text[: node.start] + "{}" + text[left.end() :] if left else text


def _ends_in_line_comment(gap: str) -> bool:
    comments = _COMMENT.findall(gap)
    return (
        bool(comments)
        and comments[-1].startswith("//")
        and gap.rstrip().endswith(comments[-1].rstrip())
    )


def _body(text: str, node: JsonNode) -> str:
    return text[node.start : node.end]


def _written(text: str, root: JsonNode, at: int, value: Mapping[str, Any], inline: bool) -> str:
    if inline:
        return json.dumps(value, ensure_ascii=False)
    return _dump(value, _step(text, root), _indent_at(text, at), newline_of(text))


def _dump(value: object, step: str, indent: str, end: str) -> str:
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return f"{end}{indent}".join(lines)


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str, root: JsonNode) -> str:
    """One level of indentation: that of the first member which stands on a line of its own."""
    for member in root.members:
        line = text[text.rfind("\n", 0, member.start) + 1 : member.start]
        if line and not line.strip(" \t"):
            return line[len(_indent_at(text, root.start)) :] or _DEFAULT_INDENT
    return _DEFAULT_INDENT
