"""An immutable list whose versions share what they have in common, so that a change is cheap."""

from __future__ import annotations

import itertools
import operator
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar, overload

ElementT = TypeVar("ElementT")
# A change copies one chunk and the list of chunks: the square root of 200,000, about.
_CHUNK = 512


class ChunkedList(Sequence[ElementT], Generic[ElementT]):
    """Elements in tuples of at most `_CHUNK`; what a change does not touch is the same object."""

    __slots__ = ("_chunks", "_length", "_starts")

    def __init__(self, elements: Iterable[ElementT] = ()) -> None:
        self._set_chunks(_cut(tuple(elements)))

    def _set_chunks(self, chunks: Iterable[tuple[ElementT, ...]]) -> None:
        self._chunks = tuple(chunk for chunk in chunks if chunk)
        ends = list(itertools.accumulate(map(len, self._chunks)))
        self._starts = [0, *ends[:-1]] if ends else []
        self._length = ends[-1] if ends else 0

    def splice(self, at: int, removed: int, added: Iterable[ElementT]) -> ChunkedList[ElementT]:
        """The list with some elements taken out at a place, and others put in there."""
        end = at + removed
        if not 0 <= at <= end <= self._length:
            raise IndexError("a splice outside of the list")
        first, last = self._chunk_at(at), self._chunk_at(end)
        before = self._chunks[first][: at - self._starts[first]] if self._chunks else ()
        after = self._chunks[last][end - self._starts[last] :] if self._chunks else ()
        changed: ChunkedList[ElementT] = ChunkedList()
        changed._set_chunks(
            (*self._chunks[:first], *_cut((*before, *added, *after)), *self._chunks[last + 1 :])
        )
        return changed

    def count_common_start(self, other: ChunkedList[ElementT], limit: int) -> int:
        """How many elements are the same objects at the beginning, up to a limit."""
        reached = 0
        for chunk, start in zip(self._chunks, self._starts, strict=True):
            if reached >= limit:
                break
            if not other.has_chunk(chunk, start):
                beside = other[start : start + len(chunk)]
                same = _count_same(chunk, beside)
                if same < len(chunk):
                    return min(limit, start + same)
            reached = start + len(chunk)
        return min(limit, reached)

    def count_common_end(self, other: ChunkedList[ElementT], limit: int) -> int:
        """How many elements are the same objects at the end, up to a limit."""
        shift = len(other) - len(self)
        reached = 0
        for chunk, start in zip(reversed(self._chunks), reversed(self._starts), strict=True):
            if reached >= limit:
                break
            if not other.has_chunk(chunk, start + shift):
                beside = other[max(0, start + shift) : max(0, start + shift + len(chunk))]
                same = _count_same(chunk[::-1], beside[::-1])
                if same < len(chunk):
                    return min(limit, reached + same)
            reached += len(chunk)
        return min(limit, reached)

    def has_chunk(self, chunk: tuple[ElementT, ...], start: int) -> bool:
        """Whether this very chunk begins at this place."""
        if not 0 <= start < self._length:
            return False
        found = self._chunk_at(start)
        return self._starts[found] == start and self._chunks[found] is chunk

    def _chunk_at(self, place: int) -> int:
        return max(0, bisect_right(self._starts, place) - 1)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> ElementT: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[ElementT, ...]: ...

    def __getitem__(self, at: int | slice) -> ElementT | tuple[ElementT, ...]:
        if isinstance(at, slice):
            start, stop, step = at.indices(self._length)
            return self._slice(start, stop) if step == 1 else tuple(self)[at]
        place = at + self._length if at < 0 else at
        if not 0 <= place < self._length:
            raise IndexError("no element is there")
        chunk = self._chunk_at(place)
        return self._chunks[chunk][place - self._starts[chunk]]

    def _slice(self, start: int, stop: int) -> tuple[ElementT, ...]:
        if start >= stop:
            return ()
        first, last = self._chunk_at(start), self._chunk_at(stop - 1)
        begin = start - self._starts[first]
        if first == last:
            return self._chunks[first][begin : stop - self._starts[first]]
        return (
            *self._chunks[first][begin:],
            *itertools.chain.from_iterable(self._chunks[first + 1 : last]),
            *self._chunks[last][: stop - self._starts[last]],
        )

    def __iter__(self) -> Iterator[ElementT]:
        return itertools.chain.from_iterable(self._chunks)

    def __reversed__(self) -> Iterator[ElementT]:
        return itertools.chain.from_iterable(map(reversed, reversed(self._chunks)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (ChunkedList, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(map(operator.eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"ChunkedList({list(self)!r})"


def common_ends(one: Sequence[object], other: Sequence[object]) -> tuple[int, int]:
    """How many elements are the same objects at the beginning, and how many at the end."""
    ours = one if isinstance(one, ChunkedList) else ChunkedList(one)
    theirs = other if isinstance(other, ChunkedList) else ChunkedList(other)
    limit = min(len(ours), len(theirs))
    first = ours.count_common_start(theirs, limit)
    return first, ours.count_common_end(theirs, limit - first)


def _cut(elements: tuple[ElementT, ...]) -> list[tuple[ElementT, ...]]:
    return [elements[at : at + _CHUNK] for at in range(0, len(elements), _CHUNK)]


def _count_same(one: Sequence[object], other: Sequence[object]) -> int:
    """How many elements are the same objects at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a is not b), min(len(one), len(other)))
