"""Words and meaning together: the scores of the fast index and of the vectors, added up.

Exact search is never given up: what was named stays first, what must hold still holds, and a
question of quotes, operators
or fields alone is answered by words alone.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from carrel.core.error_description import describe_error
from carrel.libraries.query.papers import PaperQuery
from carrel.libraries.text.snippets import Stem
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.rows import Shown
from carrel.stores.sqlite.papers.sidecar import index_folder, read_manifest, write_manifest
from carrel.stores.tantivy.papers.index import TantivyRanking, open_paper_index
from carrel.stores.vectors.papers.embed import Embedder, vector_file

log = logging.getLogger("carrel.cache")

_WINDOW = 200
# Up to here every vector is compared; beyond it only those of the papers that the words have found.
_MAX_COMPARED = 150_000


def open_semantic_index(
    snapshot: Path, build_id: str, embedder: Callable[[], Embedder]
) -> SemanticRanking | TantivyRanking | None:
    """The index beside a snapshot, with its vectors where they have been made for just this
    snapshot.
    """
    words = open_paper_index(snapshot, build_id)
    manifest = read_manifest(snapshot)
    if words is None or manifest is None or not manifest.vectors:
        return words
    home = index_folder(snapshot)
    model = embedder()
    if model.name != manifest.vectors:
        return words
    try:
        vectors = PaperVectors(
            vector_file(home, model.name), home / manifest.vector_rows, model.dimensions
        )
    except (OSError, ValueError, EOFError) as error:
        # Words alone answer until `carrel papers index --meaning` has made the vectors again.
        log.warning(
            "paper vectors are damaged",
            extra={"file": manifest.vector_rows, "cause": describe_error(error)},
        )
        with suppress(OSError):
            write_manifest(snapshot, replace(manifest, vectors="", vector_rows=""))
        return words
    return SemanticRanking(words, vectors, model)


class PaperVectors:
    """The vectors of one snapshot, mapped into memory. A paper is known by its row in the full-text
    table.
    """

    def __init__(self, file: Path, rows_file: Path, dimensions: int) -> None:
        self._rows: NDArray[np.int64] = np.load(rows_file)
        shape = (len(self._rows), dimensions)
        self._vectors = (
            np.memmap(file, dtype=np.float32, mode="r", shape=shape)
            if len(self._rows)
            else np.zeros(shape, np.float32)
        )
        self._order = np.argsort(self._rows)
        self._ordered_rows = self._rows[self._order]

    def __len__(self) -> int:
        return len(self._rows)

    def nearest(self, vector: NDArray[np.float32], count: int) -> list[int]:
        """Rows of the papers nearest to a vector, found by comparing all."""
        near = self._vectors @ vector
        near[self._rows < 0] = -2.0
        places = (
            np.argpartition(-near, count)[:count] if count < len(near) else np.arange(len(near))
        )
        return [int(row) for row in self._rows[places] if row >= 0]

    def nearness(self, vector: NDArray[np.float32], wanted: Sequence[int]) -> NDArray[np.float32]:
        """How near each of these rows is; 0 for one that has no vector."""
        near = np.zeros(len(wanted), dtype=np.float32)
        if len(self) == 0:
            return near
        numbers = np.asarray(wanted, dtype=np.int64)
        found = np.minimum(np.searchsorted(self._ordered_rows, numbers), len(self) - 1)
        is_there = self._ordered_rows[found] == numbers
        near[is_there] = self._vectors[self._order[found[is_there]]] @ vector
        return near


class SemanticRanking:
    """The papers that words find, and those that mean the like, in one order."""

    name = "fast index of words, and vectors of meaning"

    def __init__(self, words: TantivyRanking, vectors: PaperVectors, embedder: Embedder) -> None:
        self._words = words
        self._vectors = vectors
        self._vector = lru_cache(maxsize=256)(embedder.vector)

    @property
    def stem(self) -> Stem | None:
        return self._words.stem

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[Shown]:
        if not query.loose or query.identifiers or any(phrase.is_prefix for phrase in query.loose):
            return self._words.search(connection, query, first, count)
        named = self._words.named(connection, query)
        page = named[first : first + count]
        known = {paper.row for paper in named}
        fused = [row for row in self._fused(connection, query) if row not in known]
        skip = max(0, first - len(named))
        wanted = count - len(page)
        chosen = fused[skip : skip + wanted]
        if len(chosen) < wanted:
            # Past the fused ones, the words alone go on.
            seen = known | set(fused)
            rest = [
                row
                for row in self._words.rows(connection, query, 0, first + count + len(seen))
                if row not in seen
            ]
            at = max(0, skip - len(fused))
            chosen += rest[at : at + wanted - len(chosen)]
        return page + rows.shown_by_row(connection, chosen)

    def _fused(self, connection: sqlite3.Connection, query: PaperQuery) -> list[int]:
        """Each score as a part of its best one, added up. A paper that only its meaning has found
        counts as the last by words.
        """
        by_words = dict(self._words.scored_rows(connection, query, 0, _WINDOW))
        vector = self._vector(query.text)
        found = list(by_words)
        if query.strict is None and len(self._vectors) <= _MAX_COMPARED:
            found += [row for row in self._vectors.nearest(vector, _WINDOW) if row not in by_words]
        if not found:
            return []
        last = min(by_words.values(), default=0.0)
        words = np.array([by_words.get(row, last) for row in found])
        meaning = self._vectors.nearness(vector, found)
        scores = words / (words.max() or 1.0) + meaning / max(float(meaning.max()), 1e-6)
        return [found[at] for at in np.argsort(-scores, kind="stable")]
