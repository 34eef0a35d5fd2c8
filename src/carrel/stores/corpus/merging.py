"""Merges neighbouring segments into one without their deleted rows, copying what is packed."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import orjson

from carrel.stores.corpus.citation_keys import citation_rows
from carrel.stores.corpus.manifest import SegmentEntry, segment_folder, segments_folder
from carrel.stores.corpus.records import StoredPaper, read_stored, unpack_json
from carrel.stores.corpus.schema import (
    CITATION_TABLES,
    FILES_NAME,
    FORMAT,
    FORMAT_WITH_CITATIONS,
    INDEXES,
    META_FORMAT,
    META_PAPERS,
    META_PASSAGES,
    META_WITH_BIBTEX,
    META_WITH_DOI,
    META_WITH_SOURCE,
    META_WITH_TRANSLATION,
    META_YEARS,
    PAPERS_PART,
    PASSAGES_PART,
    RECORDS_NAME,
    TABLES,
)
from carrel.stores.corpus.segment_writer import make_aside, put_in_place
from carrel.stores.corpus.segments import SegmentName, open_segment, read_asset, size_of
from carrel.stores.search.merging import can_merge, merge_parts
from carrel.stores.sqlite.connection import connect

_PARTS = (PAPERS_PART, PASSAGES_PART)
_LIVE = "row NOT IN (SELECT row FROM temp.dead)"
_SUMMED = (
    META_PASSAGES,
    META_WITH_DOI,
    META_WITH_SOURCE,
    META_WITH_BIBTEX,
    META_WITH_TRANSLATION,
)


def can_merge_segments(corpus: Path, entries: Sequence[SegmentEntry]) -> bool:
    """Whether these segments can be merged without analysing their texts again."""
    folders = [segment_folder(corpus, entry.name) for entry in entries]
    return all(can_merge([folder / part for folder in folders]) for part in _PARTS)


def merge_segments(
    corpus: Path, entries: Sequence[SegmentEntry], index_format: int
) -> SegmentEntry:
    """Write one segment of the live rows of these, which follow each other; they stay on disk."""
    dead = list(chain.from_iterable(entry.deleted for entry in entries))
    folders = [segment_folder(corpus, entry.name) for entry in entries]
    with make_aside(segments_folder(corpus)) as aside:
        for part in _PARTS:
            merge_parts([folder / part for folder in folders], aside / part, dead)
        merge = _RecordsMerge(aside, dead, index_format)
        with closing(merge.connection):
            for folder in folders:
                merge.add(folder)
            name, papers, passages = merge.finish()
        live = [entry for entry in entries if entry.live_papers]
        merged = SegmentEntry(
            name, papers, passages, size_of(aside), live[0].first_row, live[-1].last_row
        )
        put_in_place(aside, segment_folder(corpus, name))
        return merged


class _RecordsMerge:
    """The tables of the merged segment while the others are copied into it."""

    def __init__(self, aside: Path, dead: Sequence[int], index_format: int) -> None:
        self._aside = aside
        self._name = SegmentName(index_format)
        self.connection = connect(aside / RECORDS_NAME)
        self.connection.execute("PRAGMA journal_mode=OFF")
        self.connection.execute("PRAGMA synchronous=OFF")
        for statement in TABLES:
            self.connection.execute(statement)
        self.connection.execute("CREATE TEMP TABLE dead (row INTEGER PRIMARY KEY)")
        self.connection.execute("CREATE TEMP TABLE asset_map (old INTEGER PRIMARY KEY, new)")
        self._dead = frozenset(dead)
        self.connection.executemany("INSERT INTO temp.dead VALUES (?)", ((row,) for row in dead))
        self._facets: dict[tuple[str, str], int] = {}
        self._facet_counts: Counter[int] = Counter()
        self._assets: dict[str, int] = {}
        self._abbreviations: Counter[tuple[str, str]] = Counter()
        self._counts: Counter[str] = Counter()
        self._years: Counter[str] = Counter()

    def add(self, folder: Path) -> None:
        records = f"{(folder / RECORDS_NAME).absolute().as_uri()}?mode=ro&immutable=1"
        self.connection.execute("ATTACH ? AS old", (records,))
        self.connection.execute("BEGIN")
        try:
            self._copy_assets(folder)
            self._name_rows()
            for table in ("paper", "paper_key"):
                self.connection.execute(
                    f"INSERT OR IGNORE INTO main.{table} SELECT * FROM old.{table} WHERE {_LIVE}"
                )
            self._copy_facets()
            self._copy_citations(folder)
            self.connection.execute(
                "INSERT INTO main.passage SELECT row, number, id, section, kind, page, start, "
                '"end", coalesce(new, 0) FROM old.passage LEFT JOIN temp.asset_map '
                f"ON old.passage.asset = asset_map.old WHERE {_LIVE}"
            )
            for short, long, papers in self.connection.execute("SELECT * FROM old.abbreviation"):
                self._abbreviations[short, long] += papers
            self._count()
        finally:
            self.connection.execute("COMMIT")
            self.connection.execute("DETACH old")

    def finish(self) -> tuple[str, int, int]:
        """The name, and how many papers and passages there are."""
        self.connection.execute("BEGIN")
        self.connection.executemany(
            "INSERT INTO facet VALUES (?, ?, ?, ?)",
            (
                (number, category, value, self._facet_counts[number])
                for (category, value), number in self._facets.items()
            ),
        )
        self.connection.executemany(
            "INSERT INTO abbreviation VALUES (?, ?, ?)",
            ((short, long, count) for (short, long), count in sorted(self._abbreviations.items())),
        )
        for statement in INDEXES:
            self.connection.execute(statement)
        papers, passages = self._counts[META_PAPERS], self._counts[META_PASSAGES]
        meta = {
            META_FORMAT: str(FORMAT),
            **{name: str(self._counts[name]) for name in (META_PAPERS, *_SUMMED)},
            META_YEARS: orjson.dumps(
                {year: count for year, count in sorted(self._years.items()) if count}
            ).decode(),
        }
        self.connection.executemany("INSERT INTO segment_meta VALUES (?, ?)", meta.items())
        self.connection.execute("COMMIT")
        return str(self._name), papers, passages

    def _copy_assets(self, folder: Path) -> None:
        self.connection.execute("DELETE FROM temp.asset_map")
        live = self.connection.execute(
            "SELECT number, name FROM old.asset WHERE number IN "
            f"(SELECT asset FROM old.paper_asset WHERE {_LIVE}) ORDER BY number"
        ).fetchall()
        for old, name in live:
            new = self._assets.get(name)
            if new is None:
                new = self._assets[name] = len(self._assets) + 1
                self.connection.execute(
                    "INSERT INTO main.asset SELECT ?, name, size, body FROM old.asset "
                    "WHERE number = ?",
                    (new, old),
                )
                _link_file(folder / FILES_NAME / name, self._aside / FILES_NAME / name)
            self.connection.execute("INSERT INTO temp.asset_map VALUES (?, ?)", (old, new))
        self.connection.execute(
            "INSERT INTO main.paper_asset SELECT row, new FROM old.paper_asset JOIN "
            f"temp.asset_map ON old.paper_asset.asset = asset_map.old WHERE {_LIVE}"
        )

    def _name_rows(self) -> None:
        names: dict[int, list[str]] = {}
        for row, name in self.connection.execute(
            "SELECT row, name FROM old.paper_asset JOIN old.asset ON number = asset"
        ):
            names.setdefault(row, []).append(name)
        found = self.connection.execute(
            f"SELECT row, record FROM old.paper WHERE {_LIVE} ORDER BY row"
        )
        for row, record in found:
            self._name.add(row, unpack_json(record), sorted(names.get(row, ())))
            self._counts[META_PAPERS] += 1

    def _copy_citations(self, folder: Path) -> None:
        meta = dict(self.connection.execute("SELECT name, value FROM old.segment_meta"))
        if int(meta[META_FORMAT]) >= FORMAT_WITH_CITATIONS:
            for table in CITATION_TABLES:
                self.connection.execute(
                    f"INSERT INTO main.{table} SELECT * FROM old.{table} WHERE {_LIVE}"
                )
            return
        # Written by an earlier version, which had no such tables.
        with closing(open_segment(folder)) as connection:

            def read(name: str) -> bytes:
                content = read_asset(folder, connection, name)
                if content is None:
                    raise FileNotFoundError(name)
                return content

            for row, record in connection.execute("SELECT row, record FROM paper").fetchall():
                if row not in self._dead:
                    self._add_citations(row, read_stored(record), read)

    def _add_citations(self, row: int, paper: StoredPaper, read: Callable[[str], bytes]) -> None:
        found = citation_rows(paper, read)
        self.connection.executemany(
            "INSERT INTO main.work_key VALUES (?, ?, ?, ?, ?)",
            ((each.hash, row, *each[1:]) for each in found.works),
        )
        self.connection.executemany(
            "INSERT INTO main.reference_key VALUES (?, ?, ?, ?, ?, ?)",
            ((each.hash, row, *each[1:]) for each in found.references),
        )
        if found.entries is not None:
            self.connection.execute(
                "INSERT INTO main.reference_list VALUES (?, ?)", (row, found.entries)
            )

    def _copy_facets(self) -> None:
        numbers: dict[int, int] = {}
        for old, category, value in self.connection.execute(
            "SELECT number, category, value FROM old.facet WHERE number IN "
            f"(SELECT facet FROM old.paper_facet WHERE {_LIVE}) ORDER BY number"
        ):
            numbers[old] = self._facets.setdefault((category, value), len(self._facets) + 1)
        links = [
            (numbers[facet], row)
            for facet, row in self.connection.execute(
                f"SELECT facet, row FROM old.paper_facet WHERE {_LIVE}"
            )
        ]
        self._facet_counts.update(number for number, _ in links)
        self.connection.executemany("INSERT INTO main.paper_facet VALUES (?, ?)", links)

    def _count(self) -> None:
        meta = dict(self.connection.execute("SELECT name, value FROM old.segment_meta"))
        for name in _SUMMED:
            self._counts[name] += int(meta[name])
        self._years.update(orjson.loads(meta[META_YEARS]))
        gone = self.connection.execute(
            f"SELECT record, (SELECT count(*) FROM old.passage WHERE row = paper.row) "
            f"FROM old.paper WHERE NOT ({_LIVE})"
        )
        for body, passages in gone:
            self._uncount(body, passages)

    def _uncount(self, body: bytes, passages: int) -> None:
        paper = read_stored(body)
        self._years[paper.year] -= 1
        self._counts[META_PASSAGES] -= passages
        self._counts[META_WITH_DOI] -= bool(paper.record.doi)
        self._counts[META_WITH_SOURCE] -= bool(paper.record.markdown_sha256)
        self._counts[META_WITH_BIBTEX] -= bool(paper.record.bibtex)
        self._counts[META_WITH_TRANSLATION] -= bool(paper.record.translations)


def _link_file(source: Path, target: Path) -> None:
    """Link an asset that is a file of its own, or copy it where links cannot be made."""
    if not source.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
