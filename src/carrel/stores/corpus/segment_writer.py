"""Writes segments: aside, then renamed to the hash of their content, so each is always whole."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import orjson

from carrel.core.process_name import process_name
from carrel.libraries.text.abbreviations import find_abbreviations
from carrel.rooms.papers.building.papers import PaperVersion, PublishedPaper, asset_paths
from carrel.stores.corpus.citation_keys import citation_rows
from carrel.stores.corpus.doubts import doubt_facets
from carrel.stores.corpus.manifest import SegmentEntry, segments_folder, sync_folder
from carrel.stores.corpus.passages import PaperPassage, paper_passages
from carrel.stores.corpus.records import encode_paper, pack, pack_json
from carrel.stores.corpus.schema import (
    FILES_NAME,
    FORMAT,
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
    newness,
)
from carrel.stores.corpus.segments import SegmentName, size_of, sync_tree
from carrel.stores.search.parts import has_part
from carrel.stores.sqlite.connection import connect

# A packed asset longer than this is a file of its own, which a merged segment links, not copies.
_MAX_BODY_BYTES = 1024 * 1024
ASIDE = ".part-"
_CACHE_KIB = 65_536


class AssetBytes(Protocol):
    """Texts and files by name, wherever they lie before they are in this segment."""

    def read(self, name: str) -> bytes:
        """Raises FileNotFoundError."""
        ...


class SegmentIndex(Protocol):
    """Writes the index parts of one segment."""

    def add(
        self,
        row: int,
        paper: PublishedPaper,
        passages: Sequence[PaperPassage],
        facets: Sequence[tuple[str, str]],
    ) -> None: ...

    def finish(self) -> None: ...

    def abandon(self) -> None: ...


OpenIndex = Callable[[Path], SegmentIndex]


def asset_names(each: PaperVersion) -> list[str]:
    """The names of all assets of a paper, in order."""
    return sorted({*asset_paths(each.paper.record), *each.more_assets})


class SegmentWriter:
    """Writes segments into the folder of a corpus; each is complete or not there."""

    def __init__(
        self, corpus: Path, assets: AssetBytes, open_index: OpenIndex, index_format: int
    ) -> None:
        self._folder = segments_folder(corpus)
        self._assets = assets
        self._open_index = open_index
        self._index_format = index_format

    def name(self, papers: Iterable[PaperVersion]) -> str:
        """The name that a segment of these papers has, without writing it."""
        name = SegmentName(self._index_format)
        for each in papers:
            name.add(each.row, encode_paper(each.paper), asset_names(each))
        return str(name)

    def write(self, papers: Iterable[PaperVersion]) -> SegmentEntry:
        """Write one segment, rows in ascending order, and return its entry for the manifest."""
        with make_aside(self._folder) as aside:
            draft = _Draft(aside, self._assets, self._open_index(aside), self._index_format)
            try:
                for each in papers:
                    draft.add(each)
                facts = draft.finish()
            except BaseException:
                draft.abandon()
                raise
            put_in_place(aside, self._folder / facts.name)
            return facts


@contextmanager
def make_aside(segments: Path) -> Iterator[Path]:
    """A folder to write a segment in; gone at the end, if it was not renamed."""
    segments.mkdir(parents=True, exist_ok=True)
    aside = segments / f"{ASIDE}{process_name()}-{os.urandom(4).hex()}"
    aside.mkdir()
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def put_in_place(aside: Path, target: Path) -> None:
    """Rename a finished segment; one of the same name is the same, unless its index is damaged."""
    if target.is_dir():
        if has_whole_index(target):
            return
        # Readers that have it open keep it; who opens it just now looks again.
        target.rename(aside.with_name(f"{aside.name}-damaged"))
    sync_tree(aside)
    aside.rename(target)
    sync_folder(target.parent)


def has_whole_index(folder: Path) -> bool:
    """Whether both parts of a segment's index can be read."""
    return all(has_part(folder / part) for part in (PAPERS_PART, PASSAGES_PART))


class _Draft:
    """The tables of a segment while papers come in."""

    def __init__(
        self, folder: Path, assets: AssetBytes, index: SegmentIndex, index_format: int
    ) -> None:
        self._folder = folder
        self._assets = assets
        self._index = index
        self._name = SegmentName(index_format)
        self._connection = connect(folder / RECORDS_NAME)
        # Nobody reads the draft and a broken one is thrown away: nothing is safe before the end.
        self._connection.execute("PRAGMA journal_mode=OFF")
        self._connection.execute("PRAGMA synchronous=OFF")
        self._connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        self._connection.execute("BEGIN")
        for statement in TABLES:
            self._connection.execute(statement)
        self._facets: dict[tuple[str, str], int] = {}
        self._facet_counts: Counter[int] = Counter()
        self._asset_numbers: dict[str, int] = {}
        self._abbreviations: Counter[tuple[str, str]] = Counter()
        self._years: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._first_row = 0
        self._last_row = 0
        # Sorted by hash when all are known: inserted one by one they would be all over the table.
        self._work_keys: list[tuple[int, ...]] = []
        self._reference_keys: list[tuple[int, ...]] = []

    def add(self, each: PaperVersion) -> None:
        row, paper = each.row, each.paper
        content = encode_paper(paper)
        names = asset_names(each)
        self._name.add(row, content, names)
        self._add_record(row, paper, content)
        facets = paper.facets()
        self._add_facets(row, paper, facets)
        texts: dict[str, str] = {}
        for name in names:
            self._add_asset(name, texts)
        self._add_citations(row, paper)
        links = ((row, self._asset_numbers[name]) for name in names)
        self._insert("paper_asset", 2, links)
        passages = list(paper_passages(paper.record, texts.__getitem__))
        self._insert("passage", 9, (self._passage_row(row, passage) for passage in passages))
        self._index.add(row, paper, passages, facets)
        self._abbreviations.update(_abbreviations(paper, passages))
        self._counts[META_PASSAGES] += len(passages)
        self._first_row = self._first_row or row
        self._last_row = row

    def finish(self) -> SegmentEntry:
        self._index.finish()
        self._insert(
            "facet",
            4,
            (
                (number, category, value, self._facet_counts[number])
                for (category, value), number in self._facets.items()
            ),
        )
        self._insert(
            "abbreviation",
            3,
            ((short, long, count) for (short, long), count in sorted(self._abbreviations.items())),
        )
        self._insert("work_key", 5, sorted(self._work_keys))
        self._insert("reference_key", 6, sorted(self._reference_keys))
        for statement in INDEXES:
            self._connection.execute(statement)
        self._insert("segment_meta", 2, self._meta().items())
        self._connection.execute("COMMIT")
        self._connection.close()
        return SegmentEntry(
            str(self._name),
            self._counts[META_PAPERS],
            self._counts[META_PASSAGES],
            size_of(self._folder),
            self._first_row,
            self._last_row,
        )

    def abandon(self) -> None:
        self._connection.close()
        self._index.abandon()

    def _meta(self) -> dict[str, str]:
        names = (
            META_PAPERS,
            META_PASSAGES,
            META_WITH_DOI,
            META_WITH_SOURCE,
            META_WITH_BIBTEX,
            META_WITH_TRANSLATION,
        )
        return {
            META_FORMAT: str(FORMAT),
            **{name: str(self._counts[name]) for name in names},
            META_YEARS: orjson.dumps(dict(sorted(self._years.items()))).decode(),
        }

    def _add_record(self, row: int, paper: PublishedPaper, content: bytes) -> None:
        record = paper.record
        year = int(paper.year) if paper.year.isdecimal() else 0
        self._insert(
            "paper",
            5,
            [(row, paper.paper_id, year, newness(year, paper.paper_index), pack_json(content))],
        )
        self._insert("paper_key", 3, ((key.value, row, key.kind_name) for key in paper.keys))
        self._years[paper.year] += 1
        self._counts[META_PAPERS] += 1
        self._counts[META_WITH_DOI] += bool(record.doi)
        self._counts[META_WITH_SOURCE] += bool(record.markdown_sha256)
        self._counts[META_WITH_BIBTEX] += bool(record.bibtex)
        self._counts[META_WITH_TRANSLATION] += bool(record.translations)

    def _add_facets(
        self, row: int, paper: PublishedPaper, facets: Sequence[tuple[str, str]]
    ) -> None:
        numbers = []
        for facet in (*facets, *doubt_facets(paper)):
            number = self._facets.setdefault(facet, len(self._facets) + 1)
            self._facet_counts[number] += 1
            numbers.append((number, row))
        self._insert("paper_facet", 2, numbers)

    def _add_citations(self, row: int, paper: PublishedPaper) -> None:
        found = citation_rows(paper, self._assets.read)
        self._work_keys += [(each.hash, row, *each[1:]) for each in found.works]
        self._reference_keys += [(each.hash, row, *each[1:]) for each in found.references]
        if found.entries is not None:
            self._insert("reference_list", 2, [(row, found.entries)])

    def _add_asset(self, name: str, texts: dict[str, str]) -> None:
        content = self._assets.read(name)
        if name.endswith(".md"):
            texts[name] = content.decode("utf-8", "replace")
        if name in self._asset_numbers:
            return
        number = self._asset_numbers[name] = len(self._asset_numbers) + 1
        body: bytes | None = pack(content)
        if body is not None and len(body) > _MAX_BODY_BYTES:
            target = self._folder / FILES_NAME / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            body = None
        self._insert("asset", 4, [(number, name, len(content), body)])

    def _passage_row(self, row: int, each: PaperPassage) -> tuple[object, ...]:
        passage = each.passage
        asset = self._asset_numbers[each.asset] if each.asset else 0
        place = (passage.kind, passage.page, passage.start, passage.end, asset)
        return (row, each.number, each.mark, passage.section, *place)

    def _insert(self, table: str, columns: int, rows: Iterable[Sequence[object]]) -> None:
        self._connection.executemany(
            f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows
        )


def _abbreviations(
    paper: PublishedPaper, passages: Sequence[PaperPassage]
) -> frozenset[tuple[str, str]]:
    """Short and long forms that a paper defines, each once."""
    texts = (paper.record.title, paper.record.abstract or "", *(each.text for each in passages))
    return frozenset(pair for text in texts for pair in find_abbreviations(text))
