"""Vectors on disk: one append-only file of eight-bit vectors, each under a hash of its text.

What was made is found again by its text, whatever paper, passage or segment it belongs to now, so
that a run that was killed goes on where it stopped and a merge of segments makes nothing again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

KEY_BYTES = 16
_FLUSH_EVERY = 32
_READ_RECORDS = 65_536

Records = NDArray[Any]


def record_type(dimensions: int) -> np.dtype[Any]:
    """One vector: the hash of its text, what its numbers are multiplied by, and its numbers."""
    return np.dtype([("key", f"V{KEY_BYTES}"), ("scale", "<f4"), ("code", "i1", (dimensions,))])


def text_key(text: str) -> bytes:
    """The key of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


class VectorPool:
    """The file, open for additions; an incomplete last record is cut off."""

    def __init__(self, file: Path, dimensions: int) -> None:
        self._file = file
        self._type = record_type(dimensions)
        file.touch()
        whole = file.stat().st_size // self._type.itemsize
        os.truncate(file, whole * self._type.itemsize)
        self._places: dict[bytes, int] = {}
        for first, records in _read(file, self._type):
            keys = records["key"].tobytes()
            for at in range(len(records)):
                key = keys[at * KEY_BYTES : (at + 1) * KEY_BYTES]
                self._places[key] = first + at
        self._count = whole
        self._stream: BinaryIO | None = None

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> VectorPool:
        self._stream = self._file.open("ab")
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def place(self, key: bytes) -> int | None:
        """The number of the record of a text, or None where it has no vector yet."""
        return self._places.get(key)

    def add(self, key: bytes, vector: NDArray[np.float32]) -> int:
        """Append a vector of length one; returns the number of its record."""
        assert self._stream is not None
        scale = max(float(np.abs(vector).max()), 1e-12) / 127
        record = np.zeros(1, self._type)
        record["key"] = np.void(key)
        record["scale"] = scale
        record["code"] = np.rint(vector / scale)
        self._stream.write(record.tobytes())
        place = self._places[key] = self._count
        self._count += 1
        if self._count % _FLUSH_EVERY == 0:
            self._stream.flush()
        return place


def open_records(file: Path, dimensions: int) -> Records:
    """All whole records, mapped into memory. Raises OSError or ValueError."""
    kind = record_type(dimensions)
    count = file.stat().st_size // kind.itemsize
    if not count:
        return np.zeros(0, kind)
    return np.memmap(file, dtype=kind, mode="r", shape=(count,))


def _read(file: Path, kind: np.dtype[Any]) -> Iterator[tuple[int, Records]]:
    first = 0
    with file.open("rb") as stream:
        while body := stream.read(_READ_RECORDS * kind.itemsize):
            records = np.frombuffer(body, dtype=kind)
            yield first, records
            first += len(records)
