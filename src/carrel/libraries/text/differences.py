"""Differences between two texts: by lines, then by the words of a line that changed.

Never by characters, and bounded: repetitive texts make a plain comparison quadratic, so lines that
stand once in both texts divide them first, and only short stretches are compared line by line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

# A stretch of more lines than this on both sides is shown as replaced as a whole.
MAX_STRETCH_LINES = 400
# A line of more words than this is shown as replaced as a whole, and so are lines after so many
# comparisons of one word with another.
MAX_LINE_WORDS = 300
_MAX_WORD_COMPARISONS = 2_000_000
# Two lines of which less than this is alike are not one line that changed.
_LEAST_ALIKE = 0.4
_CONTEXT_LINES = 3

_WORD = re.compile(r"\w+|\s+|[^\w\s]")

LineKind = Literal["same", "added", "removed"]


@dataclass(frozen=True, slots=True)
class LinePiece:
    """A part of a line; `is_changed` where the other state of the line has something else."""

    text: str
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class DifferenceLine:
    """A line of the difference, with its number in each text that has it."""

    kind: LineKind
    pieces: tuple[LinePiece, ...]
    before: int | None
    after: int | None

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class SkippedLines:
    """Lines that are the same and are left out."""

    count: int


@dataclass(frozen=True, slots=True)
class TextDifference:
    """What changed between two texts, with the lines around each change."""

    rows: tuple[DifferenceLine | SkippedLines, ...]
    added: int
    removed: int

    @property
    def is_empty(self) -> bool:
        return not self.added and not self.removed


def compare_texts(before: str, after: str, context: int = _CONTEXT_LINES) -> TextDifference:
    """The lines that changed, and `context` lines around them."""
    old, new = before.splitlines(), after.splitlines()
    lines = list(_list_lines(old, new))
    added = sum(line.kind == "added" for line in lines)
    removed = sum(line.kind == "removed" for line in lines)
    return TextDifference(tuple(_fold_unchanged(lines, context)), added, removed)


def match_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """Equal stretches as (place in old, place in new, length), in order."""
    found: list[tuple[int, int, int]] = []
    for place, other, size in _match_ranges(old, new, 0, len(old), 0, len(new)):
        if found and found[-1][0] + found[-1][2] == place and found[-1][1] + found[-1][2] == other:
            found[-1] = (found[-1][0], found[-1][1], found[-1][2] + size)
        else:
            found.append((place, other, size))
    return found


def _match_ranges(
    old: Sequence[str], new: Sequence[str], a: int, a_end: int, b: int, b_end: int
) -> Iterator[tuple[int, int, int]]:
    """Equal stretches within two ranges: ends first, then lines that stand once in both."""
    ranges = [(a, a_end, b, b_end)]
    while ranges:
        a, a_end, b, b_end = ranges.pop()
        if a < 0:
            # A stretch that was put by until those before it were told.
            yield -a - 1, b, b_end
            continue
        head = _count_common_start(old, new, a, a_end, b, b_end)
        if head:
            yield a, b, head
            a, b = a + head, b + head
        tail = _count_common_end(old, new, a, a_end, b, b_end)
        if tail:
            a_end, b_end = a_end - tail, b_end - tail
            ranges.append((-a_end - 1, 0, b_end, tail))
        if a == a_end or b == b_end:
            continue
        anchors = _find_anchors(old, new, a, a_end, b, b_end)
        if anchors:
            inner = []
            for place, other in anchors:
                inner += [(a, place, b, other), (-place - 1, 0, other, 1)]
                a, b = place + 1, other + 1
            ranges += reversed([*inner, (a, a_end, b, b_end)])
        elif max(a_end - a, b_end - b) <= MAX_STRETCH_LINES:
            matcher = SequenceMatcher(None, old[a:a_end], new[b:b_end], autojunk=False)
            for match in matcher.get_matching_blocks():
                if match.size:
                    yield a + match.a, b + match.b, match.size


def _count_common_start(
    old: Sequence[str], new: Sequence[str], a: int, a_end: int, b: int, b_end: int
) -> int:
    size = 0
    while a + size < a_end and b + size < b_end and old[a + size] == new[b + size]:
        size += 1
    return size


def _count_common_end(
    old: Sequence[str], new: Sequence[str], a: int, a_end: int, b: int, b_end: int
) -> int:
    size = 0
    while a_end - size > a and b_end - size > b and old[a_end - size - 1] == new[b_end - size - 1]:
        size += 1
    return size


def _find_anchors(
    old: Sequence[str], new: Sequence[str], a: int, a_end: int, b: int, b_end: int
) -> list[tuple[int, int]]:
    """Lines that stand once in both ranges, as many of them as keep their order (patience)."""
    counts = Counter(old[a:a_end])
    others = Counter(new[b:b_end])
    places = {line: at for at, line in enumerate(new[b:b_end], b) if others[line] == 1}
    pairs = [
        (at, places[line])
        for at, line in enumerate(old[a:a_end], a)
        if counts[line] == 1 and line in places and line.strip()
    ]
    # The longest increasing run of places in the new text, by piles.
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for number, (_, other) in enumerate(pairs):
        pile = bisect_left(tops, other)
        before.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(other)
            piles.append(number)
        else:
            tops[pile] = other
            piles[pile] = number
    run: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _list_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[DifferenceLine]:
    words = _WordBudget()
    a = b = 0
    for place, other, size in [*match_lines(old, new), (len(old), len(new), 0)]:
        yield from _list_changed(old[a:place], new[b:other], a, b, words)
        for offset in range(size):
            text = LinePiece(old[place + offset])
            yield DifferenceLine("same", (text,), place + offset + 1, other + offset + 1)
        a, b = place + size, other + size


class _WordBudget:
    """How much comparing of words a difference may still do."""

    def __init__(self) -> None:
        self.left = _MAX_WORD_COMPARISONS

    def compare(
        self, old: str, new: str
    ) -> tuple[tuple[LinePiece, ...], tuple[LinePiece, ...]] | None:
        """The pieces of a line that changed; None where the lines are too long or too unlike."""
        if len(old) + len(new) > 40 * MAX_LINE_WORDS:
            return None
        before, after = _WORD.findall(old), _WORD.findall(new)
        if max(len(before), len(after)) > MAX_LINE_WORDS:
            return None
        self.left -= len(before) * len(after)
        if self.left < 0:
            return None
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        blocks = matcher.get_matching_blocks()
        alike = sum(len("".join(before[each.a : each.a + each.size])) for each in blocks)
        if 2 * alike < _LEAST_ALIKE * (len(old) + len(new)):
            return None
        old_pieces: list[LinePiece] = []
        new_pieces: list[LinePiece] = []
        a = b = 0
        for block in blocks:
            _add_piece(old_pieces, before[a : block.a], is_changed=True)
            _add_piece(new_pieces, after[b : block.b], is_changed=True)
            _add_piece(old_pieces, before[block.a : block.a + block.size])
            _add_piece(new_pieces, after[block.b : block.b + block.size])
            a, b = block.a + block.size, block.b + block.size
        return tuple(old_pieces), tuple(new_pieces)


def _add_piece(pieces: list[LinePiece], words: Sequence[str], *, is_changed: bool = False) -> None:
    if words:
        pieces.append(LinePiece("".join(words), is_changed))


def _list_changed(
    old: Sequence[str], new: Sequence[str], a: int, b: int, words: _WordBudget
) -> Iterator[DifferenceLine]:
    """The lines of one change: those removed, then those added, with their words compared."""
    compared = [words.compare(*pair) for pair in zip(old, new, strict=False)]
    for offset, text in enumerate(old):
        pair = compared[offset] if offset < len(compared) else None
        pieces = (LinePiece(text),) if pair is None else pair[0]
        yield DifferenceLine("removed", pieces, a + offset + 1, None)
    for offset, text in enumerate(new):
        pair = compared[offset] if offset < len(compared) else None
        pieces = (LinePiece(text),) if pair is None else pair[1]
        yield DifferenceLine("added", pieces, None, b + offset + 1)


def _fold_unchanged(
    lines: Sequence[DifferenceLine], context: int
) -> Iterator[DifferenceLine | SkippedLines]:
    near = [False] * len(lines)
    for at, line in enumerate(lines):
        if line.kind != "same":
            start, end = max(0, at - context), min(len(lines), at + context + 1)
            near[start:end] = [True] * (end - start)
    left_out = 0
    for at, line in enumerate(lines):
        if near[at]:
            if left_out:
                yield SkippedLines(left_out)
                left_out = 0
            yield line
        else:
            left_out += 1
    if left_out and left_out < len(lines):
        yield SkippedLines(left_out)
