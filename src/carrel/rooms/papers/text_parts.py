"""A paper's text in parts of a bounded size, and each part in pieces that can be drawn alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from carrel.libraries.text.outline import (
    Block,
    HeadingLine,
    PageMark,
    Part,
    document_title,
    read_parts,
)

# Chosen so that a part is drawn in some tens of milliseconds (5 kB of Markdown take about 10).
PART_CHARACTERS = 14_000
# A part may end early before a heading of the first two levels, once it has this share of its size.
_WORTH_A_PART = 0.5
_FIRST_LEVELS = 2


@dataclass(frozen=True, slots=True)
class TextStretch:
    """A stretch of the text without headings and page marks in it.

    `heading` and `page` are what it begins with, `mark` is the place of the stretch in the list of
    those that were to be marked.
    """

    start: int
    end: int
    heading: HeadingLine | None = None
    page: int | None = None
    mark: int | None = None


class TextParts:
    """The structure of one text; made once, and asked for parts of it."""

    def __init__(self, text: str, size: int = PART_CHARACTERS) -> None:
        self._all = read_parts(text)
        self._block_starts = [each.start for each in self._all if isinstance(each, Block)]
        self._title = document_title(self._all)
        self.borders = _cut_borders(self._all, len(text), size)

    @property
    def count(self) -> int:
        return len(self.borders) - 1

    def part_of(self, position: int) -> int:
        """The number, from 1, of the part that holds a position."""
        return max(1, min(bisect_right(self.borders, position), self.count))

    def block_of(self, position: int) -> int:
        """The number of the paragraph that holds a position."""
        return bisect_right(self._block_starts, position)

    def pieces(self, number: int, marks: Sequence[tuple[int, int]] = ()) -> list[TextStretch]:
        """The pieces of a part; paragraphs that overlap one of the marked stretches stand alone."""
        begin, end = self.borders[number - 1], self.borders[number]
        return list(_merge(self._walk(begin, end, marks)))

    def _walk(
        self, begin: int, end: int, marks: Sequence[tuple[int, int]]
    ) -> Iterator[TextStretch]:
        """One piece for each block, cut where the part is."""
        heading: HeadingLine | None = None
        page: int | None = None
        for part in self._all:
            if part.start >= end:
                break
            if isinstance(part, Block):
                start, stop = max(part.start, begin), min(part.end, end)
                if start < stop:
                    yield TextStretch(start, stop, heading, page, _find_mark(marks, start, stop))
                    heading = page = None
            elif part.start < begin or part is self._title:
                continue
            elif isinstance(part, PageMark):
                page = part.page
            else:
                if heading is not None or page is not None:
                    # A heading right below another, or at the top of a page.
                    yield TextStretch(part.start, part.start, heading, page)
                heading, page = part, None
        if heading is not None or page is not None:
            yield TextStretch(end, end, heading, page)


def _find_mark(marks: Sequence[tuple[int, int]], start: int, end: int) -> int | None:
    return next((at for at, (one, other) in enumerate(marks) if one < end and start < other), None)


def _merge(pieces: Iterator[TextStretch]) -> Iterator[TextStretch]:
    """Neighbours that begin with nothing and are marked alike become one."""
    last: TextStretch | None = None
    for piece in pieces:
        if last is not None and _is_continued(last, piece):
            last = TextStretch(last.start, piece.end, last.heading, last.page, last.mark)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


def _is_continued(last: TextStretch, piece: TextStretch) -> bool:
    begins_anew = piece.heading is not None or piece.page is not None
    return not begins_anew and piece.mark == last.mark and last.start < last.end


def _cut_borders(parts: Sequence[Part], length: int, size: int) -> list[int]:
    """Where parts begin, and the end of the text."""
    borders = [0]
    for part in parts:
        filled = part.start - borders[-1]
        is_heading = isinstance(part, HeadingLine) and part.level <= _FIRST_LEVELS
        if filled >= size or (is_heading and filled >= size * _WORTH_A_PART):
            borders.append(part.start)
        # A text without paragraphs is cut anywhere.
        while part.end - borders[-1] > 2 * size:
            borders.append(borders[-1] + size)
    return [*borders, max(length, borders[-1] + 1)]
