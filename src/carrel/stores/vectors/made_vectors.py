"""Vectors that were made of a corpus of segments, for an index elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from carrel.stores.vectors.passages import Embedder, PassageMap
from carrel.stores.vectors.pool import Records, open_records
from carrel.stores.vectors.segments import (
    FOLDER_NAME,
    load_map,
    pool_file,
    vectors_folder,
)


@dataclass(frozen=True, slots=True)
class SentVector:
    """A vector of length one, and the eight-bit numbers that it was kept as."""

    numbers: list[float]
    code: str


class MadeVectors:
    """The vectors of one model in a corpus folder, as they are now."""

    def __init__(self, model: str, dimensions: int, passages: PassageMap, records: Records) -> None:
        self.model = model
        self.dimensions = dimensions
        self._map = passages
        self._records = records
        self._rows = frozenset(np.unique(passages.rows).tolist())
        facts = (passages.rows.tobytes(), passages.numbers.tobytes(), passages.places.tobytes())
        self.stamp = hashlib.blake2b(b"".join(facts), digest_size=6).hexdigest()

    def has(self, row: int) -> bool:
        """Whether the passages of a row have vectors."""
        return row in self._rows

    def of_rows(self, rows: Sequence[int]) -> Mapping[int, Mapping[int, SentVector]]:
        """The vectors of these rows by row and number."""
        found: dict[int, dict[int, SentVector]] = {}
        for row in rows:
            first, last = np.searchsorted(self._map.rows, [row, row + 1]).tolist()
            codes = self._records[self._map.places[first:last]]["code"]
            for number, code in zip(self._map.numbers[first:last].tolist(), codes, strict=True):
                numbers = code.astype(np.float64)
                unit = numbers / max(float(np.linalg.norm(numbers)), 1e-12)
                kept = base64.b64encode(code.tobytes()).decode("ascii")
                found.setdefault(row, {})[number] = SentVector(unit.tolist(), kept)
        return found


class MadeVectorsFolder:
    """The vectors of a corpus folder, read again when some were made."""

    def __init__(self, corpus: Path, load_embedder: Callable[[], Embedder]) -> None:
        self._corpus = corpus
        self._load_embedder = load_embedder
        self._seen: tuple[int, MadeVectors | None] = (-1, None)

    def now(self) -> MadeVectors | None:
        """None where none were made."""
        try:
            (self._corpus / FOLDER_NAME).stat()
            embedder = self._load_embedder()
            seen = vectors_folder(self._corpus, embedder.name).stat().st_mtime_ns
        except OSError:
            return None
        if seen != self._seen[0]:
            self._seen = (seen, self._read(embedder))
        return self._seen[1]

    def _read(self, embedder: Embedder) -> MadeVectors | None:
        home = vectors_folder(self._corpus, embedder.name)
        passages = load_map(home, embedder.dimensions)
        if not len(passages.rows):
            return None
        records = open_records(pool_file(home), embedder.dimensions)
        known = passages.of_records(len(records))
        return MadeVectors(embedder.name, embedder.dimensions, known, records)
