"""TOML: tables are added at the end and taken out by their statements, all else stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.libraries.configuration import (
    Path,
    UneditableTextError,
    UnreadableTextError,
    change_values,
    find_entry,
    newline_of,
)

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}\n]"
    r"|[^\[\]{}\n\"'\#]+",
    re.DOTALL,
)


def parse(text: str) -> dict[str, Any]:
    """The values of a text, an empty one for an empty text; raises UnreadableTextError."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UnreadableTextError(str(error)) from None


def put_entry(text: str, path: Path, entry: Mapping[str, Any]) -> str:
    """The text with the entry added or replaced."""
    before = parse(text)
    end = newline_of(text)
    added = render(path, entry).replace("\n", end) + end
    if find_entry(before, path) is None:
        gap = "" if not text or text.endswith("\n") else end
        after = f"{text}{gap}{end if text else ''}{added}"
    else:
        statements = _statements_of(text, path)
        if not statements:
            raise _written_inline(path)
        start = statements[0].start
        left = _without(text, statements)
        rest = left[start:]
        blank = end if rest.strip() and not rest.startswith(("\n", "\r", "#")) else ""
        after = left[:start] + added + blank + rest
    return _checked(after, change_values(before, path, entry), path)


def take(text: str, path: Path, *, keep_empty: bool) -> str:
    """The text without the entry; tables it leaves empty go too, unless `keep_empty`."""
    before = parse(text)
    if find_entry(before, path) is None:
        return text
    statements = _statements_of(text, path)
    if not statements:
        raise _written_inline(path)
    after = _without_gap(_without(text, statements), statements[0].start)
    expected = change_values(before, path, None)
    if parse(after) != expected:
        # The container was there only by the entry's own header, and TOML cannot keep it.
        expected = _drop_empty(expected, path[:-1])
    return _checked(after, expected, path)


def render(path: Path, entry: Mapping[str, Any]) -> str:
    """The entry alone, as a person would paste it."""
    header = ".".join(_key(part) for part in path)
    plain = {key: value for key, value in entry.items() if not isinstance(value, dict)}
    lines = [f"[{header}]", *(f"{_key(key)} = {_value(value)}" for key, value in plain.items())]
    for key, value in entry.items():
        if isinstance(value, dict):
            pairs = ", ".join(f"{_key(name)} = {_value(inner)}" for name, inner in value.items())
            lines.append(f"{_key(key)} = {{ {pairs} }}" if pairs else f"{_key(key)} = {{}}")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header or a key with its value, from the start of its line to the end of its last one."""

    start: int
    end: int
    path: Path


def _statements_of(text: str, path: Path) -> list[_Statement]:
    """The statements that say something of the entry or of what is in it, and of nothing else."""
    return [found for found in _statements(text) if found.path[: len(path)] == path]


def _statements(text: str) -> Iterator[_Statement]:
    table: Path = ()
    for start, end in _logical_lines(text):
        source = text[start:end].strip()
        if not source or source.startswith("#"):
            continue
        try:
            values: Any = tomllib.loads(source + "\n")
        except tomllib.TOMLDecodeError as error:
            raise UnreadableTextError(str(error)) from None
        if source.startswith("["):
            table = _path_of_header(values)
            yield _Statement(start, end, table)
        else:
            yield _Statement(start, end, table + _path_of_key(values, source))


def _logical_lines(text: str) -> Iterator[tuple[int, int]]:
    """Lines, where strings and brackets over several lines count as one."""
    start = depth = 0
    for token in _TOKEN.finditer(text):
        match token.group():
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case "\n" if depth <= 0:
                yield start, token.end()
                start, depth = token.end(), 0
            case _:
                pass
    if start < len(text):
        yield start, len(text)


def _path_of_header(values: Any) -> Path:
    keys: list[str] = []
    while isinstance(values, dict) and values:
        key = next(iter(values))
        keys.append(key)
        values = values[key][0] if isinstance(values[key], list) else values[key]
    return tuple(keys)


def _path_of_key(values: Any, source: str) -> Path:
    """The keys before the equals sign, of which there may be several with dots between."""
    keys: list[str] = []
    for _ in range(_dots_in_key(source) + 1):
        key = next(iter(values))
        keys.append(key)
        values = values[key]
    return tuple(keys)


def _dots_in_key(source: str) -> int:
    dots = 0
    for token in re.finditer(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[.=]', source):
        if token.group() == "=":
            break
        dots += token.group() == "."
    return dots


def _without(text: str, statements: list[_Statement]) -> str:
    for found in reversed(statements):
        text = text[: found.start] + text[found.end :]
    return text


def _without_gap(text: str, start: int) -> str:
    """Take out the blank line before a table that stood at the end of the text."""
    kept = text[:start]
    if text[start:].strip():
        return text
    for end in ("\r\n", "\n"):
        if kept.endswith(end * 2):
            return kept[: -len(end)] + text[start:]
    return text


def _drop_empty(values: dict[str, Any], path: Path) -> dict[str, Any]:
    if not path:
        return values
    inner = _drop_empty(dict(values[path[0]]), path[1:])
    if inner:
        return {**values, path[0]: inner}
    return {key: value for key, value in values.items() if key != path[0]}


def _checked(after: str, expected: dict[str, Any], path: Path) -> str:
    try:
        found = parse(after)
    except UnreadableTextError:
        raise _written_inline(path) from None
    if found != expected:
        raise _written_inline(path)
    return after


def _written_inline(path: Path) -> UneditableTextError:
    return UneditableTextError(f"{path[0]} is written as an inline table or with dotted keys")


def _key(text: str) -> str:
    return text if _BARE_KEY.fullmatch(text) else _string(text)


def _value(value: object) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    return json.dumps(value)


def _string(text: str) -> str:
    # JSON's escapes are TOML's, but for the delete character and surrogate pairs.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
