"""Pages of a long answer: any JSON value cut to a size, so that its pages add up to the whole.

A page keeps the shape of the whole: short fields are on every page, of long lists and texts there
is a stretch, and those whose turn has not come are empty. A list is cut between items, a text
between paragraphs, lines or words; an item longer than a page is itself cut.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

Position = tuple[str | int, ...]

# Fields up to this size are repeated on every page: ids, titles, counts.
_SHORT_FIELD_CHARACTERS = 400
# A stretch shorter than this is not worth its place: the page ends before it.
_SHORTEST_STRETCH = 200
# A text ends at a paragraph, line or word in the last part of its stretch, where there is one.
_SEARCHED_FOR_A_BORDER = 0.25
_MARKER_CHARACTERS = 40


class WrongPositionError(Exception):
    """The answer has no such place, any more or at all."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a page shows of a list or a text, half-open, from 0."""

    start: int
    end: int
    total: int
    unit: Literal["items", "characters"]


@dataclass(frozen=True, slots=True)
class Page:
    """One page, where the next one begins, and which stretches of what it shows, by path."""

    value: Any
    next: Position | None
    stretches: Mapping[str, Stretch]


def json_length(value: object) -> int:
    """The characters of a value as compact JSON."""
    return len(orjson.dumps(value).decode())


def fingerprint(value: Any) -> str:
    """A short hash of what is cut in pages; fields such as the time taken are no part of it."""
    cut = value
    if isinstance(value, dict):
        cut = {name: each for name, each in value.items() if not _is_short(each)}
    return hashlib.blake2b(orjson.dumps(cut), digest_size=6).hexdigest()


def cut_value(value: Any, position: Position, room: int, root: str = "") -> Page:
    """The page from a position on, of about `room` characters of JSON.

    Raises WrongPositionError for a position that the value does not have.
    """
    cutter = _Cutter(json_length, room)
    part, following = cutter.take(value, position, room, root)
    return Page(part, following, cutter.stretches)


def cut_text(text: str, position: Position, room: int, how_to_go_on: str = "") -> Page:
    """The same of a text that is not shown as JSON; `room` is in its own characters.

    The marker at its end says `how_to_go_on`, where that is given.
    """
    cutter = _Cutter(len, room, how_to_go_on)
    part, following = cutter.take_text(text, position, room, "text")
    return Page(part, following, cutter.stretches)


def truncation_marker(left: int, how_to_go_on: str = "") -> str:
    """What stands at the end of a text that goes on."""
    return f"\n[truncated: {left} more chars{how_to_go_on and f'; {how_to_go_on}'}]"


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _SHORT_FIELD_CHARACTERS
    if isinstance(value, list | dict):
        return not value or json_length(value) <= _SHORT_FIELD_CHARACTERS
    return True


def _emptied(value: Any) -> Any:
    """A field whose turn is on another page."""
    if isinstance(value, str):
        return ""
    if isinstance(value, list):
        return []
    return {name: each if _is_short(each) else _emptied(each) for name, each in value.items()}


@dataclass(slots=True)
class _Cutter:
    """One page in the making; `whole_room` is the room of a page with nothing else on it."""

    measure: Callable[[str], int]
    whole_room: int
    how_to_go_on: str = ""
    stretches: dict[str, Stretch] = field(default_factory=dict)
    has_content: bool = False

    def take(
        self, value: Any, position: Position, room: int, path: str
    ) -> tuple[Any, Position | None]:
        """As much of a value as the room takes, and the position of the rest."""
        if isinstance(value, str):
            return self.take_text(value, position, room, path)
        if isinstance(value, list):
            return self._take_items(value, position, room, path)
        if isinstance(value, dict):
            return self._take_fields(value, position, room, path)
        if position:
            raise WrongPositionError
        return value, None

    def take_text(
        self, text: str, position: Position, room: int, path: str
    ) -> tuple[str, Position | None]:
        start = _index(position, len(text))
        if position[1:]:
            raise WrongPositionError
        end = start + self._fitting(text, start, room)
        if position or end < len(text):
            self.stretches[path] = Stretch(start, end, len(text), "characters")
        self.has_content = True
        if end == len(text):
            return text[start:], None
        return text[start:end] + truncation_marker(len(text) - end, self.how_to_go_on), (end,)

    def _fitting(self, text: str, start: int, room: int) -> int:
        """How many characters from a place on fit; at least one."""
        left = len(text) - start
        if left <= room and self.measure(text[start:]) <= room:
            return left
        room = max(1, room - _MARKER_CHARACTERS - len(self.how_to_go_on))
        length = min(left, room)
        # Characters that JSON escapes take more room than they count.
        while length > 1 and (taken := self.measure(text[start : start + length])) > room:
            length = max(1, min(length - 1, length * room // taken))
        if length == left:
            return left
        least = start + int(length * (1 - _SEARCHED_FOR_A_BORDER))
        for border in ("\n\n", "\n", " "):
            found = text.rfind(border, least, start + length)
            if found > start:
                return found + len(border) - start
        return length

    def _take_items(
        self,
        items: list[Any],
        position: Position,
        room: int,
        path: str,
        names: list[str] | None = None,
    ) -> tuple[list[Any], Position | None]:
        """Items from a position on; `names` are their keys in a mapping."""
        first, within = _index(position, len(items)), position[1:]
        shown: list[Any] = []
        used = 2
        following: Position | None = None
        at = first
        while at < len(items):
            item = items[at]
            name_size = 0 if names is None else json_length(names[at]) + 1
            size = name_size + json_length(item) + 1
            if not within and used + size <= room:
                shown.append(item)
                used += size
                self.has_content = True
                at += 1
                continue
            if within or not self.has_content:
                left = max(room - used - name_size, 1)
                part, rest = self.take(item, within, left, f"{path}[{at}]")
                shown.append(part)
                used += name_size + json_length(part) + 1
                self.has_content = True
                within = ()
                if rest is None:
                    at += 1
                    continue
                following = (at, *rest)
                at += 1
            break
        if following is None and at < len(items):
            following = (at,)
        if position or following is not None:
            self.stretches[path] = Stretch(first, at, len(items), "items")
        return shown, following

    def _take_fields(
        self, fields: dict[str, Any], position: Position, room: int, path: str
    ) -> tuple[dict[str, Any], Position | None]:
        name, within = _key(position, fields)
        frame = _emptied(fields)
        if json_length(frame) > self.whole_room // 2:
            return self._take_entries(fields, name, within, room, path)
        if name is not None and _is_short(fields[name]):
            raise WrongPositionError
        left = room - json_length(frame)
        has_begun = name is None
        following: Position | None = None
        for each, value in fields.items():
            if each == name:
                has_begun = True
            if not has_begun or following is not None or _is_short(value):
                continue
            rest = within if each == name else ()
            if left < _SHORTEST_STRETCH and self.has_content:
                following = (each, *rest)
                continue
            frame[each], behind = self.take(
                value, rest, max(left, _SHORTEST_STRETCH), f"{path}.{each}" if path else each
            )
            left -= json_length(frame[each])
            if behind is not None:
                following = (each, *behind)
        return frame, following

    def _take_entries(
        self, fields: dict[str, Any], name: str | None, within: Position, room: int, path: str
    ) -> tuple[dict[str, Any], Position | None]:
        """Of a mapping with very many entries only some, as of a list."""
        names = list(fields)
        first = 0 if name is None else names.index(name)
        values = [fields[each] for each in names]
        inner = f"{path}{{}}"
        shown, following = self._take_items(values, (first, *within), room, inner, names)
        page = dict(zip(names[first : first + len(shown)], shown, strict=True))
        if following is None:
            return page, None
        return page, (names[int(following[0])], *following[1:])


def _index(position: Position, total: int) -> int:
    if not position:
        return 0
    at = position[0]
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < max(total, 1):
        raise WrongPositionError
    return at


def _key(position: Position, fields: dict[str, Any]) -> tuple[str | None, Position]:
    if not position:
        return None, ()
    name = position[0]
    if not isinstance(name, str) or name not in fields:
        raise WrongPositionError
    return name, position[1:]
