"""Sentence vectors of papers beside the word index, and search by both."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from carrel.core.errors import describe_error
from carrel.libraries.query.papers import PaperQuery
from carrel.libraries.text.snippets import Stem
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.search.ranking import RankedPaper
from carrel.stores.search.snapshot_index import SnapshotRanking, list_papers, open_paper_index
from carrel.stores.sqlite.papers.index_manifest import index_folder, read_manifest, write_manifest
from carrel.stores.sqlite.papers.rows import ListedPaper
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot

KEY_BYTES = 16
_FLUSH_EVERY = 32
_TEXT_CHARACTERS = 4_000

ReportPapers = Callable[[int, int], None]


class Embedder(Protocol):
    """A model that turns a text into a vector of length one."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def vector(self, text: str) -> NDArray[np.float32]: ...


def embed_papers(snapshot: Path, embedder: Embedder, *, report: ReportPapers | None = None) -> int:
    """Makes vectors for papers that have none and returns how many; needs the word index."""
    source = PaperSnapshot(snapshot)
    try:
        generation = source.current()
        manifest = read_manifest(source.path)
        if manifest is None or manifest.snapshot_build_id != generation.build_id:
            raise SnapshotUnavailableError("its fast index is missing or older than the snapshot")
        home = index_folder(source.path)
        kept = KeptVectors(home, embedder.name, embedder.dimensions)
        made = 0
        rows: dict[int, int] = {}
        with generation.connection() as connection, kept:
            total = int(connection.execute("SELECT count(*) FROM paper_fts").fetchone()[0])
            texts: Iterator[tuple[int, str, str]] = connection.execute(
                "SELECT rowid, title, summary FROM paper_fts ORDER BY rowid"
            )
            for done, (row, title, summary) in enumerate(texts, 1):
                text = f"{title}. {summary}"[:_TEXT_CHARACTERS]
                key = hashlib.sha256(text.encode()).digest()[:KEY_BYTES]
                place = kept.place(key)
                if place is None:
                    place = kept.add(key, embedder.vector(text))
                    made += 1
                rows[place] = row
                if report is not None and done % _FLUSH_EVERY == 0:
                    report(done, total)
            if report is not None:
                report(total, total)
        name = f"rows-{generation.build_id[:12] or 'none'}-{embedder.name}.npy"
        _write_rows(home / name, rows, len(kept))
        write_manifest(source.path, replace(manifest, vectors=embedder.name, vector_rows=name))
        for old in home.glob("rows-*.npy"):
            if old.name != name:
                old.unlink(missing_ok=True)
        return made
    finally:
        source.close()


def vector_file(home: Path, name: str) -> Path:
    return home / f"vectors-{name}.f32"


class KeptVectors:
    """Append-only files of keys and vectors; an incomplete last record is cut off."""

    def __init__(self, home: Path, name: str, dimensions: int) -> None:
        self._keys_path, self._vectors_path = home / f"vectors-{name}.keys", vector_file(home, name)
        for path in (self._keys_path, self._vectors_path):
            path.touch()
        whole = min(
            self._keys_path.stat().st_size // KEY_BYTES,
            self._vectors_path.stat().st_size // (4 * dimensions),
        )
        os.truncate(self._keys_path, whole * KEY_BYTES)
        os.truncate(self._vectors_path, whole * 4 * dimensions)
        keys = self._keys_path.read_bytes()
        self._places = {
            keys[at : at + KEY_BYTES]: at // KEY_BYTES for at in range(0, len(keys), KEY_BYTES)
        }
        self._count = whole

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> KeptVectors:
        self._keys, self._vectors = self._keys_path.open("ab"), self._vectors_path.open("ab")
        return self

    def __exit__(self, *_: object) -> None:
        self._vectors.close()
        self._keys.close()

    def place(self, key: bytes) -> int | None:
        return self._places.get(key)

    def add(self, key: bytes, vector: NDArray[np.float32]) -> int:
        place = self._places[key] = self._count
        self._count += 1
        self._vectors.write(np.ascontiguousarray(vector, dtype=np.float32).tobytes())
        self._keys.write(key)
        if self._count % _FLUSH_EVERY == 0:
            self._vectors.flush()
            self._keys.flush()
        return place


def _write_rows(path: Path, rows: dict[int, int], count: int) -> None:
    """For every vector the row of its paper, or -1 where the paper has left."""
    numbers = np.full(count, -1, dtype=np.int64)
    for place, row in rows.items():
        numbers[place] = row
    part = path.with_suffix(".part.npy")
    np.save(part, numbers)
    part.replace(path)


log = logging.getLogger("carrel.cache")

_WINDOW = 200
# Up to here every vector is compared; beyond it only those of the papers that the words have found.
_MAX_COMPARED = 150_000


def open_semantic_index(
    snapshot: Path, build_id: str, embedder: Callable[[], Embedder]
) -> SemanticRanking | SnapshotRanking | None:
    """The index beside a snapshot, with vectors where they were made for this snapshot."""
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
    """The vectors of one snapshot, mapped into memory, by row of the full-text table."""

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
    """Hybrid ranking: word matches and semantic neighbours in one order."""

    name = "fast index of words, and vectors of meaning"

    def __init__(self, words: SnapshotRanking, vectors: PaperVectors, embedder: Embedder) -> None:
        self._words = words
        self._vectors = vectors
        self._vector = lru_cache(maxsize=256)(embedder.vector)

    @property
    def stem(self) -> Stem | None:
        return self._words.stem

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[ListedPaper]:
        if not query.loose or query.identifiers or any(phrase.is_prefix for phrase in query.loose):
            return self._words.search(connection, query, first, count)
        named = self._words.find_named(connection, query)
        page = named[first : first + count]
        known = {paper.row for paper in named}
        by_words = self._words.scored_papers(query, _WINDOW)
        fused = [paper for paper in self._fused(query, by_words) if paper.row not in known]
        skip = max(0, first - len(named))
        wanted = count - len(page)
        chosen = fused[skip : skip + wanted]
        if len(chosen) < wanted:
            # Past the fused ones, the words alone go on.
            seen = known | {paper.row for paper in fused}
            ranked = self._words.scored_papers(query, first + count + len(seen))
            rest = [paper for paper in ranked if paper.row not in seen]
            at = max(0, skip - len(fused))
            chosen += rest[at : at + wanted - len(chosen)]
        return page + list_papers(connection, chosen)

    def _fused(self, query: PaperQuery, by_words: Sequence[RankedPaper]) -> list[RankedPaper]:
        """Sum of scores, each divided by its maximum; without a word match the lowest counts."""
        vector = self._vector(query.text)
        found = list(by_words)
        if query.strict is None and len(self._vectors) <= _MAX_COMPARED:
            last = min((paper.score for paper in by_words), default=0.0)
            known = {paper.row for paper in by_words}
            near = self._vectors.nearest(vector, _WINDOW)
            found += [RankedPaper(row, last) for row in near if row not in known]
        if not found:
            return []
        words = np.array([paper.score for paper in found])
        meaning = self._vectors.nearness(vector, [paper.row for paper in found])
        scores = words / (words.max() or 1.0) + meaning / max(float(meaning.max()), 1e-6)
        return [found[at] for at in np.argsort(-scores, kind="stable")]
