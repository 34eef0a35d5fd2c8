"""Makes the vectors of a snapshot: once for each text, so that a run can stop anywhere and the next
one goes on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.sqlite.papers.sidecar import index_folder, read_manifest, write_manifest
from carrel.stores.sqlite.papers.snapshot import Snapshot

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
    """Vectors for every paper that has none yet; answers how many were made. The fast index must be
    there first.
    """
    source = Snapshot(snapshot)
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
    """Two files that only grow: keys of texts, and a vector for each. What was cut off half-way is
    cut off for good.
    """

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
