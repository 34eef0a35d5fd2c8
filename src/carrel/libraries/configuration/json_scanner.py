"""JSON with comments and trailing commas, parsed with the place of every member."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from carrel.libraries.configuration import UnreadableTextError

MAX_DEPTH = 200
_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


@dataclass(slots=True)
class JsonMember:
    """One key of an object and its value, with where the key begins and its comma stands."""

    key: str
    start: int
    value: JsonNode
    comma: int | None = None


@dataclass(slots=True)
class JsonNode:
    """A value from `start` to `end`; objects have members."""

    start: int
    end: int
    value: object
    members: list[JsonMember] = field(default_factory=list)

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    def member(self, key: str) -> JsonMember | None:
        """The member with a key; the last, as parsers do, where there are several."""
        return next((found for found in reversed(self.members) if found.key == key), None)


class JsonScanner:
    """Reads one text; strict JSON unless comments are allowed."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self._text = text
        self._comments = comments
        self._gap = _GAP if comments else _SPACE

    def read(self) -> JsonNode | None:
        """The value of the text; None where it has none. Raises UnreadableTextError."""
        start = self._skip(0)
        if start == len(self._text):
            return None
        node = self._value(start, 0)
        if self._skip(node.end) != len(self._text):
            raise self._error(self._skip(node.end), "more than one value")
        return node

    def _skip(self, at: int) -> int:
        found = self._gap.match(self._text, at)
        return found.end() if found else at

    def _value(self, at: int, depth: int) -> JsonNode:
        if depth > MAX_DEPTH:
            raise self._error(at, "too deeply nested")
        opening = self._text[at : at + 1]
        if opening == "{":
            return self._object(at, depth)
        if opening == "[":
            return self._array(at, depth)
        if opening == '"':
            text, end = self._string(at)
            return JsonNode(at, end, text)
        found = _SCALAR.match(self._text, at)
        if found is None:
            raise self._error(at, "a value is missing")
        return JsonNode(at, found.end(), json.loads(found.group()))

    def _object(self, at: int, depth: int) -> JsonNode:
        node = JsonNode(at, at, {})
        values: dict[str, object] = {}
        here, comma = self._skip(at + 1), None
        while self._text[here : here + 1] != "}":
            if node.members and comma is None:
                raise self._error(here, "a comma is missing")
            key, end = self._string(here)
            colon = self._skip(end)
            if self._text[colon : colon + 1] != ":":
                raise self._error(colon, "a colon is missing")
            value = self._value(self._skip(colon + 1), depth + 1)
            start = here
            here, comma = self._after_value(value.end)
            node.members.append(JsonMember(key, start, value, comma))
            values[key] = value.value
        self._check_trailing(comma)
        node.end, node.value = here + 1, values
        return node

    def _array(self, at: int, depth: int) -> JsonNode:
        values: list[object] = []
        here, comma = self._skip(at + 1), None
        while self._text[here : here + 1] != "]":
            if values and comma is None:
                raise self._error(here, "a comma is missing")
            item = self._value(here, depth + 1)
            values.append(item.value)
            here, comma = self._after_value(item.end)
        self._check_trailing(comma)
        return JsonNode(at, here + 1, values)

    def _after_value(self, end: int) -> tuple[int, int | None]:
        here = self._skip(end)
        if self._text[here : here + 1] == ",":
            return self._skip(here + 1), here
        return here, None

    def _check_trailing(self, comma: int | None) -> None:
        if comma is not None and not self._comments:
            raise self._error(comma, "a comma with nothing after it")

    def _string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self._text, at)
        if found is None:
            raise self._error(at, "a string in double quotes is missing")
        try:
            return json.loads(found.group()), found.end()
        except ValueError:
            raise self._error(at, "a string has a wrong escape") from None

    def _error(self, at: int, what: str) -> UnreadableTextError:
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        return UnreadableTextError(f"line {line}, column {column}: {what}")
