"""Passages by nearness of meaning: signs of all vectors first, eight-bit numbers of the nearest."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from carrel.stores.vectors.pool import Records, VectorPool, text_key

# The nearest by their signs whose numbers are compared; a guess, which a test on made-up vectors
# holds to 19 of the 20 nearest.
SIGNS_KEPT = 1_000
# Texts that wait for their vectors at once; the longer the list, the fewer cores wait at its end.
_TEXTS_AT_ONCE = 512
_REPORT_EVERY = 100
_WORD_BITS = 64

ReportPapers = Callable[[int, int], None]


class Embedder(Protocol):
    """A model that turns texts into vectors of length one."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def vector(self, text: str) -> NDArray[np.float32]:
        """The vector of a question."""
        ...

    def vectors(self, texts: Sequence[str]) -> Iterable[NDArray[np.float32]]:
        """The vectors of passages, in their order, on all cores."""
        ...


class PassageText(NamedTuple):
    """A passage to embed, by the row of its paper and its number in the index."""

    row: int
    number: int
    text: str


class NearPassage(NamedTuple):
    """A passage and its nearness, the cosine of the angle."""

    row: int
    number: int
    score: float


@dataclass(frozen=True, slots=True)
class PassageMap:
    """Which record belongs to which passage, in the order of rows, with the signs of each."""

    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]
    places: NDArray[np.int64]
    signs: NDArray[np.uint64]

    @classmethod
    def empty(cls, dimensions: int) -> PassageMap:
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, nothing, np.zeros((0, _words(dimensions)), np.uint64))

    def join(self, other: PassageMap) -> PassageMap:
        """Both maps as one."""
        rows = np.concatenate([self.rows, other.rows])
        order = np.argsort(rows, kind="stable")
        return PassageMap(
            rows[order],
            np.concatenate([self.numbers, other.numbers])[order],
            np.concatenate([self.places, other.places])[order],
            np.concatenate([self.signs, other.signs])[order],
        )

    def of_rows(self, rows: NDArray[np.int64]) -> PassageMap:
        """The map of these rows alone."""
        return self._only(np.isin(self.rows, rows))

    def of_records(self, count: int) -> PassageMap:
        """The map without passages whose vectors are not among the first `count`."""
        return self._only(self.places < count)

    def _only(self, kept: NDArray[np.bool_]) -> PassageMap:
        if kept.all():
            return self
        return PassageMap(self.rows[kept], self.numbers[kept], self.places[kept], self.signs[kept])

    def save(self, file: Path) -> None:
        """Replace the file at once."""
        part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        try:
            with part.open("wb") as stream:
                np.savez(
                    stream,
                    rows=self.rows,
                    numbers=self.numbers,
                    places=self.places,
                    signs=self.signs,
                )
            os.replace(part, file)  # noqa: PTH105 - the same call on every system
        finally:
            part.unlink(missing_ok=True)

    @classmethod
    def load(cls, file: Path) -> PassageMap:
        """Raises OSError, ValueError or EOFError for a damaged file."""
        with np.load(file) as found:
            return cls(found["rows"], found["numbers"], found["places"], found["signs"])


def embed_passages(
    passages: Iterable[PassageText], pool: VectorPool, embedder: Embedder
) -> Iterator[tuple[PassageText, int, bool]]:
    """Each passage with the number of its record, and whether that was made now."""
    waiting = iter(passages)
    while batch := list(islice(waiting, _TEXTS_AT_ONCE)):
        keys = [text_key(passage.text) for passage in batch]
        new = {
            key: passage.text
            for key, passage in zip(keys, batch, strict=True)
            if pool.place(key) is None
        }
        for key, vector in zip(new, embedder.vectors(list(new.values())), strict=True):
            pool.add(key, vector)
        for key, passage in zip(keys, batch, strict=True):
            place = pool.place(key)
            assert place is not None
            yield passage, place, new.pop(key, None) is not None


def map_passages(found: Sequence[tuple[int, int, int]], records: Records) -> PassageMap:
    """The map of passages given by row, number and record."""
    table = np.array(sorted(found), dtype=np.int64).reshape(-1, 3)
    codes = records["code"]
    signs = np.zeros((len(table), _words(codes.shape[1])), np.uint64)
    for first in range(0, len(table), _TEXTS_AT_ONCE):
        part = table[first : first + _TEXTS_AT_ONCE, 2]
        signs[first : first + len(part)] = pack_signs(codes[part])
    return PassageMap(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy(), signs)


def pack_signs(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """One bit for each number: whether it is above zero."""
    bits = np.packbits(numbers > 0, axis=1)
    words = _words(numbers.shape[1])
    padded = np.zeros((len(bits), words * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64)


def _words(dimensions: int) -> int:
    return -(-dimensions // _WORD_BITS)


class PassageVectors:
    """The vectors of a corpus or snapshot. Many threads may use it at once."""

    def __init__(self, records: Records, passages: PassageMap) -> None:
        if len(passages.places) and int(passages.places.max()) >= len(records):
            raise ValueError("passages name vectors that are not there")
        self._records = records
        self._map = passages
        # Word by word of all passages, as they are compared.
        self._signs = np.ascontiguousarray(passages.signs.T)

    def __len__(self) -> int:
        return len(self._map.rows)

    def best_by_row(
        self, vector: NDArray[np.float32], count: int, rows: Sequence[int]
    ) -> list[NearPassage]:
        """The nearest passage of each of these rows and of the nearest papers, best first."""
        if not len(self):
            return []
        distances = self._distances(vector)
        chosen = (self._nearest_of(rows, distances), _smallest(distances, max(count, SIGNS_KEPT)))
        return self._compare(np.unique(np.concatenate(chosen)), vector)

    def best_of_rows(self, vector: NDArray[np.float32], rows: Sequence[int]) -> list[NearPassage]:
        """The nearest passage of each of these rows alone, best first."""
        stretches = [np.arange(first, last) for first, last in self._stretches(rows)]
        return self._compare(np.concatenate([np.zeros(0, np.int64), *stretches]), vector)

    def vector_of(self, row: int, near: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """The vector of that passage of a row which is nearest to another vector."""
        stretches = self._stretches([row])
        if not stretches:
            return None
        records = self._records[self._map.places[slice(*stretches[0])]]
        numbers = records["code"].astype(np.float32) * records["scale"][:, None]
        best: NDArray[np.float32] = numbers[int((numbers @ near).argmax())]
        return best

    def nearest(
        self, vector: NDArray[np.float32], count: int, rows: Sequence[int] | None = None
    ) -> list[NearPassage]:
        """The `count` nearest passages, of these rows or of all, best first."""
        if not len(self):
            return []
        distances = self._distances(vector)
        if rows is not None:
            outside = ~np.isin(self._map.rows, np.asarray(rows, np.int64))
            distances[outside] = np.iinfo(distances.dtype).max
        chosen = _smallest(distances, max(count, SIGNS_KEPT))
        if rows is not None:
            chosen = chosen[~outside[chosen]]
        return self._compare(chosen, vector, by_row=False)[:count]

    def _distances(self, vector: NDArray[np.float32]) -> NDArray[np.uint16]:
        """In how many signs each vector differs."""
        total = np.zeros(len(self), np.uint16)
        for signs, asked in zip(self._signs, pack_signs(vector[None])[0], strict=True):
            total += np.bitwise_count(signs ^ asked)
        return total

    def _nearest_of(self, rows: Sequence[int], distances: NDArray[np.uint16]) -> NDArray[np.int64]:
        found = [
            first + int(distances[first:last].argmin()) for first, last in self._stretches(rows)
        ]
        return np.asarray(found, dtype=np.int64)

    def _stretches(self, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Where the passages of each row begin and end, of rows that have some."""
        wanted = np.asarray(rows, dtype=np.int64)
        first = np.searchsorted(self._map.rows, wanted, side="left")
        last = np.searchsorted(self._map.rows, wanted, side="right")
        both = zip(first.tolist(), last.tolist(), strict=True)
        return [(begin, end) for begin, end in both if begin < end]

    def _compare(
        self, chosen: NDArray[np.int64], vector: NDArray[np.float32], *, by_row: bool = True
    ) -> list[NearPassage]:
        records = self._records[self._map.places[chosen]]
        scores = (records["code"].astype(np.float32) @ vector) * records["scale"]
        order = np.argsort(-scores, kind="stable")
        rows = self._map.rows[chosen][order].tolist()
        numbers = self._map.numbers[chosen][order].tolist()
        ranked = map(NearPassage, rows, numbers, scores[order].tolist())
        if not by_row:
            return list(ranked)
        best: dict[int, NearPassage] = {}
        for passage in ranked:
            best.setdefault(passage.row, passage)
        return list(best.values())


def _smallest(distances: NDArray[np.uint16], count: int) -> NDArray[np.int64]:
    if count >= len(distances):
        return np.arange(len(distances))
    return np.argpartition(distances, count)[:count]
