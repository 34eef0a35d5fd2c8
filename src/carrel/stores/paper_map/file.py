"""Writes and loads the file of a map."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import orjson

from carrel.core.errors import ConflictError
from carrel.core.process_name import process_name
from carrel.libraries.map_layout import TilePoint, cut_tiles, shuffle_ids
from carrel.rooms.papers.map_ports import PlacedPaper, StoredMap
from carrel.stores.corpus.manifest import sync_folder
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.paper_map import FORMAT, LOCK_NAME, MAP_NAME
from carrel.stores.paper_map.model_codec import decode_model, encode_model
from carrel.stores.sqlite.connection import connect, transaction
from carrel.stores.sqlite.errors import translate_full_disk
from carrel.stores.sqlite.papers import WORKSHOP_NAME

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE point (
    number INTEGER PRIMARY KEY, paper_id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, year INTEGER,
    region INTEGER NOT NULL, x REAL NOT NULL, y REAL NOT NULL
);
CREATE INDEX point_place ON point (x, y, number);
CREATE TABLE region (
    number INTEGER PRIMARY KEY, x REAL NOT NULL, y REAL NOT NULL, colour INTEGER NOT NULL,
    terms TEXT NOT NULL, papers INTEGER NOT NULL, first_year INTEGER, last_year INTEGER
);
CREATE TABLE label (x REAL NOT NULL, y REAL NOT NULL, text TEXT NOT NULL);
CREATE TABLE tile (name TEXT PRIMARY KEY, points INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE model (name TEXT PRIMARY KEY, body BLOB NOT NULL);
"""
# A byte holds the year since the first one; older papers are drawn as of the first.
_MOST_YEARS = 254


class PaperMapFile:
    """The map in the folder of a corpus, for the process that draws it."""

    def __init__(self, corpus: Path) -> None:
        self._corpus = corpus

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keeps every other process from drawing; raises ConflictError where one does."""
        workshop = self._corpus / WORKSHOP_NAME
        workshop.mkdir(mode=0o700, exist_ok=True)
        try:
            with hold_lock(workshop / LOCK_NAME):
                yield
        except LockHeldError as error:
            raise ConflictError(
                "The map is being drawn already", next_step="Wait until that is done."
            ) from error

    def load(self) -> StoredMap | None:
        """The map; None where there is none, or it cannot be read and is drawn anew."""
        path = self._corpus / MAP_NAME
        if not path.is_file():
            return None
        try:
            with closing(connect(path, "immutable")) as connection:
                return _read_map(connection)
        except (sqlite3.Error, KeyError, ValueError, TypeError):
            return None

    def save(self, drawn: StoredMap) -> None:
        """Replace the map; after a crash at any point it is the old one or the new one, whole."""
        aside = self._corpus / f".{MAP_NAME}.{process_name()}"
        try:
            with translate_full_disk(self._corpus):
                with closing(connect(aside)) as connection:
                    connection.execute("PRAGMA journal_mode = OFF")
                    with transaction(connection):
                        _write_map(connection, drawn)
                with aside.open("rb") as file:
                    os.fsync(file.fileno())
                aside.replace(self._corpus / MAP_NAME)
        except BaseException:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
            raise
        sync_folder(self._corpus)


def _read_map(connection: sqlite3.Connection) -> StoredMap | None:
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    if int(meta["format"]) != FORMAT:
        return None
    rows = connection.execute(
        "SELECT number, paper_id, title, year, region, x, y FROM point ORDER BY number"
    )
    return StoredMap(
        decode_model(dict(connection.execute("SELECT name, body FROM model"))),
        tuple(PlacedPaper(*row) for row in rows),
        int(meta["laid_out"]),
        int(meta["not_placed"]),
        meta["corpus_state"],
        meta["drawn_at"],
    )


def _write_map(connection: sqlite3.Connection, drawn: StoredMap) -> None:
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    years = [paper.year for paper in drawn.papers if paper.year is not None]
    last = max(years, default=0)
    first = max(min(years, default=0), last - _MOST_YEARS + 1)
    meta = {
        "format": FORMAT,
        "laid_out": drawn.laid_out,
        "not_placed": drawn.not_placed,
        "corpus_state": drawn.corpus_state,
        "drawn_at": drawn.drawn_at,
        "first_year": first,
        "last_year": last,
        # Tiles are kept by browsers under this name.
        "version": os.urandom(8).hex(),
    }
    connection.executemany("INSERT INTO meta VALUES (?, ?)", [(k, str(v)) for k, v in meta.items()])
    connection.executemany(
        "INSERT INTO point VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (each.number, each.paper_id, each.title, each.year, each.region, each.x, each.y)
            for each in drawn.papers
        ],
    )
    _write_regions(connection, drawn)
    connection.executemany(
        "INSERT INTO tile VALUES (?, ?, ?)",
        ((tile.name, tile.count, tile.body) for tile in cut_tiles(_tile_points(drawn, first))),
    )
    connection.executemany(
        "INSERT INTO model VALUES (?, ?)", list(encode_model(drawn.model).items())
    )


def _write_regions(connection: sqlite3.Connection, drawn: StoredMap) -> None:
    papers = Counter(each.region for each in drawn.papers)
    years: dict[int, list[int]] = {}
    for each in drawn.papers:
        if each.year is not None:
            years.setdefault(each.region, []).append(each.year)
    connection.executemany(
        "INSERT INTO region VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                region.number,
                region.x,
                region.y,
                region.colour,
                orjson.dumps(list(region.terms)).decode(),
                papers[region.number],
                min(years.get(region.number, ()), default=None),
                max(years.get(region.number, ()), default=None),
            )
            for region in drawn.model.regions.coarse
        ],
    )
    connection.executemany(
        "INSERT INTO label VALUES (?, ?, ?)",
        [(each.x, each.y, each.terms[0]) for each in drawn.model.regions.fine if each.terms],
    )


def _tile_points(drawn: StoredMap, first_year: int) -> list[TilePoint]:
    """In an order that has nothing to do with when papers came, or new ones would lie deepest."""
    by_id = {each.paper_id: each for each in drawn.papers}
    shuffled = (by_id[paper_id] for paper_id in shuffle_ids(list(by_id)))
    return [
        TilePoint(
            each.x,
            each.y,
            each.number,
            0 if each.year is None else max(1, each.year - first_year + 1),
            each.region,
        )
        for each in shuffled
    ]
